"""Checkpoint barriers: handlers, alignment clock, channels with in-flight data, the subtask side.

* `make_handler` gives the barrier handler of a task: events in, effects out (`handler/events.py`).
* `Subpartition`, `RemoteInputChannel` and `LocalInputChannel` are the two ends of a channel. They
  append what they ask of the host to the task's outbox (`channels/network.py`).
* `SubtaskCheckpoints` is the subtask side of a checkpoint, from the trigger to the acknowledgement
  (`subtask/events.py`). `SharedStateWriter` writes in-flight data for a group of subtasks.
* `Barrier` and the other network events travel in channels. Everything else in a queue is data.
"""

from ckptsim.models.barriers.barrier import Announcement as Announcement
from ckptsim.models.barriers.barrier import Barrier as Barrier
from ckptsim.models.barriers.barrier import CancellationMarker as CancellationMarker
from ckptsim.models.barriers.barrier import EndOfChannelState as EndOfChannelState
from ckptsim.models.barriers.barrier import EndOfData as EndOfData
from ckptsim.models.barriers.barrier import EndOfPartition as EndOfPartition
from ckptsim.models.barriers.barrier import NetworkEvent as NetworkEvent
from ckptsim.models.barriers.barrier import OptionKind as OptionKind
from ckptsim.models.barriers.channel_state import SharedStateWriter as SharedStateWriter
from ckptsim.models.barriers.channels import LocalInputChannel as LocalInputChannel
from ckptsim.models.barriers.channels import PersisterStatus as PersisterStatus
from ckptsim.models.barriers.channels import RemoteInputChannel as RemoteInputChannel
from ckptsim.models.barriers.channels import Subpartition as Subpartition
from ckptsim.models.barriers.handler import AllBarriers as AllBarriers
from ckptsim.models.barriers.handler import BarrierHandler as BarrierHandler
from ckptsim.models.barriers.handler import BarrierTracker as BarrierTracker
from ckptsim.models.barriers.handler import HandlerKind as HandlerKind
from ckptsim.models.barriers.handler import SingleCheckpointHandler as SingleCheckpointHandler
from ckptsim.models.barriers.handler import handler_kind as handler_kind
from ckptsim.models.barriers.handler import make_handler as make_handler
from ckptsim.models.barriers.reason import FailureReason as FailureReason
from ckptsim.models.barriers.subtask import SubtaskCheckpoints as SubtaskCheckpoints
