"""Run a job scenario: the job itself, then restarts from its checkpoints as a probe."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, cast

from models.lifecycle import TaskLifecycle
from scenarios.job_faults import JobFault
from scenarios.job_names import GOALS
from scenarios.jobs import Job
from sim.jobs.faults import FaultPlan
from sim.jobs.snapshot import JobCheckpoint
from sim.jobs.tables import fill
from sim.jobs.world import JobWorld
from sim.kernel import Environment
from sim.rows import RunResult
from sim.twins.lifecycle import TWINS

if TYPE_CHECKING:
    from collections.abc import Callable

    from models.lifecycle import TaskParameters
    from sim.world import RunSpec


def run(spec: RunSpec) -> RunResult:
    """Run one job scenario to its end and return its tables."""
    env = spec.environment(GOALS)
    job = cast("Job", spec.scenario.model)
    faults = FaultPlan(cast("tuple[JobFault, ...]", spec.scenario.faults))
    world = JobWorld(env, job, faults, lifecycle_factory=_factory(spec))
    world.run()
    if world.ended:
        if not world.stopped_without_drain:
            world.check_output()
        _probe(spec, env, world)
    _record_output(env, world)
    return fill(spec, env, world)


def _factory(spec: RunSpec) -> Callable[[TaskParameters], TaskLifecycle]:
    if spec.core is not None:
        return cast("Callable[[TaskParameters], TaskLifecycle]", spec.core)
    if spec.twin is not None:
        return TWINS[spec.twin]
    return TaskLifecycle


def _probe(spec: RunSpec, env: Environment, world: JobWorld) -> None:
    """Restart from one kept checkpoint, chosen by chance, and compare the output at the end.

    The probe writes to the external system as it would be if nothing after the checkpoint had been.
    """
    kept = sorted(world.coordinator.completed)
    if world.stopped_without_drain and world.coordinator.stop_id is not None:
        kept = [world.coordinator.stop_id]
    if not kept:
        return
    chosen = kept[env.stream("probe").integer(0, len(kept) - 1)]
    checkpoint = world.coordinator.completed[chosen]
    other = _restart(spec, env, world, checkpoint)
    for name, _, says in other.violations:
        text = f"restarted from checkpoint {chosen}: {name}: {says}"
        world.violate("restored_checkpoint_gives_the_same_output", text)


def _restart(
    spec: RunSpec, env: Environment, world: JobWorld, checkpoint: JobCheckpoint
) -> JobWorld:
    pending = [name for snapshot in checkpoint.tasks.values() for name in snapshot.pending]
    external = world.external.fork(pending, checkpoint.checkpoint_id)
    other_env = Environment(spec.seed, env.ties)
    costs = replace(world.job.costs, notification_loss_ratio=0.0, notification_jitter_ns=0)
    other = JobWorld(
        other_env,
        replace(world.job, costs=costs),
        FaultPlan(()),
        lifecycle_factory=_factory(spec),
        restored=checkpoint,
        external=external,
        may_stop=world.is_endless,
    )
    other.run()
    if other.ended and not other.stopped_without_drain:
        other.check_output()
    return other


def _record_output(env: Environment, world: JobWorld) -> None:
    """Record the committed output, so that the digest speaks of every record."""
    for task in world.graph.vertices:
        found = sorted(world.external.committed(task.name).items())
        text = json.dumps(found, separators=(",", ":"))
        digest = blake2b(text.encode(), digest_size=8).hexdigest()
        env.trace.record("output", world.entity, task.name, digest)
