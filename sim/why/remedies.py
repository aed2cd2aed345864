"""What would shorten a checkpoint or a recovery, each simulated on the same seed.

A run is repeated as far as the checkpoint in question, with one change.  The work that this may
take is bounded by the records of the run, so a large run tries fewer changes, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from ckptsim.models.recovery import restart
from ckptsim.scenarios import Scenario
from ckptsim.scenarios.dialect import size_text, units
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.job import Backend, Job, Mode, Plane
from ckptsim.scenarios.job.faults import (
    AtStorage,
    DelayAcknowledgement,
    DelayNotification,
    DelayPrecommit,
    DelayTrigger,
    SlowFile,
    StallTask,
)
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.rows import RunResult
from ckptsim.sim.why.answer import QUEUE, Cause, Remedy, duration, place_text
from ckptsim.sim.why.observed import Observed

Run = Callable[[Scenario], RunResult]
Measure = Callable[[Observed], int | None]
Change = tuple[str, dict[str, Any]]

_TRIED_MAX = 3
# Records that all remedies together may simulate: some 2 s.  Measured on one core of a small
# machine: 15,000 a second on records, 135,000 on SimPy processes, 4 million in the compiled kernel.
_ON_RECORDS, _ON_PROCESSES, _COMPILED = 30_000, 270_000, 8_000_000
_LATENCY_NS = 10_000_000  # of a network between data centres, which is worth a change
# Faults that have a length, the phase in which they show, and what they are without it.
_LONG: dict[type, tuple[str, str]] = {
    SlowFile: ("async", "file in time"),
    DelayTrigger: ("trigger_delay", "trigger in time"),
    DelayAcknowledgement: ("acknowledge", "acknowledgement in time"),
    DelayNotification: ("commit", "notification in time"),
    DelayPrecommit: ("commit", "files in time"),
}


def remedies(
    scenario: Scenario,
    wanted: Sequence[Change],
    run: Observed,
    *,
    until_ns: int,
    again: Run,
    measure: Measure,
) -> list[Remedy]:
    """Return changes with their effects, the most effective first.

    until_ns: how far a run must come.  again: runs a scenario with the seed of the run.
    measure: how long the same takes in another run, None where it does not complete.
    """
    found: list[Remedy] = []
    for says, change in wanted[: min(_TRIED_MAX, affordable(run, until_ns))]:
        try:
            varied = _until(with_parameters(scenario, change), until_ns)
        except UserError:
            continue  # the job allows no such change
        effect_ns = measure(Observed(varied, again(varied)))
        found.append(Remedy(says=says, change=change, duration_ns=effect_ns))
    return sorted(found, key=lambda one: (one.duration_ns is None, one.duration_ns or 0))


def affordable(run: Observed, until_ns: int) -> int:
    """Return how many runs as far as an instant may be simulated."""
    reached = min(1.0, 1.5 * until_ns / max(1, run.result.run.ended_ns))
    records = max(1, round(reached * sum(row.records for row in run.result.tasks)))
    budget = _COMPILED if "compiled" in run.result.driver else _ON_PROCESSES
    return (budget if run.job.plane is Plane.BUFFERS else _ON_RECORDS) // records


def _until(scenario: Scenario, until_ns: int) -> Scenario:
    """Return a scenario that ends some time after an instant, where its plane has such an end."""
    job = cast("Job", scenario.model)
    if job.plane is not Plane.BUFFERS or until_ns <= 0:
        return scenario
    ends_ns = min(job.duration_ns, until_ns + until_ns // 2)
    return replace(scenario, model=replace(job, duration_ns=ends_ns))


def changes(run: Observed, cause: Cause, *, failed: bool = False) -> Iterator[Change]:
    """Yield what may help against a cause, the most likely first.

    failed: a subtask or the coordinator has ended the checkpoint, for a reason of its own.
    """
    job, vertex = run.job, cause.vertex
    checkpointing = job.checkpointing
    faults = list(_without_faults(run, cause))
    yield from faults
    if failed or (faults and cause.phase == "trigger_delay"):
        if job.storage.failure_ratio and cause.phase == "async":
            yield "a storage without failures", {"job.storage.failure_ratio": 0.0}
        return
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
        case _:
            yield from _of_recoveries(run, cause)


def _of_recoveries(run: Observed, cause: Cause) -> Iterator[Change]:
    job = run.job
    match cause.phase:
        case "detection":
            recovery = job.recovery
            timeout_ns, interval_ns = recovery.heartbeat_timeout_ns, recovery.heartbeat_interval_ns
            change = {
                "job.recovery.heartbeat_timeout": _time(timeout_ns // 4),
                "job.recovery.heartbeat_interval": _time(min(interval_ns, timeout_ns // 16)),
            }
            yield f"a heartbeat time-out of {duration(timeout_ns // 4)}", change
        case "restart_delay":
            yield _sooner(job)
        case "restore":
            yield from _of_restores(run)
        case "catch_up":
            half_ns = job.checkpointing.interval_ns // 2
            change = {"job.checkpointing.interval": _time(half_ns)}
            yield f"an interval of {duration(half_ns)}", change
            yield from _wider(run, cause.vertex)
        case _:
            pass


def _without_faults(run: Observed, cause: Cause) -> Iterator[Change]:
    """Yield the run without the pauses of a subtask, or without what came late from it.

    A storage that was slow or failed is as usual.
    """
    for number, fault in enumerate(run.faults):
        if isinstance(fault, AtStorage) and cause.phase in ("async", "restore"):
            yield "the storage as usual", {f"faults[{number}].lasts": "0 s"}
        if (getattr(fault, "vertex", None), getattr(fault, "subtask", None)) != cause.place:
            continue
        if isinstance(fault, StallTask) and cause.phase in (*QUEUE, "trigger_delay"):
            yield f"no pause of {place_text(cause.place)}", {f"faults[{number}].lasts": "0 s"}
        phase, says = _LONG.get(type(fault), ("", ""))
        if phase == cause.phase:
            yield says, {f"faults[{number}].delay": "0 s"}


def _sooner(job: Job) -> Change:
    """Return a restart without its delay, or with a fourth of one that grows."""
    parameters = job.restart.parameters
    if not isinstance(parameters, restart.ExponentialDelay):
        return "no restart delay", {"job.restart.delay": "0 s"}
    names = ("initial_backoff", "max_backoff")
    change = {f"job.restart.{one}": _time(getattr(parameters, f"{one}_ns") // 4) for one in names}
    return "a fourth of the back-off", change


def _of_queues(run: Observed, vertex: str | None) -> Iterator[Change]:
    checkpointing, network, channels = run.job.checkpointing, run.job.network, run.job.channels
    if checkpointing.mode is not Mode.UNALIGNED:
        change = {"job.checkpointing.mode": "unaligned", "job.checkpointing.max_concurrent": 1}
        yield "unaligned", change
    if run.job.plane is Plane.BUFFERS:
        if network.latency_ns > _LATENCY_NS:
            half_ns = network.latency_ns // 2
            yield f"{duration(half_ns)} on the network", {"job.network.latency": _time(half_ns)}
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
    yield from _of_rates(run, "write")
    if run.job.machine.cores is not None and run.job.machine.cores < len(run.places):
        yield f"{len(run.places)} processors", {"job.machine.cores": len(run.places)}
    if checkpointing.unaligned:
        yield "aligned", {"job.checkpointing.mode": "aligned"}
    yield from _wider(run, cause.vertex)
    if storage.create_latency_ns:
        half_ns = storage.create_latency_ns // 2
        yield (
            f"{duration(half_ns)} to create a file",
            {"job.storage.create_latency": _time(half_ns)},
        )


def _of_rates(run: Observed, what: str) -> Iterator[Change]:
    """Yield twice each limit of the storage that a job has. what: `read` or `write`."""
    storage, done = run.job.storage, {"read": "read", "write": "written"}[what]
    for key, where in ((what, ""), (f"{what}_host", " by each host")):
        rate = getattr(storage, f"{key}_bytes_per_s")
        if rate is not None:
            yield (
                f"{size_text(2 * rate)}/s {done}{where}",
                {f"job.storage.{key}": f"{2 * rate} B/s"},
            )
    if storage.requests_per_s is not None:
        number = 2 * storage.requests_per_s
        yield f"{number:g} files a second", {"job.storage.requests": f"{number} /s"}


def _of_restores(run: Observed) -> Iterator[Change]:
    job, costs = run.job, run.job.costs
    if job.plane is Plane.BUFFERS:
        yield from _of_rates(run, "read")
        if job.state.backend is Backend.HEAP:
            yield "RocksDB", {"job.state.backend": "rocksdb"}
        elif not job.state.local_recovery:
            yield "local recovery", {"job.state.local_recovery": True}
        if job.storage.open_latency_ns:
            half_ns = job.storage.open_latency_ns // 2
            yield (
                f"{duration(half_ns)} to open a file",
                {"job.storage.open_latency": _time(half_ns)},
            )
    elif costs.restore_ns:
        half_ns = costs.restore_ns // 2
        yield f"{duration(half_ns)} to restore", {"job.costs.restore": _time(half_ns)}


def _time(time_ns: int) -> str:
    return units.write(time_ns, units.DURATION_UNITS)
