"""Simulate measured runs with failures, each with several seeds, and merge what the seeds give.

From a run come its configuration, when it failed, and the phase of the periodic trigger in each
attempt, as the checkpoint shows that was restored. For a resubmission how long a client took.

Right is a downtime within max(15 %, 200 ms), records done again within max(10 %, 300), a time until
caught up within max(10 %, 350 ms).  The mean error of the latter is over max(measured, 2 s), the
one of the peak latency over the measured values.  The downtime of a resubmission is given, so it is
no prediction and counts nowhere.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeAlias

from ckptsim.scenarios.job import Job
from ckptsim.scenarios.job.faults import CrashTask, CrashTaskManager, JobFault
from ckptsim.sim.job.buffers.constants import RIG, Constants
from ckptsim.sim.job.buffers.halt import cancel_all_but
from ckptsim.sim.job.buffers.kinds import Kind
from ckptsim.sim.job.buffers.restoring import LATER
from ckptsim.sim.job.buffers.restoring.caught_up import note_latencies
from ckptsim.sim.job.buffers.restoring.rescale import rescaled
from ckptsim.sim.job.buffers.world import DataflowWorld
from ckptsim.sim.job.control.checkpoint import JobCheckpoint
from ckptsim.sim.job.control.failover import FailoverRecord
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.graph import Graph
from ckptsim.sim.kernel import Environment, fence
from ckptsim.sim.validate.config import recovering_model_of
from ckptsim.sim.validate.predict import Prediction, prediction_of
from ckptsim.sim.validate.recoveries.measured import Figures, Given, RecoveryRun
from ckptsim.sim.validate.score import Bound, Pair, Share, mean

_MS = 1_000_000
RecoveryPrediction: TypeAlias = Prediction[RecoveryRun, tuple[Figures, ...]]


def with_parallelism(model: Job, parallelism: int) -> Job:
    """Return the job with another parallelism of all operators. Sources keep their own."""
    vertices = tuple(
        vertex if vertex.is_source else replace(vertex, parallelism=parallelism)
        for vertex in model.vertices
    )
    return replace(model, vertices=vertices)


def resubmitted(
    model: Job, parallelism: int, given: Given, constants: Constants, seed: int
) -> tuple[FailoverRecord, int | None]:
    """Return what the resubmission took, and its checkpoint's trigger. Raises LookupError."""
    downtime_ns = round((given.downtime_ms or 0) * _MS)
    start_ns = 0
    for _ in range(2):
        record, triggered_ns = _once(model, parallelism, given, constants, (seed, start_ns))
        if record.first_record_ns is None:
            raise LookupError("the job takes no record after its resubmission")
        start_ns += record.first_record_ns - record.failed_ns - downtime_ns
    return record, triggered_ns


def _once(
    model: Job, parallelism: int, given: Given, constants: Constants, run: tuple[int, int]
) -> tuple[FailoverRecord, int | None]:
    """Run both jobs. run: the seed, and how long the second one takes to its first record."""
    seed, start_ns = run
    at_ns, until_ns = round(given.at_ms * _MS), round(given.until_ms * _MS)
    phases = [] if given.restored is None else [round(given.restored[1] * _MS)]
    env = Environment(seed)
    canceled = replace(model, duration_ns=at_ns + LATER.cancel_ns)
    first = DataflowWorld(env, canceled, constants, phases=phases)
    first.run()
    if first.compiled is not None:
        first.compiled.give_back_streams()  # the second job draws from the same ones
    checkpoint = _latest(first)
    emitted = sum(first.positions().values())
    cancel_all_but(env, (), env.event())
    again_ns = at_ns + round((given.downtime_ms or 0) * _MS) - start_ns
    waiting = env.event()
    env.call_at(max(env.now, again_ns), Kind.MEASURE, env.entity("client"), waiting.succeed)
    env.run(until=waiting)
    other = replace(with_parallelism(model, parallelism), duration_ns=until_ns)
    restored = rescaled(checkpoint, first.graph, Graph(other)).checkpoint
    second = DataflowWorld(env, other, constants, restored=restored)
    second.run()
    record = FailoverRecord(1, "cancelled and submitted again", at_ns)
    record.reprocessed = emitted - sum(checkpoint.positions.values())
    if second.timed is not None:
        note_latencies([record], second.timed.lateness, until_ns, LATE_NS)
    return record, first.coordinator.records[checkpoint.checkpoint_id].triggered_ns


def _latest(world: DataflowWorld) -> JobCheckpoint:
    kept = world.coordinator.completed
    if not kept:
        raise LookupError("the job has completed no checkpoint when it is cancelled")
    return kept[max(kept)]


