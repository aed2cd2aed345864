"""Checkpoint barriers: handlers, alignment clock, channels with in-flight data, the subtask side.

* `make_handler` gives the barrier handler of a task: events in, effects out (`handler/events.py`).
* `Subpartition`, `RemoteInputChannel` and `LocalInputChannel` are the two ends of a channel. They
  append what they ask of the host to the task's outbox (`channels/network.py`).
* `SubtaskCheckpoints` is the subtask side of a checkpoint, from the trigger to the acknowledgement
  (`subtask/events.py`). `SharedStateWriter` writes in-flight data for a group of subtasks.
* `Barrier` and the other network events travel in channels. Everything else in a queue is data.
"""

from ckptsim.models.barriers.barrier import (
    Announcement,
    Barrier,
    CancellationMarker,
    EndOfChannelState,
    EndOfData,
    EndOfPartition,
    NetworkEvent,
    OptionKind,
)
from ckptsim.models.barriers.channel_state import SharedStateWriter
from ckptsim.models.barriers.channels import (
    LocalInputChannel,
    PersisterStatus,
    RemoteInputChannel,
    Subpartition,
)
from ckptsim.models.barriers.handler import (
    AllBarriers,
    BarrierHandler,
    BarrierTracker,
    HandlerKind,
    SingleCheckpointHandler,
    handler_kind,
    make_handler,
)
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.barriers.subtask import SubtaskCheckpoints

__all__ = [
    "AllBarriers",
    "Announcement",
    "Barrier",
    "BarrierHandler",
    "BarrierTracker",
    "CancellationMarker",
    "EndOfChannelState",
    "EndOfData",
    "EndOfPartition",
    "FailureReason",
    "HandlerKind",
    "LocalInputChannel",
    "NetworkEvent",
    "OptionKind",
    "PersisterStatus",
    "RemoteInputChannel",
    "SharedStateWriter",
    "SingleCheckpointHandler",
    "Subpartition",
    "SubtaskCheckpoints",
    "handler_kind",
    "make_handler",
]
