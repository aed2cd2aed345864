"""The plane of buffers: network, tasks, checkpoints, and how it ends."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, cast

from ckptsim.models.coordinator.plan import Rejected
from ckptsim.scenarios.job import Engine, Job, Skip
from ckptsim.scenarios.job.faults import JobFault
from ckptsim.scenarios.job.graph.planes import Plane
from ckptsim.scenarios.job.names import GOALS
from ckptsim.sim.job.buffers.tables import tables
from ckptsim.sim.job.buffers.world import DataflowWorld
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.control.started import refused, started_from
from ckptsim.sim.job.oracle.buffers.observed import BufferObserver
from ckptsim.sim.job.oracle.buffers.oracle import BufferOracle, journaled
from ckptsim.sim.job.vocabulary import BUFFERS as VOCABULARY
from ckptsim.sim.kernel import Environment, parse_ties
from ckptsim.sim.slots import ProtocolCores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.rows import RunResult, ViolationRow
    from ckptsim.sim.run_spec import RunSpec


def run(spec: RunSpec) -> RunResult:
    """Run one job to its end and return its tables."""
    env = spec.environment(GOALS[Plane.BUFFERS])
    env.count_entries()
    job = cast("Job", spec.scenario.model).spelled_out()
    restored = started_from(job)
    if isinstance(restored, Rejected):
        return refused(spec, env, restored)
    if spec.watch is not None:  # a watch sees all of it
        job = replace(job, skip=Skip.NEVER)
    world = _run(spec, env, job, restored)
    result = tables(spec, world)
    if spec.watch is not None and world.compiled is not None:
        result.violations += _partings(spec, job, restored, world)
    return result


def _run(
    spec: RunSpec, env: Environment, job: Job, restored: JobCheckpoint | None
) -> DataflowWorld:
    faults = FaultPlan(cast("tuple[JobFault, ...]", spec.scenario.faults))
    observer: Callable[[DataflowWorld], BufferObserver] = BufferObserver
    if spec.judged:
        observer = BufferOracle if spec.watch is None else journaled
    world = DataflowWorld(
        env,
        job,
        protocol=spec.cores,
        faults=faults,
        observer=observer,
        restored=restored,
        ignore=spec.ignore,
    )
    world.run()
    return world


def _partings(
    spec: RunSpec, job: Job, restored: JobCheckpoint | None, world: DataflowWorld
) -> Iterator[ViolationRow]:
    """Run a job of the kernel by the reference, too. Yield where they part, if they do.

    By their traces, which tell what control did, else by their journals, which tell what data did.
    """
    env = world.env
    other = Environment(spec.seed, parse_ties(spec.ties, spec.seed), keep_trace=spec.keep_trace)
    if spec.watch is not None:
        spec.watch.follow(other)
    reference = _run(spec, other, replace(job, engine=Engine.PROCESSES), restored)
    says = None
    if env.trace.digest() != other.trace.digest():
        both = zip_longest(env.trace.entries, other.trace.entries, fillvalue=(env.now, "the end"))
        one, two = next((pair for pair in both if pair[0] != pair[1]), ("other entries",) * 2)
        says = f"the kernel has {one}, where the reference has {two}"
    elif isinstance(world.observer, BufferOracle) and world.observer.journal is not None:
        says = world.observer.journal.parting(reference.observer.journal)  # type: ignore[attr-defined]
    if says is not None:
        yield spec.violation("both_drivers_give_one_run", env.now, says)


def senders_of(model: Job) -> dict[str, tuple[str, ...]]:
    """Return for each subtask, by its name in the trace, the sender of each of its channels.

    Subtasks come in the order of the job: sources first, then operators as they are declared.
    """
    world = DataflowWorld(Environment(0), model)
    return {
        task.entity.name: tuple(channel.subpartition.owner.entity.name for channel in task.channels)
        for task in world.tasks
    }


CORES = ProtocolCores

__all__ = ["CORES", "VOCABULARY", "DataflowWorld", "run", "senders_of"]
