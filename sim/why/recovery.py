"""The path of a recovery: from a failure until no record is late any more."""

from __future__ import annotations

from collections.abc import Sequence

from ckptsim.models.recovery import restart
from ckptsim.scenarios.job import Backend, Plane
from ckptsim.sim.job.buffers.restoring.costs import FIRST, LATER
from ckptsim.sim.rows import RecoveryRow
from ckptsim.sim.why.answer import JOB, Cause, Place, Step, length, merged
from ckptsim.sim.why.failed import place_in
from ckptsim.sim.why.observed import Observed
from ckptsim.sim.why.path import step_of


def recovery_path(run: Observed, number: int) -> list[Step]:
    """Return the path of a recovery of a run, by its number from 1."""
    row = run.result.recoveries[number - 1]
    detected_ns = row.failed_ns if row.detected_ns is None else row.detected_ns
    steps = [step_of(place_in(run, row.cause), "detection", row.failed_ns, detected_ns)]
    at_ns = run.result.run.ended_ns if row.resumed_ns is None else row.resumed_ns
    delayed_ns = min(at_ns, detected_ns + _delay_ns(run, number, row))
    steps.append(step_of(JOB, "restart_delay", detected_ns, delayed_ns))
    if row.resumed_ns is None:
        return merged([*steps, step_of(JOB, "scheduling", delayed_ns, at_ns)])
    if row.state_read_ns is not None:
        at_ns = min(row.state_read_ns, row.resumed_ns + _deployment_ns(run, number))
    steps.append(step_of(JOB, "scheduling", delayed_ns, at_ns))
    restored = _restored(run, row)
    for until_ns in (row.state_read_ns, row.handed_over_ns):
        if until_ns is not None and until_ns > at_ns:
            steps.append(step_of(restored, "restore", at_ns, until_ns))
            at_ns = until_ns
    until_ns = row.caught_up_ns
    if until_ns is None and row.peak_latency_ns is not None:
        later = run.result.recoveries[number:]
        until_ns = later[0].failed_ns if later else run.result.run.ended_ns
    if until_ns is not None:
        busiest = max(run.places, key=run.busy)  # it has least room to catch up
        steps.append(step_of(busiest, "catch_up", at_ns, until_ns))
    return merged(steps)


def _delay_ns(run: Observed, number: int, row: RecoveryRow) -> int:
    """Return the delay that the restart strategy has asked for.

    One that grows is taken for the time until the restart less the cancellation.
    """
    parameters = run.job.restart.parameters
    if isinstance(parameters, (restart.FixedDelay, restart.FailureRate)):
        return parameters.delay_ns
    if isinstance(parameters, restart.ExponentialDelay):
        if row.resumed_ns is None:
            return run.result.run.ended_ns
        began_ns = row.failed_ns if row.detected_ns is None else row.detected_ns
        timed = run.job.recovery.timed and run.job.plane is Plane.BUFFERS
        costs = FIRST if number == 1 else LATER
        return max(0, row.resumed_ns - began_ns - (costs.restart_ns if timed else 0))
    return 0


def _deployment_ns(run: Observed, number: int) -> int:
    """Return how long tasks take from their scheduling to the beginning of their restore."""
    if run.job.plane is not Plane.BUFFERS or not run.job.recovery.timed:
        return 0
    costs = FIRST if number == 1 else LATER
    return costs.schedule_ns + costs.deploy_ns + costs.deploy_cost_ns


def _restored(run: Observed, row: RecoveryRow) -> Place:
    """Return the subtask that had most to read. JOB where none had any state.

    With local recovery only tasks of a task manager that is lost read state from the storage.
    """
    words = (row.restored_from or "").split()
    if words[:1] != ["checkpoint"]:
        return JOB
    parts, failed = run.parts.get(int(words[1]), {}), place_in(run, row.cause)
    if run.job.state.local_recovery and run.job.state.backend is not Backend.HEAP and failed != JOB:
        managers: dict[Place, int] = {task.place: task.task_manager for task in run.graph.tasks}
        near = {at: part for at, part in parts.items() if managers.get(at) == managers[failed]}
        parts = near or parts
    sizes = {place: part.state_bytes + part.persisted_bytes for place, part in parts.items()}
    return max(sizes, key=lambda place: sizes[place]) if sizes else JOB


def longest(path: Sequence[Step]) -> Cause | None:
    """Return the longest phase of a recovery."""
    sums: dict[str, int] = {}
    for step in path:
        sums[step.phase] = sums.get(step.phase, 0) + step.duration_ns
    if not sums:
        return None
    phase = max(sums, key=lambda one: sums[one])
    vertex, subtask = next(step.place for step in path if step.phase == phase)
    return Cause(vertex=vertex, subtask=subtask, phase=phase, share=sums[phase] / length(path))
