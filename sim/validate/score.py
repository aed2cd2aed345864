"""How good predictions are: per run, per cell (the mean of its repeats), per family and mode.

A duration counts as right within max(10 %, 20 ms) of the measured median, bytes within max(10 %, 32
KiB). The mean absolute percentage error is over cells of more than 100 ms.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from ckptsim.sim.validate.measured import MeasuredJob, MeasuredRun
from ckptsim.sim.validate.predict import Job, Jobs, Prediction, Rates

RELATIVE = 0.10
ABSOLUTE_MS = 20.0
LONG_MS = 100.0
# What both sides must have for the ends of a bounded job to be compared.
_ENDS = (
    "last_record_processed_ms",
    "last_record_minus_source_end_ms",
    "job_finished_minus_source_end_ms",
    "source_finished_minus_end_ms",
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A predicted beside a measured number."""

    predicted: float
    measured: float

    @property
    def error(self) -> float:
        """The relative error, 0 where nothing was measured and nothing predicted."""
        if not self.measured:
            return 0.0 if not self.predicted else float("inf")
        return (self.predicted - self.measured) / self.measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """How far a prediction may be from the measured values: a share of it, or an amount."""

    relative: float = RELATIVE
    absolute: float

    def holds(self, pair: Pair) -> bool:
        """Return whether a prediction is near enough."""
        allowed = max(self.relative * abs(pair.measured), self.absolute)
        return abs(pair.predicted - pair.measured) <= allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How many of how many are right. `share` is 1 of none."""

    right: int
    count: int

    @property
    def share(self) -> float:
        """The share that is right."""
        return self.right / self.count if self.count else 1.0

    def __str__(self) -> str:
        return f"{self.right} of {self.count} ({100 * self.share:.0f} %)"


DURATION = Bound(absolute=ABSOLUTE_MS)
PERSISTED = Bound(absolute=32 * 1024)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A run or a cell: its figures, predicted and measured."""

    name: str
    family: str
    mode: str
    duration: Pair
    p95: Pair
    persisted: Pair
    processed: Pair
    start_delay: Pair
    alignment: Pair
    throughput: Pair | None

    @property
    def duration_right(self) -> bool:
        """Whether the median duration is right."""
        return DURATION.holds(self.duration)

    @property
    def persisted_right(self) -> bool:
        """Whether the persisted bytes are right."""
        return PERSISTED.holds(self.persisted)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEnding:
    """How one bounded job ended: times from the source's end to the last record and to the end.

    source_ms: from the end of a source subtask to its being finished, the longest of all.
    checkpoints: predicted and measured number of those triggered after the source's end.
    at_once: whether the job ended before the next tick of the periodic trigger.
    """

    name: str
    drain_ms: Pair
    finish_ms: Pair
    source_ms: Pair
    checkpoints: tuple[int, int]
    at_once: tuple[bool, bool]

    @property
    def right(self) -> bool:
        """Whether drain and end are right, and the way it ended."""
        near = Bound(absolute=2 * ABSOLUTE_MS).holds(self.finish_ms)
        return near and DURATION.holds(self.drain_ms) and self.at_once[0] is self.at_once[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """All comparisons. skipped: could not be simulated. empty: nothing predicted to complete."""

    runs: tuple[Line, ...]
    cells: tuple[Line, ...]
    endings: tuple[JobEnding, ...]
    skipped: tuple[Prediction[MeasuredRun, Jobs], ...]
    empty: tuple[str, ...]

    @property
    def duration_share(self) -> float:
        """Share of cells with a right duration."""
        right = sum(cell.duration_right for cell in self.cells)
        return Share(right=right, count=len(self.cells)).share

    @property
    def persisted_share(self) -> float:
        """Share of cells with right persisted bytes."""
        right = sum(cell.persisted_right for cell in self.cells)
        return Share(right=right, count=len(self.cells)).share

    @property
    def mean_error(self) -> float:
        """Mean absolute relative error of the durations of cells above 100 ms."""
        return mean_error(self.cells)


def mean_error(cells: Iterable[Line]) -> float:
    """Return the mean absolute relative error of durations above 100 ms, 0 when there are none."""
    return mean(abs(c.duration.error) for c in cells if c.duration.measured > LONG_MS)


def mean(values: Iterable[float]) -> float:
    """Return the mean, 0 of nothing."""
    kept = list(values)
    return statistics.fmean(kept) if kept else 0.0


def score(predictions: Sequence[Prediction[MeasuredRun, Jobs]]) -> Score:
    """Compare every prediction with its measurement."""
    runs = [line for p in predictions if p.found for line in _lines(p.run, p.found)]
    cells: dict[str, list[Line]] = {}
    ids = {p.run.run_id: p.run.cell_id for p in predictions}
    for line in runs:
        cells.setdefault(ids[line.name], []).append(line)
    return Score(
        runs=tuple(runs),
        cells=tuple(_cell(name, lines) for name, lines in cells.items()),
        endings=tuple(e for p in predictions if p.found for e in _endings(p.run, p.found)),
        skipped=tuple(p for p in predictions if p.reason is not None),
        empty=tuple(p.run.run_id for p in predictions if p.found and _is_empty(p.run, p.found)),
    )


def _lines(run: MeasuredRun, found: Jobs) -> list[Line]:
    job, predicted = run.jobs[0], found.jobs[0]
    measured = job.summary
    if measured is None or not _has_durations(measured) or not _has_durations(predicted):
        return []
    return [
        Line(
            name=run.run_id,
            family=run.family,
            mode=run.mode,
            duration=_pair(predicted, measured, "end_to_end_duration_ms", "median"),
            p95=_pair(predicted, measured, "end_to_end_duration_ms", "p95"),
            persisted=_pair(predicted, measured, "persisted_bytes", "median"),
            processed=_pair(predicted, measured, "processed_bytes", "median"),
            start_delay=_vertex_pair(predicted, measured, "max_start_delay_ms"),
            alignment=_vertex_pair(predicted, measured, "max_alignment_ms"),
            throughput=_throughput(found.rates[0], job),
        )
    ]


def _is_empty(run: MeasuredRun, found: Jobs) -> bool:
    measured, predicted = run.jobs[0].summary, found.jobs[0]
    return measured is not None and _has_durations(measured) and not _has_durations(predicted)


def _has_durations(summary: Mapping[str, Any]) -> bool:
    return "median" in (summary.get("end_to_end_duration_ms") or {})


def _pair(predicted: Job, measured: Mapping[str, Any], key: str, statistic: str) -> Pair:
    return Pair(_number(predicted, key, statistic), _number(measured, key, statistic))


def _number(summary: Mapping[str, Any], key: str, statistic: str) -> float:
    return float((summary.get(key) or {}).get(statistic) or 0.0)


def _vertex_pair(predicted: Job, measured: Mapping[str, Any], key: str) -> Pair:
    vertices = measured.get("vertices") or {}
    if not vertices:
        return Pair(0.0, 0.0)
    worst = max(vertices, key=lambda name: _number(vertices[name], key, "median"))
    ours = predicted["vertices"].get(worst, {})
    return Pair(_number(ours, key, "median"), _number(vertices[worst], key, "median"))


def _throughput(predicted: Rates, job: MeasuredJob) -> Pair | None:
    """Return the records per second of the last operator, all subtasks together."""
    tasks = (job.throughput or {}).get("tasks") or {}
    last = list(predicted)[-1]
    if not tasks.get(last):
        return None
    measured = sum(float(entry.get("records_per_s") or 0) for entry in tasks[last])
    return Pair(sum(predicted[last]), measured)


def _cell(name: str, lines: Sequence[Line]) -> Line:
    found: dict[str, Any] = {}
    for field in fields(Line):
        pairs = [value for line in lines if isinstance(value := getattr(line, field.name), Pair)]
        if pairs:
            found[field.name] = _mean(pairs)
    return replace(lines[0], name=name, **found)


def _mean(pairs: Sequence[Pair]) -> Pair:
    return Pair(
        statistics.fmean(pair.predicted for pair in pairs),
        statistics.fmean(pair.measured for pair in pairs),
    )


def _endings(run: MeasuredRun, found: Jobs) -> Iterable[JobEnding]:
    for number, predicted in enumerate(found.jobs):
        measured = run.jobs[number].finish
        if measured is None or any(
            side.get(key) is None for side in (predicted, measured) for key in _ENDS
        ):
            continue
        yield JobEnding(
            name=f"{run.run_id} job {number}",
            drain_ms=_field(predicted, measured, "last_record_minus_source_end_ms"),
            finish_ms=_field(predicted, measured, "job_finished_minus_source_end_ms"),
            source_ms=Pair(_source_ms(predicted), _source_ms(measured)),
            checkpoints=(len(_triggered_after(predicted)), len(_triggered_after(measured))),
            at_once=(_at_once(predicted), _at_once(measured)),
        )


def _field(predicted: Job, measured: Mapping[str, Any], key: str) -> Pair:
    return Pair(float(predicted[key]), float(measured[key]))


def _source_ms(finish: Mapping[str, Any]) -> float:
    """Return the longest time from the end of a source subtask to its being finished."""
    return float(max(max(times) for times in finish["source_finished_minus_end_ms"].values()))


def _triggered_after(finish: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return finish.get("checkpoints_triggered_after_source_end") or ()


def _at_once(finish: Mapping[str, Any]) -> bool:
    """Return whether a job ended without waiting for a tick after its last record."""
    last = max(max(times) for times in finish["last_record_processed_ms"].values())
    return not any(
        entry["status"] == "COMPLETED"
        and entry["trigger_ms"] > last + ABSOLUTE_MS
        and _on_tick(entry["trigger_ms"], finish)
        for entry in _triggered_after(finish)
    )


def _on_tick(trigger_ms: int, finish: Mapping[str, Any]) -> bool:
    """Return whether a trigger fits the phase of the periodic one before the source's end."""
    before, interval = (
        finish.get("last_trigger_before_source_end_ms"),
        finish.get("checkpoint_interval_ms"),
    )
    if before is None or not interval:
        return True
    apart = int(trigger_ms) - int(before)
    return bool(abs((apart + interval / 2) % interval - interval / 2) <= ABSOLUTE_MS)