# The machine on which recoveries were measured: a service of 1 ms takes 1.4 % more, handling
# included.  Source: the README of tests/data, on `flink/recovery.jsonl`.
MACHINE = replace(RIG, park_overshoot_ns=12_000)
# How late records are of a job that has caught up.  Source: how these recoveries were measured.
LATE_NS = 200 * _MS
# A checkpoint of the simulation is the one that was restored when their triggers are this near.
_NEAR_NS = 300 * _MS


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """What one seed gave: figures per recovery, and whether each restored the restored data."""

    figures: tuple[Figures, ...]
    same: tuple[bool, ...]


def predict_recovery(run: RecoveryRun, *, seeds: int) -> RecoveryPrediction:
    """Predict one run: a figure per recovery."""
    if _is_resubmission(run) and len(run.recoveries) > 1:
        return Prediction(run=run, reason="more than one resubmission in a run")
    duration_ns = round(run.recoveries[-1].given.until_ms * _MS)
    given = [one.given for one in run.recoveries]

    def simulate(models: Sequence[Job]) -> tuple[Figures, ...]:
        return _merged([_simulate(models[0], run, given, seed) for seed in range(1, seeds + 1)])

    return prediction_of(
        run, lambda: [recovering_model_of(run.config, duration_ns=duration_ns)], simulate
    )


def _simulate(model: Job, run: RecoveryRun, given: Sequence[Given], seed: int) -> Seed:
    if _is_resubmission(run):
        return _resubmit(model, run, given[0], seed)
    phases = [round(one.restored[1] * _MS) for one in given if one.restored is not None]
    with fence():
        world = DataflowWorld(
            Environment(seed),
            model,
            MACHINE,
            faults=FaultPlan(tuple(_fault(model, run, one) for one in given)),
            phases=phases,
        )
        world.run()
    if world.timed is not None:
        note_latencies(world.control.failovers, world.timed.lateness, world.env.now, LATE_NS)
    return Seed(
        figures=tuple(_figures_of(world.control.failovers[index]) for index in range(len(given))),
        same=tuple(_same(world, one, index) for index, one in enumerate(given)),
    )


def _is_resubmission(run: RecoveryRun) -> bool:
    return bool(run.config["failure"]["kind"] == "cancel_and_resubmit")


def _resubmit(model: Job, run: RecoveryRun, given: Given, seed: int) -> Seed:
    parallelism = int(run.config.get("rescale_to") or 0)
    with fence():
        record, triggered_ns = resubmitted(model, parallelism, given, MACHINE, seed)
    return Seed(figures=(_figures_of(record),), same=(_near(triggered_ns, given),))


def _fault(model: Job, run: RecoveryRun, given: Given) -> JobFault:
    last = model.vertices[-1].name
    at_ns = round(given.at_ms * _MS)
    if run.config["failure"]["kind"] == "task_manager_lost":
        return CrashTaskManager(vertex=last, subtask=0, at_ns=at_ns)
    return CrashTask(vertex=last, subtask=0, at_ns=at_ns)


def _same(world: DataflowWorld, given: Given, index: int) -> bool:
    number = world.control.failovers[index].restored
    return _near(None if number is None else world.coordinator.records[number].triggered_ns, given)


def _near(triggered_ns: int | None, given: Given) -> bool:
    if triggered_ns is None or given.restored is None:
        return triggered_ns is None and given.restored is None
    return abs(triggered_ns - given.restored[1] * _MS) <= _NEAR_NS


def _figures_of(one: FailoverRecord) -> Figures:
    return Figures(
        downtime_ms=_since(one.first_record_ns, one.failed_ns),
        reprocessed_records=one.reprocessed,
        peak_latency_ms=_since(one.peak_latency_ns, 0),
        catch_up_duration_ms=_since(one.caught_up_ns, one.failed_ns),
    )


def _since(end_ns: int | None, start_ns: int) -> float | None:
    return None if end_ns is None else (end_ns - start_ns) / _MS


def _merged(results: Sequence[Seed]) -> tuple[Figures, ...]:
    """Return the middle of the seeds that restored the measured checkpoint, if any, or of all."""
    found = []
    for index in range(len(results[0].figures)):
        same = [one.figures[index] for one in results if one.same[index]]
        kept = same or [one.figures[index] for one in results]
        middles = {
            field.name: _middle([getattr(one, field.name) for one in kept])
            for field in fields(Figures)
        }
        found.append(Figures(**middles))
    return tuple(found)


