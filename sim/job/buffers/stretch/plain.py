"""Which jobs stretches cover at all, and when the flow of data is plain enough for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.barriers.channels import PersisterStatus
from ckptsim.sim.job.buffers.input import RemoteChannel
from ckptsim.sim.job.buffers.kinds import State
from ckptsim.sim.job.buffers.mechanisms import MECHANISMS
from ckptsim.sim.job.buffers.output import Segment, SelectiveWriter
from ckptsim.sim.job.buffers.state import is_restored
from ckptsim.sim.job.buffers.tasks import Source, VaryingTask
from ckptsim.sim.kernel import STRUCTURAL

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.output import RecordWriter
    from ckptsim.sim.job.buffers.stretch.inlet import Inlet
    from ckptsim.sim.job.buffers.stretch.stretch import Layout
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld

_SERVING = (State.IDLE, State.WAKING, State.BUSY, State.PAUSED)


def is_covered(world: DataflowWorld) -> bool:
    """Tell whether the job is of a kind that stretches cover.

    Sources have a rate and records one size; every operator has one gate, and all its channels are
    remote ones that own buffers, and emits a record for each; messages take a fixed time; every
    record goes to one channel; ties are structural.
    """
    network = world.model.network
    mechanisms = world.mechanisms
    return (
        world.env.ties is STRUCTURAL
        and network.jitter_ns == 0
        and network.latency_ns > 0
        and network.exclusive_buffers > 0
        and mechanisms.stops_early is MECHANISMS.stops_early
        and mechanisms.freed_when_read is MECHANISMS.freed_when_read
        and all(vertex.record_bytes is None for vertex in world.model.vertices)
        and all(_is_covered(task) for task in world.tasks)
    )


def _is_covered(task: Task) -> bool:
    if any(writer.broadcast or isinstance(writer, SelectiveWriter) for writer in task.writers):
        return False
    if isinstance(task, Source):
        return task.gap_ns is not None and not task.spec.vertex.rate_changes
    if isinstance(task, VaryingTask):
        return False
    return (
        len(task.gates) == 1
        and not task.two_input
        and all(isinstance(channel, RemoteChannel) for channel in task.channels)
    )


def is_at_work(layout: Layout) -> bool:
    """Tell whether every task goes about its work, and no checkpoint is open at any."""
    return all(_is_at_work(task) for task in layout.world.tasks)


def is_plain(layout: Layout) -> bool:
    """Tell whether the outputs have buffers, and channels hold nothing but data."""
    if not all(_has_room(writer) for writer in layout.writers):
        return False
    if any(_has_restored(writer) for writer in layout.writers):
        return False
    return all(_has_only_data(inlet) for inlet in layout.inlets.values())


def _has_restored(writer: RecordWriter) -> bool:
    """Tell whether some of what a restart has put back is still to be sent."""
    for subpartition in writer.subpartitions:
        head = subpartition.core.head if subpartition.restored_bytes else None
        if isinstance(head, Segment) and is_restored(head):
            return True
    return False


def _is_at_work(task: Task) -> bool:
    if task.mail or task.ending.closed or task.ending.data_ended_ns is not None:
        return False
    if isinstance(task, Source):
        return task.state in (State.PACED, State.PAUSED) and task.exhausted_ns is None
    if task.control.handler is None:
        return False
    handler = task.control.handler.core
    return (
        task.state in _SERVING
        and not handler.pending
        and not handler.clock.running
        and (task.state is State.BUSY or task._slice is None)
    )


def _has_room(writer: RecordWriter) -> bool:
    pool = writer.pool
    return not writer.blocked and pool.available and not pool.overdraft and not pool.starved


def _has_only_data(inlet: Inlet) -> bool:
    for channel, core, outgoing in zip(inlet.channels, inlet.cores, inlet.outgoing, strict=True):
        if (
            outgoing.blocked
            or outgoing.flush_requested
            or outgoing.data_count != len(outgoing)
            or core.data_count != len(core)
            or channel.subpartition.taken_bytes
            or core.persister.status is PersisterStatus.BARRIER_PENDING
        ):
            return False
    return True
