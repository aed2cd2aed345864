"""Run a job scenario: the job itself, then restarts from its checkpoints as a probe."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, cast

from ckptsim.models.coordinator.parameters import TEN_MINUTES_NS
from ckptsim.models.coordinator.plan import Rejected
from ckptsim.scenarios.job import Job
from ckptsim.scenarios.job.faults import JobFault
from ckptsim.scenarios.job.graph.planes import Plane
from ckptsim.scenarios.job.names import GOALS
from ckptsim.scenarios.severity import Severity, severity_of
from ckptsim.sim.job.control.checkpoint import JobCheckpoint
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.control.sinks.external import ExternalSystem
from ckptsim.sim.job.control.started import refused, started_from
from ckptsim.sim.job.records.tables import fill
from ckptsim.sim.job.records.world import RecordWorld
from ckptsim.sim.kernel import Environment
from ckptsim.sim.rows import RunResult

if TYPE_CHECKING:
    from ckptsim.sim.run_spec import RunSpec

_OF_WATERMARKS = ("restored_watermarks_stay_true", "event_time_ends_with_its_records")


def run(spec: RunSpec) -> RunResult:
    """Run one job scenario to its end and return its tables."""
    env = spec.environment(GOALS[Plane.RECORDS])
    job = cast("Job", spec.scenario.model).spelled_out()
    faults = FaultPlan(cast("tuple[JobFault, ...]", spec.scenario.faults))
    restored = started_from(job)
    if isinstance(restored, Rejected):
        return refused(spec, env, restored)
    world = RecordWorld(env, job, faults, cores=spec.cores, restored=restored, ignore=spec.ignore)
    spec.bound(env, world.control.end)
    world.run()
    if world.control.failed_while_stopping:
        _resume(spec, env, world)
    else:
        if world.ended:
            world.control.sinks.check_end([v.name for v in job.vertices if v.opens_after_finish])
        if world.ended and not world.stopped_without_drain:
            world.check_contents()
        _probe(spec, env, world)
    _record_output(env, world)
    env.finish()
    return fill(spec, world)


def _resume(spec: RunSpec, env: Environment, world: RecordWorld) -> None:
    """Restart from the savepoint of a stop that went wrong after it, as its user is asked to.

    The new job meets the external system as the failed one left it: some transactions of the
    savepoint are committed, some are not.
    """
    number = world.coordinator.stop_id
    if number is None:
        raise AssertionError("a stop whose savepoint is complete has a savepoint")
    checkpoint = world.coordinator.completed[number]
    _report(spec, world, number, _restart(spec, env, world, checkpoint, world.external))


def _report(spec: RunSpec, world: RecordWorld, number: int, other: RecordWorld) -> None:
    """Report what a restart has violated: harm as the checkpoint's, a broken rule as what it is.

    What the scenario expects comes last: only the first violation of a property is reported.
    """
    expected = spec.scenario.violates
    for name, _, says, _ in sorted(other.violations, key=lambda found: found[0] in expected):
        text = f"restarted from checkpoint {number}: {name}: {says}"
        # The ones of watermarks show whatever the job was started from.
        is_harm = severity_of(name) is Severity.DATA and name not in _OF_WATERMARKS
        differs = is_harm or name == "job_ends"  # what does not end has not the same output
        world.violate("restored_checkpoint_gives_the_same_output" if differs else name, text)


def _probe(spec: RunSpec, env: Environment, world: RecordWorld) -> None:
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
    external = world.external.fork(checkpoint.sink_states, checkpoint.checkpoint_id)
    _report(spec, world, chosen, _restart(spec, env, world, checkpoint, external))


def _restart(
    spec: RunSpec,
    env: Environment,
    world: RecordWorld,
    checkpoint: JobCheckpoint,
    external: ExternalSystem,
) -> RecordWorld:
    other_env = Environment(spec.seed, env.ties)
    if spec.watch is not None:
        spec.watch.follow(other_env)
    job = world.job
    costs = replace(
        job.costs,
        notification_loss_ratio=0.0,
        notification_jitter_ns=0,
        checkpoint_failure_ratio=0.0,
    )
    checkpointing = replace(
        job.checkpointing, timeout_ns=TEN_MINUTES_NS, savepoint_at_ns=None, count=None
    )
    storage = replace(job.storage, failure_ratio=0.0)
    other = RecordWorld(
        other_env,
        replace(job, costs=costs, checkpointing=checkpointing, storage=storage),
        FaultPlan(()),
        cores=spec.cores,
        restored=checkpoint,
        external=external,
        may_stop=any(vertex.is_endless for vertex in world.graph.vertices),
        origin=world.origin,
        ignore=spec.ignore,
    )
    spec.bound(other_env, other.control.end)
    if other.oracle is not None and world.oracle is not None:
        other.oracle.follows(world.oracle)
    other.parallelisms = world.parallelisms
    other.emitted = world.most_emitted()
    other.attempts_before = world.attempts
    other.run()
    if other.ended and not other.stopped_without_drain:
        other.check_contents()
    return other


def _record_output(env: Environment, world: RecordWorld) -> None:
    """Record the committed output, so that the digest speaks of every record."""
    for task in world.graph.vertices:
        found = sorted(world.external.committed(task.name).items())
        text = json.dumps(found, separators=(",", ":"))
        digest = blake2b(text.encode(), digest_size=8).hexdigest()
        env.trace.record("output", world.entity, task.name, digest)
