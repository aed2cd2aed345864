"""Which assumptions an answer about a job rests on, and how it moves with the weightiest one.

The one that counts most belongs to the longest part of the slowest checkpoint.  It is halved and
doubled in runs of few checkpoints, which take at most a stated part of the first run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import median_low
from typing import cast

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.dialect import BYTE_RATE_UNITS, duration_text, units
from ckptsim.scenarios.job import Backend, Job, Mode, Plane, Vertex
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.infer.advice.budget import loads_of, records_per_s
from ckptsim.sim.job.buffers.constants import constants_of, slots_of
from ckptsim.sim.job.graph import Graph
from ckptsim.sim.rows import CheckpointRow, RunResult
from ckptsim.sim.run_spec import prefer_processes
from ckptsim.sim.world import run_world

# Two more runs take at most this part of the first one, or so many records where that is more.
_PART, _RECORDS = 0.25, 100_000
# What it takes to build a channel, in records.
_CHANNEL = 10
# Completed checkpoints that are compared: more say little more about a median.
_COMPARED = 5
# A vertex with this load makes barriers wait. Below it they wait for the machine.
_LOADED = 0.5
_FACTORS = (0.5, 2.0)
_SECOND_NS, _MB = 1_000_000_000, 1_000_000
_NAMES = ("halved", "doubled")


@dataclass(frozen=True, slots=True)
class Weightiest:
    """The assumption that counts most: its parameter, its value in words and as a number."""

    path: str
    says: str
    value: float

    @property
    def key(self) -> str:
        """The parameter as people write it."""
        return self.path.removesuffix("_ns").removesuffix("_bytes_per_s")

    def times(self, scenario: Scenario, factor: float) -> Scenario:
        """Return a scenario with so many times the value."""
        value = self.value * factor
        value = max(1, round(value)) if isinstance(self.value, int) else value
        return with_parameters(scenario, {self.path: value}, source="assumptions")


def assumptions(
    scenario: Scenario, result: RunResult | None = None, *, most_records: int = _RECORDS
) -> list[str]:
    """Return what an answer about a job rests on, and how it moves, in one sentence each.

    result: a run of it, which is made where there is none and it is short.  most_records: that all
    runs may take, whatever the first one took.  Nothing of other models, nor of the plane on which
    no costs are calibrated.
    """
    job = scenario.model
    if not isinstance(job, Job) or job.plane is not Plane.BUFFERS:
        return []
    says = [f"rests on: {'; '.join(_taken(job))}"]
    if not job.checkpointing.coordinated:
        return says
    if result is None:
        result = _short_run(scenario, most_records)
    if result is None:
        return [*says, _not_simulated("job.machine.cost_factor")]
    return [*says, _moved(scenario, result, most_records)]


def _taken(job: Job) -> Iterator[str]:
    """Yield each value that is a default, with its parameter."""
    constants = constants_of(job)
    if job.machine.cores is None:
        each = "" if constants.cores != slots_of(job) else ", one for each slot"
        yield f"{constants.cores} processors{each} (job.machine.cores)"
    cost = duration_text(_per_mb_ns(job))
    yield f"a core writes 1 MB of state in {cost} (job.machine.cost_factor)"
    if job.storage.write_bytes_per_s is None and job.storage.write_host_bytes_per_s is None:
        yield "the storage has no limit (job.storage.write)"
    usual_ns = Vertex(name="usual").service_ns
    usual = [v.name for v in job.vertices if not v.is_source and v.service_ns == usual_ns]
    if usual:
        more = f" and {len(usual) - 2} more" if len(usual) > 2 else ""
        yield f"1 ms for a record of {', '.join(usual[:2])}{more} (job.vertices[].service)"


def _per_mb_ns(job: Job) -> int:
    constants, on_disk = constants_of(job), job.state.backend is Backend.ROCKSDB
    return constants.sst_ns_per_mb if on_disk else constants.state_ns_per_mb


def _short_run(scenario: Scenario, most_records: int) -> RunResult | None:
    """Return a run of few checkpoints, None where that takes too many records."""
    job = cast("Job", scenario.model)
    table = job.checkpointing
    span_ns = min((_COMPARED + 1) * table.interval_ns, job.duration_ns)
    channels = len(Graph(job.spelled_out()).channels)
    if records_per_s(job) * span_ns / _SECOND_NS + channels * _CHANNEL > most_records / 3:
        return None
    short = _counted(scenario, min(_COMPARED, table.count or _COMPARED))
    return run_world(short, seed=0, judged=False, began=prefer_processes)


def _counted(scenario: Scenario, count: int) -> Scenario:
    job = cast("Job", scenario.model)
    checkpointing = replace(job.checkpointing, count=count)
    return replace(scenario, model=replace(job, checkpointing=checkpointing))


def _moved(scenario: Scenario, result: RunResult, most_records: int) -> str:
    """Return how the duration of checkpoints moves, simulated where that is cheap."""
    weightiest = _weightiest(scenario, result)
    rows = [row for row in result.checkpoints if row.status == "completed" and not row.inner]
    if not rows:
        return f"no checkpoint completes, so nothing says how much {weightiest.key} counts"
    count = _affordable(result, rows, most_records)
    if not count:
        return _not_simulated(weightiest.key)
    found = []
    for factor in _FACTORS:
        other = _counted(weightiest.times(scenario, factor), count)
        run = run_world(
            other, seed=result.run.seed, ties=result.run.ties, judged=False, began=prefer_processes
        )
        found.append(_median_text(run.checkpoints, count))
    moved = ", ".join(f"{name} {text}" for name, text in zip(_NAMES, found, strict=True))
    counted = "the first checkpoint" if count == 1 else f"the first {count} checkpoints"
    usual = _median_text(rows, count)
    return (
        f"{weightiest.says} ({weightiest.key}) counts most: {usual} as it is, {moved}, the median"
        f" of {counted}"
    )


def _not_simulated(path: str) -> str:
    return (
        f"{path} is not halved and doubled here, as that would take longer than a quarter of the"
        f" run; `ckptsim whatif JOB --vary {path}=...` does"
    )


def _affordable(result: RunResult, rows: list[CheckpointRow], most_records: int) -> int:
    """Return how many checkpoints two more runs may have."""
    records = sum(task.records for task in result.tasks)
    most_ns = max(_PART / 2, most_records / 2 / max(1, records)) * result.run.ended_ns
    return sum((row.completed_ns or 0) <= most_ns for row in rows[:_COMPARED])


def _median_text(rows: list[CheckpointRow], count: int) -> str:
    known = [row.duration_ns for row in rows if row.status == "completed" and row.duration_ns]
    return duration_text(median_low(known[:count])) if known else "none completed"


def _weightiest(scenario: Scenario, result: RunResult) -> Weightiest:
    """Return what the longest part of the slowest checkpoint depends on."""
    job = cast("Job", scenario.model)
    copying_ns = job.costs.snapshot_sync_ns
    match _longest_part(result):
        case "async":
            for key in ("write_bytes_per_s", "write_host_bytes_per_s"):
                rate = getattr(job.storage, key)
                # A core is slower than a higher limit.
                if rate is not None and rate * _per_mb_ns(job) < _MB * _SECOND_NS:
                    says = f"a storage that takes {units.write(rate, BYTE_RATE_UNITS)}"
                    return Weightiest(f"job.storage.{key}", says, rate)
        case "sync" if copying_ns:
            says = f"copying the state in {duration_text(copying_ns)}"
            return Weightiest("job.costs.snapshot_sync_ns", says, copying_ns)
        case "barriers" if job.checkpointing.mode is not Mode.UNALIGNED:
            busiest = _busiest(job)
            if busiest is not None:
                path = f"job.vertices[{busiest.name}].service_ns"
                says = f"{duration_text(busiest.service_ns)} for a record of {busiest.name}"
                return Weightiest(path, says, busiest.service_ns)
    return Weightiest("job.machine.cost_factor", "work of a core", job.machine.cost_factor)


def _longest_part(result: RunResult) -> str:
    """Return which part of the slowest checkpoint took longest, at its last subtask."""
    ended = [row for row in result.checkpoints if row.status == "completed"]
    slowest = max(ended, key=lambda row: row.duration_ns or 0, default=None)
    parts = [
        row
        for row in result.task_checkpoints
        if slowest is not None and row.checkpoint_id == slowest.checkpoint_id
    ]
    if not parts:
        return ""
    last = max(parts, key=lambda row: row.acknowledged_ns or 0)
    took_ns = {
        "async": last.async_ns,
        "sync": last.sync_ns,
        "barriers": last.start_delay_ns + last.alignment_ns,
    }
    return max(took_ns, key=took_ns.__getitem__)


def _busiest(job: Job) -> Vertex | None:
    """Return the vertex with the records that barriers wait for, None where there are few."""
    operators = [one for one in job.vertices if not one.is_source]
    if any(one.is_source and one.rate_per_s is None for one in job.vertices):
        return max(operators, key=lambda one: one.service_ns / one.parallelism, default=None)
    loads = loads_of(job)
    found = max(operators, key=lambda one: loads.get(one.name, 0.0), default=None)
    return found if found is not None and loads.get(found.name, 0.0) > _LOADED else None
