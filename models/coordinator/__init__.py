"""The coordinator's side of checkpoints.

* `CheckpointCoordinator` takes events and answers with effects (`events.py`).
* `RequestDecider`, `FailureCounter` and `BufferDebloater` are parts that stand alone.
* `EndOfDataListener` asks for the final checkpoint. `after_failure` says what a stop changes.
* `plan.py` says which tasks a checkpoint triggers once some have finished.
"""

from ckptsim.models.coordinator.coordinator import CheckpointCoordinator
from ckptsim.models.coordinator.debloater import BufferDebloater, DebloatParameters
from ckptsim.models.coordinator.failures import (
    COUNTED_REASONS,
    FailureCounter,
    Recovery,
    after_failure,
)
from ckptsim.models.coordinator.parameters import CoordinatorParameters
from ckptsim.models.coordinator.requests import EndOfDataListener, Request, RequestDecider

__all__ = [
    "COUNTED_REASONS",
    "BufferDebloater",
    "CheckpointCoordinator",
    "CoordinatorParameters",
    "DebloatParameters",
    "EndOfDataListener",
    "FailureCounter",
    "Recovery",
    "Request",
    "RequestDecider",
    "after_failure",
]
