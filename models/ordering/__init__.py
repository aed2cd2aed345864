"""The ordering protocol: when a destination may return a source's state to the platform.

`make_core` builds the core of one attempt.  Its one door is `step(event) -> list[effect]`:

    core = make_core(OrderingParameters(medium=Medium.SOCKET, streams=(users,), channels=2))
    core.step(RecordsRead(stream=users, id="aB3x", size_bytes=120, channel=1))
        # [OpenStream(users), PassRecords(users, "aB3x", ...)]: hand on, batch, upload
    core.step(StateRead(kind=StateKind.STREAM, stream=users, index=1, id="aB3x",
                        source_count=1, payload=message))      # [] : nothing is durable yet
    core.step(RecordsDurable(stream=users, id="aB3x", count=1, size_bytes=120))
    core.step(FlushRequested())                                # [SendState(...)] : send it, then
    core.step(StateSent(scope=users, index=1))                 # report how that went

The host carries out effects in the order given, one send at a time, and may take as long as it
likes. Events continue being accepted meanwhile.  A flush requested during a send is remembered.  At
the end, `FinishRequested(wait_ns=...)` leads to `CompleteSync` or to a `FailSync` that says which
scope is blocked at which index by which counts.  Bad input raises `ProtocolError` with a kind of
`Refusal` and changes nothing.  A crash loses the core. A new attempt makes a new one.

`drive` is the smallest host: it sends at once and reports the outcome.
"""

from ckptsim.models.ordering.core import OrderingCore as OrderingCore
from ckptsim.models.ordering.core import Parts as Parts
from ckptsim.models.ordering.designs import OrderingDoor as OrderingDoor
from ckptsim.models.ordering.designs import drive as drive
from ckptsim.models.ordering.designs import make_core as make_core
from ckptsim.models.ordering.events import CancelFinishTimer as CancelFinishTimer
from ckptsim.models.ordering.events import ChannelClosed as ChannelClosed
from ckptsim.models.ordering.events import CloseInput as CloseInput
from ckptsim.models.ordering.events import CompleteRead as CompleteRead
from ckptsim.models.ordering.events import CompleteSync as CompleteSync
from ckptsim.models.ordering.events import Effect as Effect
from ckptsim.models.ordering.events import EndChannel as EndChannel
from ckptsim.models.ordering.events import EndStream as EndStream
from ckptsim.models.ordering.events import Event as Event
from ckptsim.models.ordering.events import FailSync as FailSync
from ckptsim.models.ordering.events import FinishRequested as FinishRequested
from ckptsim.models.ordering.events import FinishTimerFired as FinishTimerFired
from ckptsim.models.ordering.events import FlushRequested as FlushRequested
from ckptsim.models.ordering.events import OpenStream as OpenStream
from ckptsim.models.ordering.events import PassRecords as PassRecords
from ckptsim.models.ordering.events import ProcessingFailed as ProcessingFailed
from ckptsim.models.ordering.events import ProcessingSucceeded as ProcessingSucceeded
from ckptsim.models.ordering.events import RecordsDurable as RecordsDurable
from ckptsim.models.ordering.events import RecordsRead as RecordsRead
from ckptsim.models.ordering.events import ReleaseStatistics as ReleaseStatistics
from ckptsim.models.ordering.events import ReportIncomplete as ReportIncomplete
from ckptsim.models.ordering.events import SendFailed as SendFailed
from ckptsim.models.ordering.events import SendState as SendState
from ckptsim.models.ordering.events import SetFinishTimer as SetFinishTimer
from ckptsim.models.ordering.events import StateRead as StateRead
from ckptsim.models.ordering.events import StateSent as StateSent
from ckptsim.models.ordering.events import StreamAnnounced as StreamAnnounced
from ckptsim.models.ordering.observation import Observation as Observation
from ckptsim.models.ordering.terms import Blocked as Blocked
from ckptsim.models.ordering.terms import CheckpointId as CheckpointId
from ckptsim.models.ordering.terms import CheckpointIndex as CheckpointIndex
from ckptsim.models.ordering.terms import CheckpointKey as CheckpointKey
from ckptsim.models.ordering.terms import Count as Count
from ckptsim.models.ordering.terms import Design as Design
from ckptsim.models.ordering.terms import Level as Level
from ckptsim.models.ordering.terms import Medium as Medium
from ckptsim.models.ordering.terms import Obstacle as Obstacle
from ckptsim.models.ordering.terms import OrderingParameters as OrderingParameters
from ckptsim.models.ordering.terms import Refusal as Refusal
from ckptsim.models.ordering.terms import Scope as Scope
from ckptsim.models.ordering.terms import Shortfall as Shortfall
from ckptsim.models.ordering.terms import StateKind as StateKind
from ckptsim.models.ordering.terms import StreamDescriptor as StreamDescriptor
from ckptsim.models.ordering.terms import Verdict as Verdict
from ckptsim.models.ordering.terms import scope_text as scope_text
