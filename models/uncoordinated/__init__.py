"""Checkpoints without barriers: each task takes its own, and a failure goes back to a line of them.

`IndependentTask` and `InducedTask` (module `tasks`) decide when a task takes a checkpoint. Both
have the same door.  `RecoveryLine` (module `recovery_line`) is the job manager's side: the
checkpoints of a restart, and the useless ones.
"""

from ckptsim.models.uncoordinated.recovery_line import (
    Checkpoint,
    CheckpointStored,
    DiscardCheckpoint,
    JobFailed,
    LineChannel,
    LineEffect,
    LineEvent,
    RecoveryLine,
    RollBack,
    TruncateLog,
)
from ckptsim.models.uncoordinated.tasks import (
    DataEnded,
    IndependentTask,
    InducedTask,
    IntervalOver,
    MessageNext,
    TakeCheckpoint,
    TaskEvent,
    TaskProtocol,
)

__all__ = [
    "Checkpoint",
    "CheckpointStored",
    "DataEnded",
    "DiscardCheckpoint",
    "IndependentTask",
    "InducedTask",
    "IntervalOver",
    "JobFailed",
    "LineChannel",
    "LineEffect",
    "LineEvent",
    "MessageNext",
    "RecoveryLine",
    "RollBack",
    "TakeCheckpoint",
    "TaskEvent",
    "TaskProtocol",
    "TruncateLog",
]
