"""Counts per id, and how their memory is bounded."""

from __future__ import annotations

import pytest

from ckptsim.models.core import ProtocolError
from ckptsim.models.ordering import Count, Level, OrderingCore, Refusal, StreamAnnounced
from ckptsim.models.ordering.release import Ledger
from tests.ordering.helpers import A, B, durable, feed, flush_all, read, socket_core, state


def run_states(core: OrderingCore, first: int, last: int) -> None:
    """Bring states first..last of stream a through, each with two records at PERSISTED."""
    for index in range(first, last + 1):
        name = f"p{index}"
        feed(core, read(A, name, 2), durable(A, name, 2), state(A, index, name, 2))
    assert len(flush_all(core)) == last - first + 1


def ids_of(core: OrderingCore) -> list[str]:
    return [entry[0] for entry in core.observe().streams[0].ids]


def test_counters_of_released_ids_are_bounded() -> None:
    """Only the newest released ids keep counters.

    Everything that was released stays counted in the sums.
    """
    core = socket_core(released_ids_kept=3)
    run_states(core, 1, 50)
    assert ids_of(core) == ["p48", "p49", "p50"]
    assert core.records_read(A) == 100
    assert dict(core.observe().totals)[A] == Count(100, 1000)


def test_a_late_report_of_a_kept_id_is_checked_exactly() -> None:
    """Level COMPLETE may follow the release, up to the records of its own id."""
    core = socket_core(released_ids_kept=2)
    run_states(core, 1, 2)
    core.step(durable(A, "p1", 2, level=Level.COMPLETE))
    with pytest.raises(ProtocolError) as refused:
        core.step(durable(A, "p1", 1, level=Level.COMPLETE))
    assert refused.value.kind == Refusal.OVER_COUNT


def test_late_reports_of_folded_ids_draw_on_one_allowance() -> None:
    """Folded ids may still report what their level has not, all together, and no more."""
    core = socket_core(released_ids_kept=0)
    run_states(core, 1, 2)
    assert core.observe().streams[0].allowances == (0, 4)
    core.step(durable(A, "p1", 2, level=Level.COMPLETE))
    core.step(durable(A, "p2", 2, level=Level.COMPLETE))
    with pytest.raises(ProtocolError):
        core.step(durable(A, "p2", 1, level=Level.COMPLETE))
    assert core.observe().streams[0].allowances == (0, 0)
    assert core.observe().streams[0].records_complete == 4


def test_a_used_id_stays_refused_after_its_counters_are_folded() -> None:
    """Reuse of a released id is recognised although its counters are gone."""
    core = socket_core(released_ids_kept=0)
    run_states(core, 1, 3)
    with pytest.raises(ProtocolError) as refused:
        core.step(state(A, 4, "p1", 0))
    assert refused.value.kind == Refusal.DUPLICATE_ID


def test_equal_ids_of_two_streams_do_not_meet() -> None:
    """Records count for their own stream's id only."""
    core = socket_core()
    feed(core, read(A, "p", 2), read(B, "p", 3), durable(B, "p", 3))
    assert core.records_sufficient(B, "p")
    assert not core.records_sufficient(A, "p")
    assert core.records_read(A, "p") == 2


def test_an_id_without_records_is_sufficient() -> None:
    """Zero read and zero durable are equal."""
    core = socket_core()
    assert core.records_sufficient(A, "never")
    assert core.records_read(A, "never") == 0


def test_an_announced_stream_starts_from_nothing() -> None:
    """A stream that joins is known from then on, in every part of the core."""
    core = socket_core(A)
    core.step(StreamAnnounced(stream=B))
    feed(core, read(B, "p"), durable(B, "p"), state(B, 1, "p", 1))
    assert [send.scope for send in flush_all(core)] == [B]
    assert [stream for stream, _ in core.observe().totals] == [A, B]


def test_level_complete_counts_towards_done_for_folded_ids_too() -> None:
    """The sums per stream do not depend on which ids keep counters."""
    ledger = Ledger(0)
    ledger.read("p", 3, 30)
    ledger.account(Level.PERSISTED, "p", Count(3, 30))
    ledger.release("p", Count(3, 30))
    assert ledger.ids == ()
    assert not ledger.all_complete
    ledger.account(Level.COMPLETE, "p", Count(2, 20, 1))
    assert ledger.all_complete
