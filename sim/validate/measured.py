"""A measured run: one JSON object, with configuration, jobs and the measured values.

Percentiles interpolate linearly, the deviation is the sample's.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ckptsim.sim.validate.fields import CONFIG, FIGURE, Field

Stats = dict[str, float]


def stats(values: Sequence[float]) -> Stats:
    """Return n, median, percentiles, mean, deviation, least and largest. Only n when empty."""
    if not values:
        return {"n": 0}
    ordered = sorted(values)
    return {
        "n": len(ordered),
        "median": round(quantile(ordered, 0.5), 3),
        "p95": round(quantile(ordered, 0.95), 3),
        "p99": round(quantile(ordered, 0.99), 3),
        "mean": round(statistics.fmean(ordered), 3),
        "sd": round(_deviation(ordered), 3),
        "min": round(ordered[0], 3),
        "max": round(ordered[-1], 3),
    }


def _deviation(values: Sequence[float]) -> float:
    mean = statistics.fmean(values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    return math.sqrt(squares / max(1, len(values) - 1))


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of ascending values, between neighbours by linear interpolation."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def middle(found: Sequence[Any]) -> Any:
    """Merge results of several seeds: the median of every number, else the first result."""
    first = found[0]
    if isinstance(first, Mapping):
        return {key: middle([other[key] for other in found if key in other]) for key in first}
    if isinstance(first, list):
        if any(len(other) != len(first) for other in found):
            return first
        return [middle(items) for items in zip(*found, strict=True)]
    if isinstance(first, bool) or not all(isinstance(other, int | float) for other in found):
        return first
    value = statistics.median(found)
    return round(value) if all(isinstance(other, int) for other in found) else round(value, 3)


def correlation(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return Pearson's correlation, 0 where either side does not vary."""
    if len(ours) < 2 or len(set(ours)) == 1 or len(set(theirs)) == 1:
        return 0.0
    return statistics.correlation(ours, theirs)


def usual(found: Sequence[Any], kinds: Sequence[object]) -> list[Any]:
    """Return the results of the most frequent kind, the first of equals. kinds: one each."""
    counts = [kinds.count(kind) for kind in kinds]
    wanted = kinds[counts.index(max(counts))]
    return [result for result, kind in zip(found, kinds, strict=True) if kind == wanted]


# How the measured runs were made, for lines that do not say: completed checkpoints and warm-up.
_CHECKPOINTS = 14
_WARMUP = 2
_WARMUP_BOUNDED = 1

