"""Simulate measured runs of state and storage, and read the measured figures out of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, TypeAlias

from ckptsim.scenarios.job.faults import CrashTask, CrashTaskManager
from ckptsim.sim.job.buffers.world import DataflowWorld
from ckptsim.sim.job.control.faults import NO_FAULTS, FaultPlan
from ckptsim.sim.kernel import Environment, fence
from ckptsim.sim.validate.predict import Prediction, prediction_of
from ckptsim.sim.validate.state.config import OPERATOR, machine_of, model_of, steady_from_ms
from ckptsim.sim.validate.state.measured import RECOVERY, STEADY, StateRun
from ckptsim.sim.validate.statistics import middle

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Job
    from ckptsim.scenarios.job.faults import JobFault
    from ckptsim.sim.job.buffers.constants import Constants
    from ckptsim.sim.job.control.checkpoint import CheckpointRecord

_MS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """The blocks of a measurement. An empty one is not there."""

    steady: Mapping[str, Any]
    recovery: Mapping[str, Any]


StatePrediction: TypeAlias = Prediction[StateRun, Blocks]


def predict_state(run: StateRun, *, seeds: int) -> StatePrediction:
    """Predict one run: the middle of several seeds."""

    def simulate(models: Sequence[Job]) -> Blocks:
        found = [_simulate(models[0], run, seed) for seed in range(1, seeds + 1)]
        recoveries = [one for _, one in found if one is not None]
        steady = middle([one for one, _ in found])
        return Blocks(steady=steady, recovery=middle(recoveries) if recoveries else {})

    return prediction_of(run, lambda: [model_of(run.config, run.phase_ms)], simulate)


def _simulate(model: Job, run: StateRun, seed: int) -> tuple[dict[str, Any], dict[str, Any] | None]:
    begin_ns = round(steady_from_ms(run.config) * _MS)
    constants = machine_of(run.config, run.jobs_before)
    world = _run(model, seed, constants)
    fault = _fault(world, run, begin_ns)
    if fault is None:
        return _steady(_completed(world, begin_ns), model), None
    world = _run(model, seed, constants, FaultPlan((fault,)))
    before = [one for one in _completed(world, begin_ns) if one.attempt == 1]
    return _steady(before, model), _recovery(world)


def _run(
    model: Job, seed: int, constants: Constants, faults: FaultPlan = NO_FAULTS
) -> DataflowWorld:
    with fence():
        world = DataflowWorld(Environment(seed), model, constants, faults=faults)
        world.run()
    return world


def _completed(world: DataflowWorld, begin_ns: int) -> list[CheckpointRecord]:
    """Return the completed checkpoints of the steady phase, in the order of their triggers."""
    records = world.coordinator.records.values()
    return [one for one in records if one.status == "completed" and one.triggered_ns >= begin_ns]


def _fault(world: DataflowWorld, run: StateRun, begin_ns: int) -> JobFault | None:
    """Return the failure of a run, which strikes so long after a checkpoint was completed."""
    after_ms = run.config.get("failed_after_completion_of_restored_checkpoint_ms")
    failures = run.config.get("failures") or ()
    if not failures or after_ms is None:
        return None
    wanted, failed_ms = failures[0], run.recovery.get("failed_at_ms")
    if failed_ms is None:
        later_ms = float(wanted.get("at_ms") or 0) - float(wanted.get("after_checkpoint_ms") or 0)
    else:
        later_ms = failed_ms - float(after_ms) - run.config["interval_ms"] / 2
    for one in _completed(world, begin_ns):
        ended_ns = one.triggered_ns + (one.duration_ns or 0)
        if ended_ns >= begin_ns + later_ms * _MS:
            place: dict[str, Any] = {
                "vertex": OPERATOR,
                "subtask": int(wanted.get("subtask") or 0),
                "at_ns": ended_ns + round(float(after_ms) * _MS),
            }
            return CrashTaskManager(**place) if wanted["kind"] == "tm" else CrashTask(**place)
    return None


def _steady(records: Sequence[CheckpointRecord], model: Job) -> dict[str, Any]:
    """Return the figures of the steady phase. The first checkpoint still has older updates."""
    gaps = [(b.triggered_ns - a.triggered_ns) / _MS for a, b in pairwise(records)]
    if model.state.incremental:
        records, gaps = records[1:], gaps[1:]
    if not records:
        return dict.fromkeys(STEADY)
    parts = [[part for part, _ in one.parts.values()] for one in records]
    inline = model.storage.inline_threshold_bytes
    uploaded = [[size for part in own for size in part.uploaded] for own in parts]
    return {
        "end_to_end_ms": median((one.duration_ns or 0) / _MS for one in records),
        "sync_ms": median(max(part.sync_ns for part in own) / _MS for own in parts),
        "async_ms": median(max(part.async_ns for part in own) / _MS for own in parts),
        "state_bytes": median(sum(part.full_bytes for part in own) for own in parts),
        "checkpointed_bytes_min": min(sum(sizes) for sizes in uploaded),
        "checkpointed_bytes_mean": fmean(sum(sizes) for sizes in uploaded),
        "files_created": fmean(sum(size > inline for size in sizes) for sizes in uploaded),
        "trigger_gap_ms": fmean(gaps) if gaps else None,
    }


def _recovery(world: DataflowWorld) -> dict[str, Any]:
    """Return the figures of the only failure."""
    record = world.control.failovers[0]
    restarted = record.restarted

    def since_ms(at_ns: int | None) -> float | None:
        return None if at_ns is None else (at_ns - record.failed_ns) / _MS

    names = [world.graph.tasks[number] for number in restarted]
    return dict(
        zip(
            RECOVERY,
            (
                since_ms(record.running_ns),
                None if record.restore_ns is None else record.restore_ns / _MS,
                record.bytes_read,
                record.reprocessed,
                since_ms(record.caught_up_ns),
                [f"{task.vertex.name}#{task.subtask}" for task in names],
            ),
            strict=True,
        )
    )
