"""Release: order, readiness, statistics, slow and failing sends."""

from __future__ import annotations

import pytest

from ckptsim.models import ordering
from tests.ordering.helpers import (
    FLUSH,
    A,
    B,
    durable,
    failed,
    feed,
    flush_all,
    only_send,
    read,
    sent,
    snapshot,
    socket_core,
    state,
    stdio_core,
)


def indexes(sends: list[ordering.SendState]) -> list[int]:
    return [send.key.index for send in sends]


def test_a_state_goes_after_its_records_are_durable() -> None:
    """A state is sent by the first flush after its records are durable, and only once."""
    core = socket_core()
    feed(core, read(A, "p", 2), state(A, 1, "p", 2, "m"))
    assert core.step(FLUSH) == []
    core.step(durable(A, "p", 2))
    send = only_send(core.step(FLUSH))
    assert (send.scope, send.key.index, send.key.id, send.payload) == (A, 1, "p", "m")
    assert core.pending_count() == 1
    assert core.step(sent(send)) == []
    assert core.pending_count() == 0
    assert core.step(FLUSH) == []


def test_states_go_by_index_whatever_their_arrival() -> None:
    """States that arrive as 3, 1, 2 leave as 1, 2, 3 in one pass."""
    core = socket_core()
    feed(core, *(state(A, index, f"p{index}", 0) for index in (3, 1, 2)))
    assert indexes(flush_all(core)) == [1, 2, 3]


def test_a_gap_holds_back_what_follows() -> None:
    """A missing index holds back every later one of its scope, and no other scope."""
    core = socket_core()
    feed(core, state(A, 2, "p", 0), state(B, 1, "q", 0))
    assert [send.scope for send in flush_all(core)] == [B]
    core.step(state(A, 1, "o", 0))
    assert indexes(flush_all(core)) == [1, 2]


@pytest.mark.parametrize(("read_count", "source_count"), [(2, 3), (3, 2)])
def test_the_sources_count_must_agree_exactly(read_count: int, source_count: int) -> None:
    """On sockets more records than counted hold a state back as fewer do."""
    core = socket_core()
    feed(core, read(A, "p", read_count), durable(A, "p", read_count))
    feed(core, state(A, 1, "p", source_count))
    assert core.step(FLUSH) == []
    (blocked,) = core.blocked()
    assert blocked.obstacle is ordering.Obstacle.SOURCE_COUNT
    assert blocked.shortfall is not None
    assert (blocked.shortfall.expected, blocked.shortfall.found) == (source_count, read_count)


def test_the_sources_count_is_not_looked_at_on_stdio() -> None:
    """On STDIO a state covers what came before it, whatever the source counted."""
    core = stdio_core()
    feed(core, read(A, None, 2), durable(A, "1", 2), state(A, count=99))
    assert only_send(core.step(FLUSH)).statistics.destination.records == 2


def test_rejected_records_are_accounted_for() -> None:
    """A rejected record is not missing, and is distinguished from committed ones."""
    core = socket_core()
    feed(core, read(A, "p", 5), durable(A, "p", 3, rejected=2), state(A, 1, "p", 5))
    statistics = only_send(core.step(FLUSH)).statistics
    assert statistics.destination == ordering.Count(3, 30, 2)
    assert statistics.total == ordering.Count(3, 30, 2)


@pytest.mark.parametrize(
    ("persisted", "complete", "committed"),
    [
        ((4, 0), (0, 0), ordering.Count(4, 40, 0)),
        ((4, 0), (3, 1), ordering.Count(3, 30, 1)),
        ((3, 1), (2, 0), ordering.Count(3, 30, 1)),
    ],
)
def test_one_level_has_the_word(
    persisted: tuple[int, int], complete: tuple[int, int], committed: ordering.Count
) -> None:
    """Committed is what the level says that accounts for most. On a draw COMPLETE has the word."""
    core = socket_core()
    feed(core, read(A, "p", 4), state(A, 1, "p", 4))
    feed(
        core, durable(A, "p", *persisted), durable(A, "p", *complete, level=ordering.Level.COMPLETE)
    )
    assert only_send(core.step(FLUSH)).statistics.destination == committed