_CHECKPOINT = (
    Field("trigger_ms", "number", required=True, minimum=0),
    Field("status", "text", required=True),
    Field("warmup", "flag"),
)
_OF_SUBTASKS = Field("", "times", required=True)
_FINISH = (
    Field("source_end_of_data_ms", "object", each=_OF_SUBTASKS),
    Field("last_record_processed_ms", "object", each=_OF_SUBTASKS),
    Field("vertex_finished_ms", "object", each=_OF_SUBTASKS),
    Field("last_record_minus_source_end_ms", "number"),
    Field("job_finished_minus_source_end_ms", "number"),
    Field("last_trigger_before_source_end_ms", "number"),
    Field("checkpoint_interval_ms", "number"),
    Field("checkpoints_triggered_after_source_end", "list"),
)
_SPEEDS = Field("", "list", required=True, inside=(Field("records_per_s", "number", minimum=0),))
_JOB = (
    Field("running_ms", "number", minimum=0),
    Field("ran_ms", "number", minimum=0),
    Field("checkpoints", "list", inside=_CHECKPOINT),
    Field("summary", "object", each=FIGURE),
    Field("finish", "object", inside=_FINISH),
    Field(
        "throughput",
        "object",
        inside=(Field("window_ms", "times"), Field("tasks", "object", each=_SPEEDS)),
    ),
)
LINE = (
    Field("run_id", "text", required=True),
    Field("cell_id", "text"),
    Field("family", "text"),
    Field("config", "object", required=True, inside=CONFIG),
    Field("jobs", "list", inside=_JOB),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredJob:
    """One job of a measured run.

    summary: as measured, or rebuilt from the checkpoints where it is missing. finish: as measured,
    None where the job has none.  checkpoints: as measured, in the order of their triggers.
    first_trigger_ms: the phase of the periodic trigger, which Flink draws at random.
    completed, warmup: how long was measured.  source_ends_ms: per source, when its last subtask
    ended.  window_start_ms: when throughput began to be counted, since all tasks ran.  All other
    times count from submission. running_ms is when all tasks ran, ran_ms when the job was over or
    stopped (None if not told).
    """

    running_ms: int
    ran_ms: int | None
    first_trigger_ms: int | None
    completed: int
    warmup: int
    source_ends_ms: Mapping[str, int]
    checkpoints: tuple[Mapping[str, Any], ...]
    summary: Mapping[str, Any] | None
    finish: Mapping[str, Any] | None
    throughput: Mapping[str, Any] | None
    window_start_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRun:
    """One line."""

    run_id: str
    cell_id: str
    family: str
    config: Mapping[str, Any]
    jobs: tuple[MeasuredJob, ...]

    @property
    def mode(self) -> str:
        """The checkpoint mode."""
        return str(self.config["checkpoint"]["mode"])

    @property
    def bounded(self) -> bool:
        """Whether every source ends."""
        return all(source.get("stops_after_ms") is not None for source in self.config["sources"])


def run_of(entry: Mapping[str, Any]) -> MeasuredRun:
    """Return a line that has no problems as a run."""
    run_id = entry["run_id"]
    ends = [source.get("stops_after_ms") for source in entry["config"]["sources"]]
    usual = _WARMUP if None in ends else _WARMUP_BOUNDED
    jobs = tuple(_job(job, usual) for job in entry.get("jobs") or ())
    count = int(entry["config"].get("jobs_per_run") or 1)
    return MeasuredRun(
        run_id=run_id,
        cell_id=entry.get("cell_id") or run_id,
        family=entry.get("family") or "-",
        config=entry["config"],
        jobs=jobs or (_job({}, usual),) * count,
    )


def _job(job: Mapping[str, Any], usual_warmup: int) -> MeasuredJob:
    checkpoints = sorted(job.get("checkpoints") or (), key=lambda c: c["trigger_ms"])
    completed = [c for c in checkpoints if c["status"] == "COMPLETED"]
    finish = job.get("finish")
    ends = (finish or {}).get("source_end_of_data_ms") or {}
    warmup = _warmup(completed, usual_warmup)
    ran = job.get("ran_ms")
    running = int(job.get("running_ms") or 0)
    throughput = job.get("throughput")
    window = (throughput or {}).get("window_ms")
    return MeasuredJob(
        running_ms=running,
        ran_ms=None if ran is None else int(ran),
        first_trigger_ms=int(checkpoints[0]["trigger_ms"]) if checkpoints else None,
        completed=len(completed) or _CHECKPOINTS,
        warmup=warmup,
        source_ends_ms={name: int(max(times)) for name, times in ends.items() if times},
        checkpoints=tuple(checkpoints),
        summary=job.get("summary") or rebuilt_summary(completed[warmup:]),
        finish=finish,
        throughput=throughput,
        window_start_ms=max(0, int(window[0]) - running) if window else 0,
    )


def _warmup(completed: Sequence[Mapping[str, Any]], usual: int) -> int:
    """Return how many of the completed checkpoints belong to the warm-up, as usual if not told."""
    if any("warmup" in checkpoint for checkpoint in completed):
        return sum(1 for checkpoint in completed if checkpoint.get("warmup"))
    return min(usual, max(0, len(completed) - 1)) if completed else usual


Checkpoint = Mapping[str, Any]
_TIMES = ("end_to_end_ms", "start_delay_ms", "alignment_ms", "sync_ms", "async_ms")
BYTES = ("persisted_bytes", "processed_bytes", "checkpointed_bytes")


def rebuilt_summary(checkpoints: Sequence[Checkpoint]) -> dict[str, Any] | None:
    """Return the summary of measured checkpoints in trigger order, None without durations."""
    if not checkpoints or any(c.get("end_to_end_duration_ms") is None for c in checkpoints):
        return None
    names = dict.fromkeys(name for c in checkpoints for name in c.get("vertices") or {})
    parts = {name: [_measured_parts(one, name) for one in checkpoints] for name in names}
    return summary_of(checkpoints, {name: list(filter(None, own)) for name, own in parts.items()})


def _measured_parts(one: Checkpoint, name: str) -> list[Mapping[str, Any]]:
    return [part for part in (one.get("vertices") or {}).get(name, ()) if "end_to_end_ms" in part]


def summary_of(
    checkpoints: Sequence[Checkpoint], vertices: Mapping[str, Sequence[Sequence[Mapping[str, Any]]]]
) -> dict[str, Any]:
    """Return the summary of checkpoints. vertices: of each, the parts of its subtasks."""
    found: dict[str, Any] = {
        key: stats([float(c[key]) for c in checkpoints if c.get(key) is not None])
        for key in ("end_to_end_duration_ms", *BYTES)
    }
    gaps = [
        float(after["trigger_ms"] - before["trigger_ms"]) for before, after in pairwise(checkpoints)
    ]
    found["trigger_gap_ms"] = stats(gaps)
    found["vertices"] = {name: _vertex(parts) for name, parts in vertices.items()}
    return found


def _vertex(parts: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in _TIMES:
        longest = [float(max((p.get(key, 0) for p in own), default=0)) for own in parts]
        found[f"max_{key}"] = stats(longest)
    for key in BYTES:
        found[f"sum_{key}"] = stats([float(sum(p.get(key, 0) for p in own)) for own in parts])
    total = sum(len(own) for own in parts)
    unaligned = sum(1 for own in parts for part in own if part.get("unaligned"))
    found["unaligned_subtask_fraction"] = round(unaligned / total, 3) if total else 0.0
    return found
