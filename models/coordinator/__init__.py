"""The coordinator's side of checkpoints.

* `CheckpointCoordinator` takes events and answers with effects (`events.py`).
* `RequestDecider`, `FailureCounter` and `BufferDebloater` are parts that stand alone.
* `plan.py` says which tasks a checkpoint triggers once some have finished.
"""

from models.coordinator.coordinator import CheckpointCoordinator
from models.coordinator.debloater import BufferDebloater, DebloatParameters
from models.coordinator.failures import COUNTED_REASONS, FailureCounter
from models.coordinator.parameters import CoordinatorParameters
from models.coordinator.requests import Request, RequestDecider

__all__ = [
    "COUNTED_REASONS",
    "BufferDebloater",
    "CheckpointCoordinator",
    "CoordinatorParameters",
    "DebloatParameters",
    "FailureCounter",
    "Request",
    "RequestDecider",
]