def _middle(values: Sequence[float | None]) -> float | None:
    """Return the median, None where most seeds have nothing."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if 2 * len(known) > len(values) else None


LEAST_CATCH_UP_MS = 2_000.0


DOWNTIME = Bound(relative=0.15, absolute=200.0)
REPROCESSED = Bound(relative=0.10, absolute=300.0)
CATCH_UP = Bound(relative=0.10, absolute=350.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryLine:
    """One recovery, predicted and measured, or None. came: whether both caught up."""

    name: str
    downtime: Pair | None
    reprocessed: Pair | None
    peak_latency: Pair | None
    catch_up: Pair | None
    came: tuple[bool, bool] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryScore:
    """All comparisons. skipped: runs that could not be simulated."""

    lines: tuple[RecoveryLine, ...]
    skipped: tuple[RecoveryPrediction, ...]

    @property
    def downtime(self) -> Share:
        """Downtimes that are right."""
        return _share(DOWNTIME, (line.downtime for line in self.lines))

    @property
    def reprocessed(self) -> Share:
        """Numbers of records done again that are right."""
        return _share(REPROCESSED, (line.reprocessed for line in self.lines))

    @property
    def catch_up(self) -> Share:
        """Times until caught up that are right. One that came on one side only is wrong."""
        found = _share(CATCH_UP, (line.catch_up for line in self.lines))
        missed = sum(1 for line in self.lines if line.came in ((True, False), (False, True)))
        return Share(right=found.right, count=found.count + missed)

    @property
    def catch_up_error(self) -> float:
        """Mean error of the times until caught up, over max(measured, 2 s)."""
        return mean(
            abs(pair.predicted - pair.measured) / max(pair.measured, LEAST_CATCH_UP_MS)
            for pair in (line.catch_up for line in self.lines)
            if pair is not None
        )

    @property
    def peak_error(self) -> float:
        """Mean relative error of the peak latencies."""
        pairs = (line.peak_latency for line in self.lines)
        return mean(abs(pair.error) for pair in pairs if pair is not None)


def score_recoveries(predictions: Sequence[RecoveryPrediction]) -> RecoveryScore:
    """Compare every prediction with its measurement, in order."""
    return RecoveryScore(
        lines=tuple(
            line for one in predictions if one.found for line in _lines(one.run, one.found)
        ),
        skipped=tuple(one for one in predictions if one.reason is not None),
    )


def _lines(run: RecoveryRun, figures: Sequence[Figures]) -> Iterable[RecoveryLine]:
    for index, (ours, one) in enumerate(zip(figures, run.recoveries, strict=True)):
        theirs, paced = one.figures, one.figures.peak_latency_ms is not None
        came = (ours.catch_up_duration_ms is not None, theirs.catch_up_duration_ms is not None)
        told = one.given.downtime_ms is not None
        yield RecoveryLine(
            name=f"{run.run_id} failure {index + 1}",
            downtime=None if told else _pair(ours, theirs, "downtime_ms"),
            reprocessed=_pair(ours, theirs, "reprocessed_records"),
            peak_latency=_pair(ours, theirs, "peak_latency_ms"),
            catch_up=_pair(ours, theirs, "catch_up_duration_ms"),
            came=came if paced else None,
        )


def _pair(ours: Figures, theirs: Figures, name: str) -> Pair | None:
    predicted, measured = getattr(ours, name), getattr(theirs, name)
    if predicted is None or measured is None:
        return None
    return Pair(float(predicted), float(measured))


def _share(bound: Bound, pairs: Iterable[Pair | None]) -> Share:
    kept = [pair for pair in pairs if pair is not None]
    return Share(right=sum(bound.holds(pair) for pair in kept), count=len(kept))


_NOTHING = "-"


def recovery_lines(found: RecoveryScore) -> list[str]:
    """Return a table of all recoveries, predicted / measured, and the shares below it."""
    head = (
        f"{'recovery':32}{'downtime ms':>16}{'done again':>16}{'peak ms':>16}{'caught up ms':>18}"
    )
    lines = [head, *(_row(line) for line in found.lines), ""]
    lines += [
        f"downtime within max(15 %, 200 ms): {found.downtime}",
        f"records done again within max(10 %, 300): {found.reprocessed}",
        f"caught up within max(10 %, 350 ms): {found.catch_up}",
        f"caught up: mean error {100 * found.catch_up_error:.2f} % of max(measured, 2 s)",
        f"peak latency: mean error {100 * found.peak_error:.2f} %",
    ]
    lines += [f"not simulated: {one.run.run_id}: {one.reason}" for one in found.skipped]
    return lines


def _row(line: RecoveryLine) -> str:
    came = line.came
    caught = _shown(line.catch_up)
    if line.catch_up is None and came is not None and came[0] != came[1]:
        caught = "came / never" if came[0] else "never / came"
    return (
        f"{line.name:32}{_shown(line.downtime):>16}{_shown(line.reprocessed):>16}"
        f"{_shown(line.peak_latency):>16}{caught:>18}"
    )


def _shown(pair: Pair | None) -> str:
    return _NOTHING if pair is None else f"{pair.predicted:.0f} / {pair.measured:.0f}"
