"""The content offerred of sources: rates, bursts, and whether they make up for what they missed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ckptsim.sim.infer.found import Sureness
from ckptsim.sim.infer.tasks.load import times_of
from ckptsim.sim.infer.tasks.rates import course_of, makes_up, rates_of
from ckptsim.sim.recording import SubtaskAnswer, VertexAnswer, read_recording
from ckptsim.sim.recording.recording import Sample
from tests.recording.folders import SHIPPED, changed, copied


def _source(*, pressed: tuple[float, ...], makes_up: bool, idle: bool = True) -> VertexAnswer:
    """Return a source of 500 records a second, back-pressured for parts of windows of 2 s.

    Where it makes up for what it missed it emits as much in every window. Not idle: it emits as
    fast as it can.
    """
    names = ("BackPressured", "Idle", "Busy")
    totals = {f"accumulate{name}TimeMs": 0.0 for name in names} | {"numRecordsOut": 0.0}
    samples = [Sample(at_ms=0, values=dict(totals))]
    for number, part in enumerate(pressed, 1):
        free_ms = 2000 * (1 - part)
        times = (2000 * part, free_ms if idle else 0.0, 0.0 if idle else free_ms)
        for name, value in zip(names, times, strict=True):
            totals[f"accumulate{name}TimeMs"] += value
        totals["numRecordsOut"] += 1000 if makes_up else free_ms / 2
        samples.append(Sample(at_ms=2000 * number, values=dict(totals)))
    subtask = SubtaskAnswer(
        index=0, task_manager=None, host=None, attempt=0, samples=tuple(samples)
    )
    return VertexAnswer(
        id="a",
        name="a",
        parallelism=1,
        max_parallelism=None,
        status=None,
        operators=("a",),
        inputs=(),
        metrics=frozenset(),
        subtasks=(subtask,),
    )


def test_a_source_that_is_idle_at_times_has_a_rate() -> None:
    """Back-pressured mostly, it shows its rate in the rest. One never idle has none."""
    parts = (0.8, 0.3, 0.85, 0.6, 0.7)
    dropping = rates_of(_source(pressed=parts, makes_up=False))
    assert dropping.value == pytest.approx((500.0,))
    assert "back-pressured" in dropping.how
    for part in (0.97, 0.8):
        assert rates_of(_source(pressed=(part,) * 5, makes_up=False, idle=False)).value is None
    working = rates_of(_source(pressed=(0.2,) * 5, makes_up=False, idle=False))
    assert working.value == pytest.approx((500.0,))


def test_a_source_that_never_emitted_freely_has_no_rate() -> None:
    """Counters that say it was idle, and that it emitted only while it was held up, are no rate."""
    found = _source(pressed=(1.0, 0.5), makes_up=False)
    subtask = found.subtasks[0]
    torn = tuple(
        replace(one, values=dict(one.values) | {"numRecordsOut": 1000.0 * min(number, 1)})
        for number, one in enumerate(subtask.samples)
    )
    stuck = replace(found, subtasks=(replace(subtask, samples=torn),))
    assert rates_of(stuck).value is None
    assert rates_of(stuck).sure is Sureness.ASSUMED


def test_a_source_that_reads_a_log_makes_up_for_what_it_missed() -> None:
    """The same number of records in windows that were held up differently is a log's."""
    parts = (0.8, 0.3, 0.85, 0.6, 0.7)
    assert makes_up(_source(pressed=parts, makes_up=True))
    assert rates_of(_source(pressed=parts, makes_up=True)).value == pytest.approx((500.0,))
    assert not makes_up(_source(pressed=parts, makes_up=False))
    assert not makes_up(_source(pressed=(0.01,) * 5, makes_up=True))


@pytest.mark.parametrize(
    ("counts", "bursts"),
    [
        ((2250, 2250, 3750, 5250, 6750), True),
        ((2250, 2250, 3750, 5250, 6749), False),  # one that is elsewhere
        ((1500, 1500, 1500, 3000, 3000), False),  # too few that differ
        ((190, 380, 570, 760, 950), False),  # a steady source with few records may stand there
        ((1900, 1919, 1938, 2907, 3876), False),  # too small to be no chance
    ],
)
def test_counters_that_stand_at_multiples_only_are_bursts(
    counts: tuple[int, ...], *, bursts: bool
) -> None:
    """So many records come at once, as often as their number and the rate say."""
    steady = _source(pressed=(0.0,) * 4, makes_up=False)
    subtask = steady.subtasks[0]
    samples = tuple(
        replace(one, values=dict(one.values) | {"numRecordsOut": float(count)})
        for one, count in zip(subtask.samples, counts, strict=True)
    )
    found = course_of(replace(steady, subtasks=(replace(subtask, samples=samples),)))
    if not bursts:
        assert found is None or found.value[0].factor < 3
        return
    assert found is not None
    begin, end, again = found.value
    assert (begin.at_ns, end.factor, again.factor) == (0, 0.0, begin.factor)
    assert again.at_ns == pytest.approx(8e9 * 750 / 4500, rel=1e-6)
    assert begin.factor * end.at_ns == pytest.approx(again.at_ns, rel=1e-3)


def test_the_clock_of_a_source_without_a_busy_time_is_that_of_other_tasks(tmp_path: Path) -> None:
    """A source of the old interface has "NaN" there. Its rate is what it was with a busy time."""

    def without_busy(metrics: list[dict[str, str]]) -> list[dict[str, str]]:
        return [
            one | {"value": "NaN"} if one["id"].endswith(".accumulateBusyTimeMs") else one
            for one in metrics
        ]

    whole = read_recording(SHIPPED / "job08")
    [_, rated] = [v for v in whole.vertices if not v.inputs]
    folder = changed(copied("job08", tmp_path), f"/vertices/{rated.id}/metrics?", without_busy)
    [_, torn] = [v for v in read_recording(folder).vertices if not v.inputs]
    before, after = rates_of(rated).value, rates_of(torn).value
    assert before is not None
    assert after == pytest.approx(before, rel=0.02)
    late = [one.at_ms - torn.subtasks[0].samples[0].at_ms for one in torn.subtasks[0].samples]
    clock = times_of(torn.subtasks[0])
    assert clock is not None
    assert clock.clock_ms != pytest.approx(late[-1], rel=0.005)
