"""Workloads and fault plans as data, valid by construction and shrinking towards a quiet sync.

Every fault of a plan fails at most one attempt, and a plan has at most as many as the platform
forgives, so a right core must complete every one of them.
"""

from __future__ import annotations

from hypothesis import strategies as st

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.sync import (
    CountError,
    CrashAt,
    CrashPoint,
    DestinationTable,
    FailSend,
    FailUpload,
    IdCollision,
    Levels,
    Medium,
    MixedKind,
    PlatformTable,
    Point,
    ReaderFailure,
    RejectsAt,
    ReorderUploads,
    RepeatIndex,
    RepeatState,
    Side,
    SlowSend,
    SlowUpload,
    SocketStall,
    SocketTable,
    SourceTable,
    StateFlood,
    StateKind,
    StreamTable,
    SyncFault,
    SyncModel,
)

MS = 1_000_000
FAULTS_MAX = 4  # the fifth failed attempt without data in a row would be the platform's last

TIES = st.sampled_from(["structural", "random", "pct", "pct:1"])
SEEDS = st.integers(0, 2**32 - 1)
_FEED = st.integers(0, 2)
_READER = st.integers(0, 4)


def _durations(highest_ms: int) -> st.SearchStrategy[int]:
    return st.integers(0, highest_ms * 10).map(lambda tenths: tenths * MS // 10)


@st.composite
def streams(draw: st.DrawFn) -> tuple[StreamTable, ...]:
    """One to three streams with few records and small partitions."""
    names = ("users", "orders", "items")[: draw(st.integers(1, 3))]
    return tuple(
        StreamTable(
            name=name,
            records=draw(st.integers(0, 90)),
            partition_records=draw(st.integers(5, 60)),
            record_bytes=draw(st.sampled_from([100, 10, 2000])),
            reject_every=draw(st.sampled_from([0, 0, 2, 7])),
        )
        for name in names
    )


def sources(kind: StateKind) -> st.SearchStrategy[SourceTable]:
    """A source with few concurrent readers; a change log where the kind of state has one."""
    log = st.just(0) if kind is StateKind.STREAM else st.integers(0, 80)
    return st.builds(
        SourceTable,
        round_readers=st.integers(1, 4),
        connections=st.integers(1, 4),
        open_ns=_durations(4),
        record_ns=st.sampled_from([10_000, 1_000, 100_000]),
        packet_records=st.integers(4, 30),
        reader_limit_ns=st.sampled_from([None, None, 3 * MS]),
        log_records=log,
        log_partition_records=st.integers(5, 40),
        state_bytes=st.sampled_from([1024, 64, 16384]),
    )


SOCKETS = st.builds(
    SocketTable,
    count=st.integers(1, 4),
    bandwidth_bytes_per_s=st.sampled_from([20_000_000, 1_000_000]),
    latency_ns=_durations(3),
    pipe_bytes=st.sampled_from([65536, 4096, 500]),
)

DESTINATIONS = st.builds(
    DestinationTable,
    record_ns=st.sampled_from([4_000, 0, 50_000]),
    batch_records=st.integers(5, 80),
    batch_delay_ns=st.sampled_from([50 * MS, 2 * MS]),
    upload_ns=_durations(20),
    upload_spread=st.sampled_from([0.5, 0.0, 1.5]),
    uploads_at_once=st.integers(1, 4),
    levels=st.sampled_from([Levels.COMPLETE, Levels.PERSISTED, Levels.BOTH]),
    rejects_at=st.sampled_from([RejectsAt.PERSISTED, RejectsAt.COMPLETE]),
    complete_ns=_durations(10),
    state_memory_bytes=st.sampled_from([1 << 20, 4096]),
    heartbeat_ns=st.sampled_from([60_000 * MS, None, 5 * MS]),
    send_ns=_durations(4),
    send_spread=st.sampled_from([0.3, 0.0]),
    end_wait_ns=st.sampled_from([60_000 * MS, 10 * MS]),
    end_poll_ns=st.sampled_from([1_000 * MS, 3 * MS]),
)

# What the core, the source and the platform must all survive.
FAULTS: st.SearchStrategy[SyncFault] = st.one_of(
    st.builds(CrashAt, side=st.sampled_from(Side), at_ns=_durations(25)),
    st.builds(
        CrashPoint,
        side=st.sampled_from(Side),
        point=st.sampled_from(Point),
        occurrence=st.integers(1, 6),
    ),
    st.builds(
        SocketStall,
        socket=st.integers(0, 3),
        at_ns=_durations(30),
        duration_ns=_durations(200),
    ),
    st.builds(
        SlowUpload,
        at_ns=_durations(30),
        duration_ns=_durations(100),
        factor=st.sampled_from([2.0, 30.0]),
    ),
    st.builds(FailUpload, occurrence=st.integers(1, 6), uploads=st.integers(1, 2)),
    st.builds(ReorderUploads, occurrence=st.integers(1, 5), uploads=st.integers(2, 5)),
    st.builds(FailSend, occurrence=st.integers(1, 6), sends=st.integers(1, 4)),
    st.builds(
        SlowSend,
        at_ns=_durations(30),
        duration_ns=_durations(100),
        factor=st.sampled_from([3.0, 50.0]),
    ),
    st.builds(StateFlood, feed=_FEED, round=st.integers(0, 3), states=st.integers(1, 12)),
    st.builds(IdCollision, feed=_FEED, reader=_READER, other_feed=_FEED, other_reader=_READER),
    st.builds(CountError, feed=_FEED, reader=_READER, records=st.sampled_from([1, -1, 7, -7])),
    st.builds(ReaderFailure, feed=_FEED, reader=_READER, packets=st.integers(0, 3)),
    st.builds(RepeatState, feed=_FEED, reader=_READER),
    st.builds(RepeatIndex, feed=_FEED, reader=_READER),
    st.builds(MixedKind, feed=_FEED, reader=_READER),
)


@st.composite
def scenarios(
    draw: st.DrawFn,
    *,
    media: tuple[Medium, ...] = tuple(Medium),
    kinds: tuple[StateKind, ...] = tuple(StateKind),
) -> Scenario:
    """A workload with a fault plan."""
    kind = draw(st.sampled_from(kinds))
    model = SyncModel(
        medium=draw(st.sampled_from(media)),
        state_kind=kind,
        streams=draw(streams()),
        source=draw(sources(kind)),
        sockets=draw(SOCKETS),
        destination=draw(DESTINATIONS),
        platform=PlatformTable(),
    )
    faults = draw(st.lists(FAULTS, max_size=FAULTS_MAX))
    return Scenario(
        name="generated",
        link="ordering",
        says="a workload and fault plan that was generated",
        model=model,
        faults=tuple(faults),
    )
