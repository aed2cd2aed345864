"""STDIO: whatever comes in between, each state takes the records of its own interval."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.models.ordering import PassRecords, RecordsDurable, StreamDescriptor
from tests.ordering.helpers import A, B, flush_all, read, state, stdio_core

# One step of a source on its one channel: so many records of a stream, or (None) its state.
SOURCE = st.lists(st.tuples(st.sampled_from((A, B)), st.none() | st.integers(1, 4)), max_size=25)


def reports_of(effects: list[object]) -> list[RecordsDurable]:
    """Return one report per record that was passed on."""
    return [
        RecordsDurable(stream=effect.stream, id=effect.id, count=1, size_bytes=10)
        for effect in effects
        if isinstance(effect, PassRecords)
        for _ in range(effect.count)
    ]


@given(SOURCE, st.randoms(use_true_random=False), st.integers(1, 6))
@settings(max_examples=150, derandomize=True, database=None, deadline=None)
def test_states_take_the_records_of_their_interval(
    steps: list[tuple[StreamDescriptor, int | None]], order: object, every: int
) -> None:
    """Durability in any order, flushes at any time: order and counts are the ones of the source."""
    core = stdio_core()
    waiting: list[RecordsDurable] = []
    expected: dict[StreamDescriptor, list[int]] = {A: [], B: []}
    since = {A: 0, B: 0}
    found: dict[StreamDescriptor, list[int]] = {A: [], B: []}

    def flush() -> None:
        for send in flush_all(core):
            assert send.scope is not None
            found[send.scope].append(send.statistics.destination.records)

    for number, (stream, count) in enumerate(steps):
        if count is None:
            core.step(state(stream, count=since[stream]))
            expected[stream].append(since[stream])
            since[stream] = 0
        else:
            waiting += reports_of(list(core.step(read(stream, None, count))))
            since[stream] += count
        order.shuffle(waiting)  # type: ignore[attr-defined]
        if number % every == 0 and waiting:
            core.step(waiting.pop())
            flush()
    for report in waiting:
        core.step(report)
    flush()
    assert found == expected
    assert core.pending_count() == 0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=8))
@settings(max_examples=100, derandomize=True, database=None, deadline=None)
def test_global_states_take_both_streams(intervals: list[tuple[int, int]]) -> None:
    """A global state counts the records of its interval on every stream, and totals add up."""
    core = stdio_core()
    reports: list[RecordsDurable] = []
    for of_a, of_b in intervals:
        for stream, count in ((A, of_a), (B, of_b)):
            reports += reports_of(list(core.step(read(stream, None, count))))
        core.step(state(None))
    for report in reversed(reports):
        core.step(report)
    sends = flush_all(core)
    assert [send.statistics.destination.records for send in sends] == [a + b for a, b in intervals]
    if sends:
        assert sends[-1].statistics.total.records == sum(a + b for a, b in intervals)
