"""The coordinator's side of checkpoints.

* `CheckpointCoordinator` takes events and answers with effects (`events.py`).
* `RequestDecider`, `FailureCounter` and `BufferDebloater` are parts that stand alone.
* `EndOfDataListener` asks for the final checkpoint. `after_failure` says what a stop changes.
* `plan.py` says which tasks a checkpoint triggers once some have finished.
"""

from ckptsim.models.coordinator.coordinator import CheckpointCoordinator as CheckpointCoordinator
from ckptsim.models.coordinator.debloater import BufferDebloater as BufferDebloater
from ckptsim.models.coordinator.debloater import DebloatParameters as DebloatParameters
from ckptsim.models.coordinator.failures import COUNTED_REASONS as COUNTED_REASONS
from ckptsim.models.coordinator.failures import FailureCounter as FailureCounter
from ckptsim.models.coordinator.failures import Recovery as Recovery
from ckptsim.models.coordinator.failures import after_failure as after_failure
from ckptsim.models.coordinator.parameters import CoordinatorParameters as CoordinatorParameters
from ckptsim.models.coordinator.requests import EndOfDataListener as EndOfDataListener
from ckptsim.models.coordinator.requests import Request as Request
from ckptsim.models.coordinator.requests import RequestDecider as RequestDecider
