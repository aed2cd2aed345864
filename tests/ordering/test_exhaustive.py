"""Every interleaving of small syncs: safety in each state, one outcome in the end."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from ckptsim.models import ordering
from ckptsim.models.core import ProtocolError
from tests.mutants.ordering import MUTANTS
from tests.ordering.helpers import (
    FLUSH,
    A,
    B,
    durable,
    failed,
    flush_all,
    read,
    sent,
    snapshot,
    socket_core,
    state,
    stdio_core,
)

Portion = tuple[ordering.StreamDescriptor, str]


@dataclass(frozen=True)
class Situation:
    """A core, as bytes, and all that is around it: the world's own account of records and sends."""

    core: bytes
    positions: tuple[int, ...]  # how far each channel was read
    read: tuple[Portion, ...]  # records read and not durable yet
    durable: tuple[Portion, ...]
    outstanding: ordering.SendState | None
    released: tuple[tuple[ordering.Scope, int], ...]
    failures_left: int


@dataclass(frozen=True)
class Sync:
    """A small sync: what each channel carries, and which portions each state covers."""

    start: ordering.OrderingCore
    channels: tuple[tuple[ordering.Event, ...], ...]
    covers: dict[
        tuple[ordering.Scope, int], tuple[Portion, ...]
    ]  # each with one record per mention
    failures: int = 1


def explore(sync: Sync) -> tuple[int, set[ordering.Observation]]:
    """Return the number of situations reached and the observations of all final ones."""
    first = Situation(
        pickle.dumps(sync.start), (0,) * len(sync.channels), (), (), None, (), sync.failures
    )
    seen = {key(first)}
    todo = [first]
    finals: set[ordering.Observation] = set()
    while todo:
        situation = todo.pop()
        following = list(steps(sync, situation))
        if all(key(after) == key(situation) for after in following):
            finals.add(finish(sync, situation))
        for after in following:
            if key(after) not in seen:
                seen.add(key(after))
                todo.append(after)
    return len(seen), finals


def key(situation: Situation) -> tuple[object, ...]:
    """Return what distinguish two situations, whatever the order that led there."""
    core: ordering.OrderingCore = pickle.loads(situation.core)
    counts = tuple(sorted(map(str, situation.read))), tuple(sorted(map(str, situation.durable)))
    around = situation.positions, counts, situation.outstanding, situation.failures_left
    seen = core.observe()
    # The order of first records is kept by the core but means nothing here.
    streams = tuple(replace(s, ids=tuple(sorted(s.ids, key=str))) for s in seen.streams)
    return (*around, replace(seen, streams=streams, opened=tuple(sorted(seen.opened, key=str))))


def steps(sync: Sync, situation: Situation) -> Iterator[Situation]:
    """Yield every situation that one step can lead to."""
    for channel, events in enumerate(sync.channels):
        position = situation.positions[channel]
        if position < len(events):
            event = events[position]
            moved = list(situation.positions)
            moved[channel] += 1
            after = after_event(sync, situation, event)
            if isinstance(event, ordering.RecordsRead):
                portion = (event.stream, passed_id(situation, event))
                after = replace(after, read=(*after.read, portion))
            yield replace(after, positions=tuple(moved))
    for number, portion in enumerate(situation.read):
        if portion in situation.read[:number]:
            continue
        remaining = situation.read[:number] + situation.read[number + 1 :]
        after = after_event(sync, situation, durable(*portion))
        yield replace(after, read=remaining, durable=(*situation.durable, portion))
    yield after_event(sync, situation, FLUSH)
    if situation.outstanding is not None:
        yield after_outcome(sync, situation, situation.outstanding, ok=True)
        if situation.failures_left:
            yield after_outcome(sync, situation, situation.outstanding, ok=False)


def passed_id(situation: Situation, event: ordering.RecordsRead) -> str:
    if event.id is not None:
        return event.id
    core: ordering.OrderingCore = pickle.loads(situation.core)
    return core.inferred_id(event.stream, core.ordinal(event.stream))


def after_event(sync: Sync, situation: Situation, event: ordering.Event) -> Situation:
    core: ordering.OrderingCore = pickle.loads(situation.core)
    sends = [effect for effect in core.step(event) if isinstance(effect, ordering.SendState)]
    assert len(sends) <= 1
    records = situation.durable
    if isinstance(event, ordering.RecordsDurable):
        records = (*records, (event.stream, event.id))
    for send in sends:
        assert situation.outstanding is None
        check_safe(sync, replace(situation, durable=records), send)
    outstanding = sends[0] if sends else situation.outstanding
    if outstanding is None and isinstance(event, ordering.FlushRequested):
        # The pass is over at once: nothing that could go was left.
        assert all(blocked.obstacle is not ordering.Obstacle.FLUSH for blocked in core.blocked())
    return replace(situation, core=pickle.dumps(core), outstanding=outstanding)


