"""Simulate measured runs of state and storage, and read the measured figures out of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median
from typing import Any, TypeAlias

from ckptsim.scenarios.job import Job
from ckptsim.scenarios.job.faults import CrashTask, CrashTaskManager, JobFault
from ckptsim.sim.job.buffers.constants import Constants
from ckptsim.sim.job.buffers.world import DataflowWorld
from ckptsim.sim.job.control.checkpoint import CheckpointRecord
from ckptsim.sim.job.control.faults import NO_FAULTS, FaultPlan
from ckptsim.sim.kernel import Environment, fence
from ckptsim.sim.validate.measured import middle
from ckptsim.sim.validate.predict import Prediction, prediction_of
from ckptsim.sim.validate.score import Bound, Pair, Share
from ckptsim.sim.validate.state.measured import (
    OPERATOR,
    RECOVERY,
    STEADY,
    StateRun,
    machine_of,
    model_of,
    steady_from_ms,
)

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


BOUNDS: Mapping[str, Bound] = {
    "end_to_end_ms": Bound(relative=0.20, absolute=40.0),
    "sync_ms": Bound(relative=0.30, absolute=30.0),
    "async_ms": Bound(relative=0.20, absolute=40.0),
    "state_bytes": Bound(relative=0.05, absolute=0.0),
    "checkpointed_bytes_min": Bound(relative=0.10, absolute=0.0),
    "checkpointed_bytes_mean": Bound(relative=0.25, absolute=0.0),
    "files_created": Bound(relative=0.25, absolute=0.5),
    "trigger_gap_ms": Bound(relative=0.05, absolute=50.0),
    "running_again_after_ms": Bound(relative=0.10, absolute=150.0),
    "restore_ms": Bound(relative=0.10, absolute=100.0),
    "restore_read_bytes": Bound(relative=0.03, absolute=0.0),
    "records_again": Bound(relative=0.10, absolute=50.0),
    "record_age_back_after_ms": Bound(relative=0.15, absolute=500.0),
    "tasks_restarted": Bound(relative=0.0, absolute=0.0),
}
"""How far a prediction may be off: a share of what was measured, or an amount."""

_WIDTH = 30


def blocks_of(run: StateRun) -> dict[str, dict[str, Any]]:
    """Return the measurement of a run, with the keys that are predicted."""
    steady = {key: run.steady.get(key) for key in STEADY}
    recovery = {key: run.recovery.get(key) for key in RECOVERY}
    return {"steady": steady, "recovery": recovery if run.recovery else {}}


def predicted_of(one: StatePrediction) -> dict[str, dict[str, Any]]:
    """Return the prediction of a run, in the blocks of the measurement."""
    found = one.found
    if found is None:
        return {"steady": {}, "recovery": {}}
    return {"steady": dict(found.steady), "recovery": dict(found.recovery)}


def verdicts(one: StatePrediction) -> Iterator[tuple[str, Any, Any, bool]]:
    """Yield key, predicted, measured, and whether it is right, of all that was measured."""
    ours = predicted_of(one)
    for block, values in blocks_of(one.run).items():
        for key, measured in values.items():
            if measured is None:
                continue
            predicted = ours[block].get(key)
            if isinstance(measured, list):
                yield key, predicted, measured, sorted(predicted or ()) == sorted(measured)
            else:
                right = predicted is not None and BOUNDS[key].holds(Pair(predicted, measured))
                yield key, predicted, measured, right


def _shares(
    predictions: Sequence[StatePrediction], *, by_key: bool
) -> dict[tuple[str, ...], Share]:
    found: dict[tuple[str, ...], list[bool]] = {}
    for one in predictions:
        for key, _, _, right in verdicts(one):
            place = (one.run.family, key) if by_key else (one.run.family,)
            found.setdefault(place, []).append(right)
    return {key: Share(right=sum(all_), count=len(all_)) for key, all_ in sorted(found.items())}


def state_document(predictions: Sequence[StatePrediction]) -> dict[str, Any]:
    """Return the shares that are right, of all and by family."""
    families = {name[0]: one for name, one in _shares(predictions, by_key=False).items()}
    right, count = (sum(getattr(s, k) for s in families.values()) for k in ("right", "count"))
    return {
        "values": count,
        "right": right,
        "share": round(right / count, 4) if count else None,
        "families": {name: round(one.share, 4) for name, one in families.items()},
    }


def state_lines(predictions: Sequence[StatePrediction], *, runs: bool) -> list[str]:
    """Return a table of figures by family, and the values that are wrong. runs: all values."""
    lines = [f"{'family, figure':{_WIDTH}}{'right':>12}"]
    for (family, key), share in _shares(predictions, by_key=True).items():
        lines.append(f"{family + ' ' + key:{_WIDTH}}{f'{share.right} of {share.count}':>12}")
    for (family,), share in _shares(predictions, by_key=False).items():
        lines.append(f"family {family}: {share}")
    found = state_document(predictions)
    if found["share"] is not None:
        said = f"{found['right']} of {found['values']}"
        lines.append(f"right of all values: {said} ({100 * found['share']:.1f} %)")
    for one in predictions:
        for key, predicted, measured, right in verdicts(one):
            if runs or not right:
                mark = "" if right else "  off"
                said = f"{_text(predicted)} / {_text(measured)}{mark}"
                lines.append(f"{one.run.run_id + ' ' + key:{_WIDTH + 12}}{said}")
    lines += [f"not simulated: {p.run.run_id}: {p.reason}" for p in predictions if p.reason]
    return lines


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return str(len(value)) if isinstance(value, list) else f"{value:.0f}"
