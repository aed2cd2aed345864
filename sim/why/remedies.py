"""What would shorten a checkpoint or a recovery, each simulated on the same seed.

A run is repeated as far as the checkpoint in question, with one change.  The work that this may
take is bounded by the records of the run, so a large run tries fewer changes, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, cast

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.dialect import size_text, units
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.job import Job, Mode, Plane
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.rows import RunResult
from ckptsim.sim.why.answer import Cause, Remedy, duration
from ckptsim.sim.why.observed import Observed

Run = Callable[[Scenario], RunResult]
Measure = Callable[[Observed], int | None]
Change = tuple[str, dict[str, Any]]

_TRIED_MAX = 3
# Records that all remedies together may simulate: some 2 s.  Measured on one core of a small
# machine: 15,000 a second on records, 135,000 on SimPy processes, 2 million in the compiled kernel.
_ON_RECORDS, _ON_PROCESSES, _COMPILED = 30_000, 270_000, 4_000_000


def remedies(
    scenario: Scenario,
    run: Observed,
    cause: Cause,
    *,
    until_ns: int,
    again: Run,
    measure: Measure,
) -> list[Remedy]:
    """Return changes with their effects, the most effective first.

    until_ns: how far a run must come.  again: runs a scenario with the seed of the run.
    measure: how long the same takes in another run, None where it does not complete.
    """
    ended_ns = max(1, run.result.run.ended_ns)
    reached = min(1.0, 1.5 * until_ns / ended_ns)
    records = max(1, round(reached * sum(row.records for row in run.result.tasks)))
    budget = _COMPILED if "compiled" in run.result.driver else _ON_PROCESSES
    if run.job.plane is not Plane.BUFFERS:
        budget = _ON_RECORDS
    found: list[Remedy] = []
    for says, change in list(changes(run, cause))[: min(_TRIED_MAX, budget // records)]:
        try:
            varied = _until(with_parameters(scenario, change), until_ns)
        except UserError:
            continue  # the job allows no such change
        effect_ns = measure(Observed(varied, again(varied)))
        found.append(Remedy(says=says, change=change, duration_ns=effect_ns))
    return sorted(found, key=lambda one: (one.duration_ns is None, one.duration_ns or 0))


def _until(scenario: Scenario, until_ns: int) -> Scenario:
    """Return a scenario that ends some time after an instant, where its plane has such an end."""
    job = cast("Job", scenario.model)
    if job.plane is not Plane.BUFFERS or until_ns <= 0:
        return scenario
    ends_ns = min(job.duration_ns, until_ns + until_ns // 2)
    return replace(scenario, model=replace(job, duration_ns=ends_ns))


def changes(run: Observed, cause: Cause) -> Iterator[Change]:
    """Yield what may help against a cause, the most likely first."""
    job, vertex = run.job, cause.vertex
    checkpointing = job.checkpointing
    match cause.phase:
        case "start_delay" | "alignment":
            yield from _of_queues(run, vertex)
        case "sync":
            yield "state that is copied on write", {f"job.vertices[{vertex}].snapshot_sync": "0 s"}
        case "async":
            yield from _of_uploads(run, cause)
        case "trigger_delay":
            if checkpointing.min_pause_ns:
                yield "no minimum pause", {"job.checkpointing.min_pause": "0 s"}
            if not checkpointing.unaligned:
                count = checkpointing.max_concurrent + 1
                yield f"{count} at once", {"job.checkpointing.max_concurrent": count}
        case "commit" if job.costs.completion_ns:
            half_ns = job.costs.completion_ns // 2
            yield f"{duration(half_ns)} to store", {"job.costs.completion": _time(half_ns)}
        case "detection":
            recovery = job.recovery
            timeout_ns, interval_ns = recovery.heartbeat_timeout_ns, recovery.heartbeat_interval_ns
            change = {
                "job.recovery.heartbeat_timeout": _time(timeout_ns // 4),
                "job.recovery.heartbeat_interval": _time(min(interval_ns, timeout_ns // 16)),
            }
            yield f"a heartbeat time-out of {duration(timeout_ns // 4)}", change
        case "restart_delay":
            yield "no restart delay", {"job.restart.delay": "0 s"}
        case "restore":
            yield from _of_restores(run)
        case "catch_up":
            half_ns = checkpointing.interval_ns // 2
            change = {"job.checkpointing.interval": _time(half_ns)}
            yield f"an interval of {duration(half_ns)}", change
            yield from _wider(run, vertex)
        case _:
            pass


def _of_queues(run: Observed, vertex: str | None) -> Iterator[Change]:
    checkpointing, network, channels = run.job.checkpointing, run.job.network, run.job.channels
    if checkpointing.mode is not Mode.UNALIGNED:
        change = {"job.checkpointing.mode": "unaligned", "job.checkpointing.max_concurrent": 1}
        yield "unaligned", change
    if run.job.plane is Plane.BUFFERS:
        if not network.debloat:
            yield "debloated buffers", {"job.network.debloat": True}
    elif channels.receiver_records > 1:
        fewer = channels.receiver_records // 2
        yield f"credit for {fewer} records", {"job.channels.receiver_records": fewer}
    yield from _wider(run, vertex)


def _wider(run: Observed, vertex: str | None) -> Iterator[Change]:
    """Yield twice the subtasks of an operator, unless something is notified of each subtask."""
    if vertex is None or run.graph.vertex(vertex).is_source:
        return
    found = run.graph.vertex(vertex)
    if found.service_factors or found.subtask_state_bytes or found.task_managers:
        return
    count = 2 * found.parallelism
    yield f"{count} subtasks of {vertex}", {f"job.vertices[{vertex}].parallelism": count}


def _of_uploads(run: Observed, cause: Cause) -> Iterator[Change]:
    storage, checkpointing, costs = run.job.storage, run.job.checkpointing, run.job.costs
    if run.job.plane is not Plane.BUFFERS:
        if costs.snapshot_async_ns:
            half_ns = costs.snapshot_async_ns // 2
            change = {"job.costs.snapshot_async": _time(half_ns)}
            yield f"{duration(half_ns)} for a snapshot", change
        return
    if storage.tail_ratio:
        yield "no file created late", {"job.storage.tail_ratio": 0.0}
    if storage.write_bytes_per_s is not None:
        rate = 2 * storage.write_bytes_per_s
        yield f"{size_text(rate)}/s written", {"job.storage.write": f"{rate} B/s"}
    if run.job.machine.cores is not None and run.job.machine.cores < len(run.places):
        yield f"{len(run.places)} processors", {"job.machine.cores": len(run.places)}
    if checkpointing.unaligned:
        yield "aligned", {"job.checkpointing.mode": "aligned"}
    yield from _wider(run, cause.vertex)


def _of_restores(run: Observed) -> Iterator[Change]:
    storage, costs = run.job.storage, run.job.costs
    if storage.read_bytes_per_s is not None and run.job.plane is Plane.BUFFERS:
        rate = 2 * storage.read_bytes_per_s
        yield f"{size_text(rate)}/s read", {"job.storage.read": f"{rate} B/s"}
    elif costs.restore_ns:
        half_ns = costs.restore_ns // 2
        yield f"{duration(half_ns)} to restore", {"job.costs.restore": _time(half_ns)}


def _time(time_ns: int) -> str:
    return units.write(time_ns, units.DURATION_UNITS)
