"""A job that is cancelled and submitted again with another parallelism: two worlds, one clock.

The first job runs until it is cancelled; the second one takes up its latest completed checkpoint,
in-flight data included.  How long a client takes in between is given with the downtime, so the
second job is begun as much later as its own start leaves over: the run is made twice, the first
time to see how long that is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.halt import cancel_all_but
from ckptsim.sim.job.buffers.kinds import Kind
from ckptsim.sim.job.buffers.restoring import LATER
from ckptsim.sim.job.buffers.restoring.caught_up import note_latencies
from ckptsim.sim.job.buffers.restoring.rescale import rescaled
from ckptsim.sim.job.buffers.world import DataflowWorld
from ckptsim.sim.job.control.failover import FailoverRecord
from ckptsim.sim.job.graph import Graph
from ckptsim.sim.kernel import Environment
from ckptsim.sim.validate.recoveries.measured import Given

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Job
    from ckptsim.sim.job.buffers.constants import Constants
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint

_MS = 1_000_000


def with_parallelism(model: Job, parallelism: int) -> Job:
    """Return the job with another parallelism of all operators; sources keep their own."""
    vertices = tuple(
        vertex if vertex.is_source else replace(vertex, parallelism=parallelism)
        for vertex in model.vertices
    )
    return replace(model, vertices=vertices)


def resubmitted(
    model: Job, parallelism: int, given: Given, constants: Constants, seed: int
) -> tuple[FailoverRecord, int | None]:
    """Return what the resubmission took, and when the checkpoint that it began from was triggered.

    Raises LookupError for a job that had completed no checkpoint, or took no record afterwards.
    """
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
    """Run both jobs; run: the seed, and how long the second one takes to its first record."""
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
    second = DataflowWorld(
        env, other, constants, restored=_as_taken_up(checkpoint, first.graph, other)
    )
    second.run()
    record = FailoverRecord(1, "cancelled and submitted again", at_ns)
    record.reprocessed = emitted - sum(checkpoint.positions.values())
    if second.timed is not None:
        note_latencies([record], second.timed.lateness, until_ns)
    return record, first.coordinator.records[checkpoint.checkpoint_id].triggered_ns


def _as_taken_up(checkpoint: JobCheckpoint, old: Graph, other: Job) -> JobCheckpoint:
    """Return what a job with other parallelisms takes up."""
    return rescaled(checkpoint, old, Graph(other)).checkpoint


def _latest(world: DataflowWorld) -> JobCheckpoint:
    kept = world.coordinator.completed
    if not kept:
        raise LookupError("the job has completed no checkpoint when it is cancelled")
    return kept[max(kept)]
