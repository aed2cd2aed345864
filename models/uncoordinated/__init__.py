"""Checkpoints without barriers: each task takes its own, and a failure goes back to a line of them.

`IndependentTask` and `InducedTask` (module `tasks`) decide when a task takes a checkpoint. Both
have the same door.  `RecoveryLine` (module `recovery_line`) is the job manager's side: the
checkpoints of a restart, and the useless ones.
"""

from ckptsim.models.uncoordinated.recovery_line import Checkpoint as Checkpoint
from ckptsim.models.uncoordinated.recovery_line import CheckpointStored as CheckpointStored
from ckptsim.models.uncoordinated.recovery_line import DiscardCheckpoint as DiscardCheckpoint
from ckptsim.models.uncoordinated.recovery_line import JobFailed as JobFailed
from ckptsim.models.uncoordinated.recovery_line import LineChannel as LineChannel
from ckptsim.models.uncoordinated.recovery_line import LineEffect as LineEffect
from ckptsim.models.uncoordinated.recovery_line import LineEvent as LineEvent
from ckptsim.models.uncoordinated.recovery_line import RecoveryLine as RecoveryLine
from ckptsim.models.uncoordinated.recovery_line import RollBack as RollBack
from ckptsim.models.uncoordinated.recovery_line import TruncateLog as TruncateLog
from ckptsim.models.uncoordinated.tasks import DataEnded as DataEnded
from ckptsim.models.uncoordinated.tasks import IndependentTask as IndependentTask
from ckptsim.models.uncoordinated.tasks import InducedTask as InducedTask
from ckptsim.models.uncoordinated.tasks import IntervalOver as IntervalOver
from ckptsim.models.uncoordinated.tasks import MessageNext as MessageNext
from ckptsim.models.uncoordinated.tasks import TakeCheckpoint as TakeCheckpoint
from ckptsim.models.uncoordinated.tasks import TaskEvent as TaskEvent
from ckptsim.models.uncoordinated.tasks import TaskProtocol as TaskProtocol