def test_running_totals_grow_state_by_state() -> None:
    """Each state carries the total up to and with itself."""
    core = socket_core()
    for index in (1, 2, 3):
        feed(core, read(A, f"p{index}", index), durable(A, f"p{index}", index))
        core.step(state(A, index, f"p{index}", index))
    totals = [send.statistics.total for send in flush_all(core)]
    assert totals == [ordering.Count(1, 10), ordering.Count(3, 30), ordering.Count(6, 60)]


def test_nothing_moves_before_the_send_has_returned() -> None:
    """During a send and after its failure cursor, shelf and totals are as they were."""
    core = socket_core()
    feed(core, read(A, "p", 2), durable(A, "p", 2), state(A, 1, "p", 2))
    before = core.observe()
    first = only_send(core.step(FLUSH))
    during = core.observe()
    assert (during.totals, during.streams) == (before.totals, before.streams)
    assert core.step(failed(first)) == []
    assert core.observe() == before
    assert only_send(core.step(FLUSH)) == first


def test_a_slow_send_lets_the_rest_go_on() -> None:
    """While a send is outstanding records, reports and states continue being accepted."""
    core = socket_core()
    feed(core, state(A, 1, "p", 0))
    first = only_send(core.step(FLUSH))
    feed(core, read(A, "q"), durable(A, "q"), state(A, 2, "q", 1), state(B, 1, "r", 0))
    second = only_send(core.step(sent(first)))
    third = only_send(core.step(sent(second)))
    assert [(s.scope, s.key.index) for s in (first, second, third)] == [(A, 1), (A, 2), (B, 1)]


def test_a_flush_during_a_send_is_not_lost() -> None:
    """A flush requested during a send has the effect it would have right after the pass."""
    core = socket_core()
    feed(core, state(B, 1, "q", 0))
    send = only_send(core.step(FLUSH))  # the pass is past stream a now
    feed(core, state(A, 1, "p", 0))
    assert core.step(FLUSH) == []
    assert only_send(core.step(sent(send))).scope == A


def test_a_flush_during_a_failing_send_tries_again() -> None:
    """A flush requested during a send that fails starts a new pass, once."""
    core = socket_core()
    feed(core, state(A, 1, "p", 0))
    send = only_send(core.step(FLUSH))
    feed(core, FLUSH, FLUSH)
    assert only_send(core.step(failed(send))) == send
    assert core.step(failed(send)) == []


def test_a_send_failure_leaves_what_was_sent_before_it() -> None:
    """The pass stops at the failure. States sent before it stay sent."""
    core = socket_core()
    feed(core, state(A, 1, "p", 0), state(A, 2, "q", 0))
    outcomes = iter([True, False])
    assert ordering.drive(core, FLUSH, lambda _: next(outcomes)) == []
    assert core.head(A) == 2


def test_global_states_wait_for_every_stream() -> None:
    """A global state needs its id durable on every stream and the sum to agree."""
    core = socket_core()
    feed(core, read(A, "g", 2), read(B, "g", 3), state(None, 1, "g", 5))
    core.step(durable(A, "g", 2))
    assert core.step(FLUSH) == []
    core.step(durable(B, "g", 3))
    statistics = only_send(core.step(FLUSH)).statistics
    assert statistics.destination == ordering.Count(5, 50)
    assert statistics.per_stream == ((A, ordering.Count(2, 20)), (B, ordering.Count(3, 30)))


def test_global_statistics_sum_committed_and_rejected() -> None:
    """A global state shows everything that was committed, not what the source sent."""
    core = socket_core()
    feed(core, read(A, "g", 3), durable(A, "g", 2, rejected=1), state(None, 1, "g", 3))
    assert only_send(core.step(FLUSH)).statistics.destination == ordering.Count(2, 20, 1)


def test_only_listed_streams_get_totals() -> None:
    """Totals per stream are attached for the streams that the message lists."""
    core = socket_core()
    event = ordering.StateRead(
        kind=ordering.StateKind.GLOBAL, payload="x", index=1, id="g", source_count=0, listed=(B,)
    )
    core.step(event)
    assert only_send(core.step(FLUSH)).statistics.per_stream == ((B, ordering.Count()),)