def after_outcome(
    sync: Sync, situation: Situation, send: ordering.SendState, *, ok: bool
) -> Situation:
    released = (*situation.released, (send.scope, send.key.index)) if ok else situation.released
    settled = replace(
        situation,
        outstanding=None,
        released=released,
        failures_left=situation.failures_left - (not ok),
    )
    return after_event(sync, settled, sent(send) if ok else failed(send))


def check_safe(sync: Sync, situation: Situation, send: ordering.SendState) -> None:
    """A state goes right after its predecessor, and with every record of both durable."""
    before = [index for scope, index in situation.released if scope == send.scope]
    assert before == list(range(1, send.key.index))
    needed = [
        portion for index in (*before, send.key.index) for portion in sync.covers[send.scope, index]
    ]
    for portion in set(needed):
        assert situation.durable.count(portion) >= needed.count(portion)


def finish(sync: Sync, situation: Situation) -> ordering.Observation:
    """Flush the rest. Every state of every scope must have gone, in order."""
    core: ordering.OrderingCore = pickle.loads(situation.core)
    rest = [(send.scope, send.key.index) for send in flush_all(core)]
    released = [*situation.released, *rest]
    for scope in {scope for scope, _ in sync.covers}:
        wanted = sorted(index for found, index in sync.covers if found == scope)
        assert [index for found, index in released if found == scope] == wanted
    seen = core.observe()
    streams = tuple(replace(s, ids=tuple(sorted(s.ids, key=str))) for s in seen.streams)
    return replace(seen, streams=streams, opened=())


STREAMS = Sync(
    start=socket_core(channels=3),
    channels=(
        (read(A, "p1"), read(A, "p2")),
        (read(B, "q1", channel=1),),
        (state(A, 2, "p2", 1), state(A, 1, "p1", 1), state(B, 1, "q1", 1)),
    ),
    covers={(A, 1): ((A, "p1"),), (A, 2): ((A, "p2"),), (B, 1): ((B, "q1"),)},
    failures=2,
)
SPLIT = Sync(
    start=socket_core(A, channels=3),
    channels=(
        (read(A, "p1"), read(A, "p2")),
        (read(A, "p2", channel=1), read(A, "p1", channel=1)),
        (state(A, 1, "p1", 2), state(A, 2, "p2", 2)),
    ),
    covers={(A, 1): ((A, "p1"), (A, "p1")), (A, 2): ((A, "p2"), (A, "p2"))},
)
SNAPSHOTS = Sync(
    start=socket_core(channels=3),
    channels=(
        (read(A, "i1"), read(B, "o2")),
        (snapshot(2, "o2", 2, {A: "i2"}),),
        (read(A, "i2", channel=2), snapshot(1, "o1", 1, {A: "i1"})),
    ),
    covers={(None, 1): ((A, "i1"),), (None, 2): ((A, "i2"), (B, "o2"))},
)
STDIO = Sync(
    start=stdio_core(),
    channels=(
        (
            read(A, None),
            state(A),
            read(B, None),
            read(A, None),
            state(A),
            state(B),
        ),
    ),
    covers={(A, 1): ((A, "1"),), (A, 2): ((A, "2"),), (B, 1): ((B, "1"),)},
    failures=2,
)


@pytest.mark.parametrize(
    ("sync", "situations"),
    [(STREAMS, 467), (SPLIT, 190), (SNAPSHOTS, 160), (STDIO, 319)],
    ids=["streams", "split", "snapshots", "stdio"],
)
def test_every_interleaving_is_safe_and_ends_alike(sync: Sync, situations: int) -> None:
    """No interleaving sends too early or out of order, and all of them end in one state."""
    reached, finals = explore(sync)
    assert len(finals) == 1
    assert reached == situations


@pytest.mark.parametrize(
    ("mutant", "sync"),
    [
        ("no_ordering", STREAMS),
        ("gaps_tolerated", STREAMS),
        ("arrival_order", STREAMS),
        ("no_source_count", SPLIT),
        ("no_local_check", STDIO),
        ("cursor_before_send", STREAMS),
        ("totals_before_send", STREAMS),
        ("removed_before_send", STREAMS),
        ("one_counter", STDIO),
        ("early_return", STREAMS),
    ],
)
def test_some_interleaving_gives_a_mutant_away(mutant: str, sync: Sync) -> None:
    """Exploring the same syncs with a mutant finds an unsafe or a differing outcome."""
    mutant = MUTANTS[mutant].factory(sync.start.parameters)
    assert isinstance(mutant, ordering.OrderingCore)
    try:
        _, finals = explore(replace(sync, start=mutant))
    except (AssertionError, ProtocolError):
        return
    assert len(finals) > 1
