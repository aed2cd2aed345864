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
likes; events continue being accepted meanwhile.  A flush requested during a send is remembered.  At
the end, `FinishRequested(wait_ns=...)` leads to `CompleteSync` or to a `FailSync` that says which
scope is blocked at which index by which counts.  Bad input raises `ProtocolError` with a kind of
`Refusal` and changes nothing.  A crash loses the core; a new attempt makes a new one.

`drive` is the smallest host: it sends at once and reports the outcome.
"""

from ckptsim.models.ordering.blocking import Blocked, Obstacle, Shortfall
from ckptsim.models.ordering.core import OrderingCore, Parts
from ckptsim.models.ordering.door import OrderingDoor, drive, make_core
from ckptsim.models.ordering.effects import (
    CancelFinishTimer,
    CloseInput,
    CompleteSync,
    Effect,
    EndChannel,
    EndStream,
    FailSync,
    OpenStream,
    PassRecords,
    ReleaseStatistics,
    ReportIncomplete,
    SendState,
    SetFinishTimer,
)
from ckptsim.models.ordering.events import (
    ChannelClosed,
    CompleteRead,
    Event,
    FinishRequested,
    FinishTimerFired,
    FlushRequested,
    ProcessingFailed,
    ProcessingSucceeded,
    RecordsDurable,
    RecordsRead,
    SendFailed,
    StateRead,
    StateSent,
    StreamAnnounced,
)
from ckptsim.models.ordering.observation import Observation
from ckptsim.models.ordering.terms import (
    CheckpointId,
    CheckpointIndex,
    CheckpointKey,
    Count,
    Design,
    Level,
    Medium,
    OrderingParameters,
    Refusal,
    Scope,
    StateKind,
    StreamDescriptor,
    Verdict,
    scope_text,
)

__all__ = [
    "Blocked",
    "CancelFinishTimer",
    "ChannelClosed",
    "CheckpointId",
    "CheckpointIndex",
    "CheckpointKey",
    "CloseInput",
    "CompleteRead",
    "CompleteSync",
    "Count",
    "Design",
    "Effect",
    "EndChannel",
    "EndStream",
    "Event",
    "FailSync",
    "FinishRequested",
    "FinishTimerFired",
    "FlushRequested",
    "Level",
    "Medium",
    "Observation",
    "Obstacle",
    "OpenStream",
    "OrderingCore",
    "OrderingDoor",
    "OrderingParameters",
    "Parts",
    "PassRecords",
    "ProcessingFailed",
    "ProcessingSucceeded",
    "RecordsDurable",
    "RecordsRead",
    "Refusal",
    "ReleaseStatistics",
    "ReportIncomplete",
    "Scope",
    "SendFailed",
    "SendState",
    "SetFinishTimer",
    "Shortfall",
    "StateKind",
    "StateRead",
    "StateSent",
    "StreamAnnounced",
    "StreamDescriptor",
    "Verdict",
    "drive",
    "make_core",
    "scope_text",
]