def test_a_snapshot_waits_for_its_inner_partitions() -> None:
    """A snapshot goes when its inner partitions are durable and are the whole count."""
    core = socket_core()
    feed(core, read(A, "i", 2), read(B, "later", 9), snapshot(1, "o", 2, {A: "i"}))
    assert core.step(FLUSH) == []
    core.step(durable(A, "i", 2))
    assert only_send(core.step(FLUSH)).statistics.total == ordering.Count(2, 20)


def test_the_outer_id_of_a_snapshot_makes_up_the_rest() -> None:
    """Where the inner partitions are not the whole count, the outer id must be the rest."""
    core = socket_core()
    feed(core, read(A, "i", 2), durable(A, "i", 2), read(B, "o", 3))
    core.step(snapshot(1, "o", 5, {A: "i"}))
    assert core.step(FLUSH) == []
    core.step(durable(B, "o", 3))
    statistics = only_send(core.step(FLUSH)).statistics
    assert statistics.destination == ordering.Count(5, 50)
    assert statistics.total == ordering.Count(5, 50)
    assert statistics.per_stream == ((A, ordering.Count(2, 20)),)


def test_an_id_that_is_inner_and_outer_counts_once() -> None:
    """Records of a stream with equal inner and outer ids are counted once."""
    core = socket_core()
    feed(core, read(A, "o", 2), durable(A, "o", 2), read(B, "o", 1), durable(B, "o", 1))
    core.step(snapshot(1, "o", 3, {A: "o"}))
    assert only_send(core.step(FLUSH)).statistics.total == ordering.Count(3, 30)


def test_records_that_two_snapshots_name_are_totalled_once() -> None:
    """A partition named again by a later snapshot adds nothing to the running totals."""
    core = socket_core()
    feed(core, read(A, "i", 2), durable(A, "i", 2))
    feed(core, snapshot(1, "o1", 2, {A: "i"}), snapshot(2, "o2", 2, {A: "i"}))
    first, second = flush_all(core)
    assert first.statistics.total == second.statistics.total == ordering.Count(2, 20)


def test_records_on_stdio_get_their_intervals_id() -> None:
    """On STDIO records are passed on under the id of their stream's interval, states end it."""
    core = stdio_core()
    passed = feed(core, read(A, "ignored"), state(A), read(A, None), read(B, None))
    ids = [(e.stream, e.id) for e in passed if isinstance(e, ordering.PassRecords)]
    assert ids == [(A, "1"), (A, "2"), (B, "1")]


def test_a_global_state_ends_every_interval() -> None:
    """On STDIO a global state takes the common interval of all streams."""
    core = stdio_core()
    feed(core, read(A, None), durable(A, "1"), state(None), read(B, None))
    assert only_send(core.step(FLUSH)).key.id == "1"
    assert (core.ordinal(A), core.ordinal(B)) == (2, 2)


@pytest.mark.parametrize(
    ("events", "says"),
    [
        ([state(A, 3, "p", 0)], "stream a: state 3 waits for state 1, which has not arrived"),
        (
            [read(A, "p", 5), durable(A, "p", 2), state(A, 1, "p", 5)],
            "state 1 (id p) waits for records of stream a, id p: 5 read, 2 durable",
        ),
        (
            [read(A, "p", 5), durable(A, "p", 5), state(A, 1, "p", 6)],
            "waits for its count: the source sent 6 records, 5 are accounted for",
        ),
        ([state(A, 1, "p", 0)], "state 1 (id p) waits for a flush"),
        ([state(A, 1, "p", 0), FLUSH], "state 1 (id p) waits for its send to return"),
        ([state(None, 2, "g", 0)], "the sync: state 2 waits for state 1"),
    ],
)
def test_what_blocks_is_told_in_a_sentence(events: list[object], says: str) -> None:
    """For every scope with unsent states the core says which is next and what it waits for."""
    core = socket_core()
    for event in events:
        core.step(event)  # type: ignore[arg-type]
    (blocked,) = core.blocked()
    assert says in str(blocked)
    assert str(blocked).endswith("(1 unsent)")
