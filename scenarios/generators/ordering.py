"""Random syncs with fault plans that a right ordering core completes.

Every fault of a plan fails at most one attempt, and a plan has fewer than the platform forgives; or
the sync may end either way, and its platform forgives fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.spec import Scenario
from ckptsim.scenarios.sync import (
    CheckpointLock,
    CountCheck,
    CountError,
    CrashAt,
    CrashPoint,
    DestinationTable,
    FailSend,
    FailUpload,
    IdCollision,
    Levels,
    Medium,
    MemoryPolicy,
    MixedKind,
    Outcome,
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

_MS = 1_000_000
_NAMES = ("users", "orders", "items")
# With fewer characters two ids of some fifty partitions are the same now and then; with these, in
# one of a million syncs.
_CHARACTERS_MIN = 4
# In all, where two of them already end an attempt: two attempts, and what a third begins with.
_FAILED_SENDS_MAX = 5
# With heartbeats of 5 ms ten minutes, which is what the platform gives, would take seconds.
_STALL_LIMIT_NS = 10_000 * _MS
# The fifth failed attempt without data in a row would be the platform's last.
FAULTS_MAX = 4
# Each one other than the one before, so that one shows how many attempts in a row had no data.
_BACKOFF_NS = (2 * _MS, 5 * _MS, 11 * _MS, 23 * _MS)


def ordering(choices: Choices) -> Scenario:
    """Return a random sync with a fault plan."""
    kind = choices.of(tuple(StateKind))
    model = SyncModel(
        medium=choices.of(tuple(Medium)),
        state_kind=kind,
        streams=_streams(choices),
        source=_source(choices, kind),
        sockets=_sockets(choices),
        destination=_destination(choices),
        platform=PlatformTable(),
    )
    if choices.integer(0, 5) == 5:
        model = _short_of_memory(choices, model)
    elif choices.integer(0, 7) == 7:
        model = _only_sending(choices, model)
    present = choices.features(tuple(SYNC_FAULT_DRAWS))
    faults: tuple[SyncFault, ...] = ()
    if choices.integer(0, 9) == 9:
        # Attempts that fail with and without data in turn, soon behind each other.
        model = replace(model, platform=PlatformTable(backoff_ns=_BACKOFF_NS))
        faults = choices.of(((), _IN_TURN, _NOW_AND_THEN, _MISCOUNTED))
        if faults == _MISCOUNTED:
            # On STDIO no core compares counts, so that the state comes as far as the platform.
            model = replace(model, medium=Medium.STDIO, platform=_REFUSING)
        limits = choices.of(_LIMITS)
        if limits:
            platform = replace(model.platform, **limits)
            model = replace(model, platform=platform, outcome=Outcome.ANY)
        faults += tuple(_crash(choices) for _ in range(FAULTS_MAX - len(faults)))
    elif present:
        drawn = choices.alike(present)
        faults = choices.several(lambda: SYNC_FAULT_DRAWS[next(drawn)](choices), most=FAULTS_MAX)
        if len(faults) < FAULTS_MAX and choices.integer(0, 7) == 7:
            faults = (*faults, _crash_behind_the_end(choices, model))
    if any(isinstance(fault, FailSend) for fault in faults):
        # Nobody asks for what has failed to be sent again before the next heartbeat.
        destination = replace(model.destination, stall_limit_ns=_STALL_LIMIT_NS)
        model = replace(model, destination=destination)
    if any(isinstance(fault, ReaderFailure) for fault in faults) and choices.flag():
        model, faults = _with_readers_abreast(model), tuple(map(_failing_early, faults))
    if any(isinstance(fault, RepeatIndex) for fault in faults):
        # Of two states with one index the first counts; on several sockets that may be the wrong
        # one, which no core can tell.
        model = replace(model, sockets=replace(model.sockets, count=1))
    if sum(fault.sends for fault in faults if isinstance(fault, FailSend)) > _FAILED_SENDS_MAX:
        # Or more attempts in a row fail without data than the platform lets pass.
        model = replace(model, destination=replace(model.destination, send_tries=5))
    return Scenario(
        name="generated",
        link="ordering",
        says="a workload and fault plan that was generated",
        model=model,
        faults=faults,
        violates=hazards_of(model, faults),
    )


def _send_crash(point: Point, occurrence: int) -> CrashPoint:
    return CrashPoint(side=Side.DESTINATION, point=point, occurrence=occurrence)


# One attempt without data, one with the data of its first state, one without again.
_IN_TURN: tuple[SyncFault, ...] = (
    _send_crash(Point.BEFORE_SEND, 1),
    _send_crash(Point.AFTER_SEND, 1),
    _send_crash(Point.BEFORE_SEND, 3),
)

# Sends that fail with others between them, more than may fail in a row.
_NOW_AND_THEN: tuple[SyncFault, ...] = tuple(FailSend(occurrence=each) for each in (1, 3, 5, 7))

# An attempt whose first state the platform refuses, and which so has no data.
_MISCOUNTED: tuple[SyncFault, ...] = (
    CountError(feed=0, reader=0, records=1),
    _send_crash(Point.AFTER_SEND, 1),
)
_REFUSING = PlatformTable(backoff_ns=_BACKOFF_NS, count_check=CountCheck.REJECT)

# How soon the platform gives up; mostly not before the faults have stopped.
_LIMITS: tuple[dict[str, Any], ...] = (
    *({}, {}, {}, {}),
    *({"empty_in_a_row": 2}, {"empty_attempts": 2}, {"partial_attempts": 1}),
    *({"partial_attempts": 2}, {"empty_in_a_row": 1, "empty_attempts": 3}),
)


def _crash(choices: Choices) -> SyncFault:
    """Return a crash that most syncs reach, at an instant or at a point."""
    side = choices.of(tuple(Side))
    if choices.flag():
        return CrashAt(side=side, at_ns=_tenths(choices, 60))
    return CrashPoint(
        side=side, point=choices.of(tuple(Point)), occurrence=choices.of((1, 2, 3, 5))
    )


def _crash_behind_the_end(choices: Choices, model: SyncModel) -> CrashPoint:
    """Return that the source crashes when it has said COMPLETE, perhaps before its last states."""
    last = len(model.streams) if model.state_kind is StateKind.STREAM else 1
    occurrence = choices.of((last, last, choices.integer(1, last)))
    return CrashPoint(side=Side.SOURCE, point=Point.AFTER_COMPLETE, occurrence=occurrence)


def hazards_of(model: SyncModel, faults: Iterable[object]) -> tuple[str, ...]:
    """Return what a right core cannot prevent; a reader that waits for memory may wait for good.

    Without a lock an older view may get the higher index: a restart from it goes back.
    """
    blocks = model.destination.memory_policy is MemoryPolicy.BLOCK
    faults = tuple(faults)
    short = model.source.partition_id_characters < _CHARACTERS_MIN
    collides = short or any(isinstance(fault, IdCollision) for fault in faults)
    # Two partitions of a snapshot may get the same id, as in docs/hazards.md.  The id that its
    # state is known by is its message's, so no core sees the second one of a partition, whose
    # records count with those of the first.
    merges = model.state_kind is StateKind.SNAPSHOT and collides
    early = model.medium is Medium.SOCKET and (short or any(map(_leaves_early, faults)))
    unlocked = model.source.checkpoint_lock is CheckpointLock.UNLOCKED
    return (
        *(("snapshot_claims_are_durable", "resume_is_monotone") if unlocked else ()),
        *(("release_is_deterministic",) if merges else ()),
        *(("no_premature_acknowledgement",) if early else ()),
        *(("flood_does_not_block_data",) if blocks else ()),
    )


def _leaves_early(fault: object) -> bool:
    """Return whether a state may leave before its records, by a source that counts or names wrong.

    No core knows of records that nobody has read: it has the count of the state, and what was read
    under its id, which can be another partition's.
    """
    return isinstance(fault, IdCollision) or (isinstance(fault, CountError) and fault.records < 0)


def _tenths(choices: Choices, highest_ms: int) -> int:
    """Return a duration in ns of whole tenths of a millisecond."""
    return choices.integer(0, highest_ms * 10) * _MS // 10


def _streams(choices: Choices) -> tuple[StreamTable, ...]:
    return tuple(
        StreamTable(
            name=name,
            records=choices.integer(0, 90),
            partition_records=choices.integer(5, 60),
            record_bytes=choices.of((100, 10, 2000)),
            reject_every=choices.of((0, 0, 2, 7, 1)),
        )
        for name in _NAMES[: choices.integer(1, len(_NAMES))]
    )


def _short_of_memory(choices: Choices, model: SyncModel) -> SyncModel:
    """Have states of several sizes wait for memory, so that one that leaves makes room for some."""
    streams = tuple(
        replace(
            one,
            state_bytes=choices.of((900, 3_800, 1_500)),
            partition_records=choices.integer(5, 15),
        )
        for one in model.streams
    )
    destination = replace(
        model.destination,
        state_memory_bytes=4096,
        memory_policy=MemoryPolicy.BLOCK,
        send_ns=choices.of((4, 10)) * _MS,
    )
    sockets = replace(model.sockets, count=max(model.sockets.count, choices.of((3, 2))))
    return replace(model, streams=streams, destination=destination, sockets=sockets)


def _with_readers_abreast(model: SyncModel) -> SyncModel:
    """Have several readers of a round read at once, so that others end behind one that fails."""
    sockets = replace(model.sockets, count=max(3, model.sockets.count))
    source, streams = model.source, model.streams
    source = replace(
        source,
        round_readers=max(3, source.round_readers),
        connections=max(3, source.connections),
        packet_records=min(5, source.packet_records),
    )
    streams = tuple(
        replace(one, records=max(60, one.records), partition_records=min(20, one.partition_records))
        for one in streams
    )
    return replace(model, sockets=sockets, source=source, streams=streams)


def _failing_early(fault: SyncFault) -> SyncFault:
    """Return a failure of a reader that comes while those before it still read."""
    if not isinstance(fault, ReaderFailure):
        return fault
    return replace(fault, reader=max(1, fault.reader), packets=min(1, fault.packets))


def _only_sending(choices: Choices, model: SyncModel) -> SyncModel:
    """Have attempts only send, slowly, for longer than the platform bears with silence.

    Records are small, so that a packet of them is not on its way for so long.
    """
    destination = replace(
        model.destination,
        send_ns=choices.of((10, 5)) * _MS,
        send_spread=choices.of((0.3, 0.0)),
        stall_limit_ns=choices.of((80, 160)) * _MS,
    )
    sockets = replace(model.sockets, count=max(2, model.sockets.count))
    streams = tuple(
        replace(one, records=max(40, one.records), partition_records=5, record_bytes=10)
        for one in model.streams
    )
    return replace(
        model,
        destination=destination,
        sockets=sockets,
        streams=streams,
        outcome=Outcome.ANY,
    )


def _source(choices: Choices, kind: StateKind) -> SourceTable:
    log_records = 0 if kind is StateKind.STREAM else choices.integer(0, 80)
    if not choices.flag():
        return SourceTable(log_records=log_records)
    return SourceTable(
        checkpoint_lock=choices.of((CheckpointLock.LOCKED, CheckpointLock.UNLOCKED)),
        checkpoint_ns=choices.of((1, 4, 20)) * _MS,
        round_readers=choices.integer(1, 4),
        connections=choices.integer(1, 4),
        open_ns=_tenths(choices, 4),
        record_ns=choices.of((10_000, 1_000, 100_000)),
        packet_records=choices.integer(4, 30),
        reader_limit_ns=choices.of((None, None, 3 * _MS)),
        log_records=log_records,
        log_partition_records=choices.integer(5, 40),
        state_bytes=choices.of((1024, 64, 16384)),
    )


def _sockets(choices: Choices) -> SocketTable:
    count = choices.integer(1, 4)
    if not choices.flag():
        return SocketTable(count=count)
    return SocketTable(
        count=count,
        bandwidth_bytes_per_s=choices.of((20_000_000, 1_000_000)),
        latency_ns=_tenths(choices, 3),
        pipe_bytes=choices.of((65536, 4096, 500)),
    )


def _destination(choices: Choices) -> DestinationTable:
    levels = choices.of((Levels.COMPLETE, Levels.PERSISTED, Levels.BOTH))
    rejects_at = choices.of((RejectsAt.PERSISTED, RejectsAt.COMPLETE))
    if not choices.flag():
        return DestinationTable(levels=levels, rejects_at=rejects_at)
    return DestinationTable(
        record_ns=choices.of((4_000, 0, 50_000)),
        batch_records=choices.integer(5, 80),
        batch_delay_ns=choices.of((50, 2)) * _MS,
        upload_ns=_tenths(choices, 20),
        upload_spread=choices.of((0.5, 0.0, 1.5)),
        uploads_at_once=choices.integer(1, 4),
        levels=levels,
        rejects_at=rejects_at,
        complete_ns=_tenths(choices, 40),
        state_memory_bytes=choices.of((1 << 20, 4096)),
        memory_policy=choices.of(
            (MemoryPolicy.OVERFLOW, MemoryPolicy.OVERFLOW, MemoryPolicy.BLOCK)
        ),
        heartbeat_ns=choices.of((60_000 * _MS, None, 5 * _MS)),
        send_ns=choices.of((1, 1, 5)) * _tenths(choices, 4),
        send_spread=choices.of((0.3, 0.0)),
        # So many that no fault fails more than one attempt by itself.
        send_tries=choices.of((5, 3, 2)),
        upload_tries=choices.of((3, 2)),
        end_wait_ns=choices.of((600_000, 100, 10)) * _MS // 10,
        end_poll_ns=choices.of((1_000, 3)) * _MS,
        stall_limit_ns=_STALL_LIMIT_NS,
    )


def _feed(choices: Choices) -> int:
    return choices.of((0, 0, 1, 2))  # every sync has the first


def _reader(choices: Choices) -> int:
    return choices.of((0, 0, 1, 2, 3, 4))


# What the core, the source and the platform must all survive.
SYNC_FAULT_DRAWS: Mapping[str, Callable[[Choices], SyncFault]] = {
    "fail_send": lambda c: (
        FailSend(occurrence=c.integer(1, 3), sends=c.of((1, 2)), at_end=True)
        if c.flag()
        else FailSend(occurrence=c.integer(1, 6), sends=c.of((1, 1, 2, 3)))
    ),
    "fail_upload": lambda c: FailUpload(occurrence=c.integer(1, 6), uploads=c.integer(1, 2)),
    "reorder_uploads": lambda c: ReorderUploads(
        occurrence=c.integer(1, 5), uploads=c.integer(2, 5)
    ),
    "slow_upload": lambda c: SlowUpload(
        at_ns=_tenths(c, 30), duration_ns=_tenths(c, 100), factor=c.of((2.0, 30.0))
    ),
    "slow_send": lambda c: SlowSend(
        at_ns=_tenths(c, 30), duration_ns=_tenths(c, 100), factor=c.of((3.0, 50.0))
    ),
    "socket_stall": lambda c: SocketStall(
        socket=c.integer(0, 3), at_ns=_tenths(c, 30), duration_ns=_tenths(c, 200)
    ),
    "crash_at": lambda c: CrashAt(side=c.of(tuple(Side)), at_ns=_tenths(c, 25)),
    "crash_point": lambda c: CrashPoint(
        side=c.of(tuple(Side)), point=c.of(tuple(Point)), occurrence=c.integer(1, 6)
    ),
    "state_flood": lambda c: StateFlood(
        feed=_feed(c), round=c.integer(0, 3), states=c.integer(1, 12)
    ),
    "id_collision": lambda c: IdCollision(
        feed=_feed(c), reader=c.integer(1, 4), other_feed=_feed(c), other_reader=_reader(c)
    ),
    "count_error": lambda c: CountError(
        feed=_feed(c), reader=_reader(c), records=c.of((1, -1, 7, -7))
    ),
    "reader_failure": lambda c: ReaderFailure(
        feed=_feed(c), reader=_reader(c), packets=c.integer(0, 3)
    ),
    "repeat_state": lambda c: RepeatState(feed=_feed(c), reader=_reader(c)),
    "repeat_index": lambda c: RepeatIndex(feed=_feed(c), reader=_reader(c)),
    "mixed_kind": lambda c: MixedKind(feed=_feed(c), reader=_reader(c)),
}
