"""Cores and parts of worlds on buffers, each broken. The jobs that show them: `broken.py`."""

from __future__ import annotations

from typing import Any

import pytest

from ckptsim.models.barriers import RemoteInputChannel, SubtaskCheckpoints
from ckptsim.models.barriers.subtask import events as subtask_events
from ckptsim.sim.job.buffers import world
from ckptsim.sim.job.buffers.deployment import Deployment
from ckptsim.sim.job.buffers.input import remote_channel
from ckptsim.sim.job.buffers.output import LocalBufferPool, Subpartition
from ckptsim.sim.job.buffers.output.routing import RoundRobinRoute
from ckptsim.sim.job.buffers.restoring import redistribution
from ckptsim.sim.job.buffers.state import BUFFER_HEADER_BYTES, Snapshots, Span, recovery
from ckptsim.sim.job.buffers.tasks import Task
from ckptsim.sim.job.control.checkpoint import JobCheckpoint
from ckptsim.sim.job.control.sinks.sink import SinkWriter

MS = 1_000_000
Patch = pytest.MonkeyPatch


# Cores ----------------------------------------------------------------------------------------


class Swapping(RemoteInputChannel):
    """Hands the second of two buffers over first."""

    def poll(self) -> object | None:
        """Swap the first two elements of the queue, if both are data."""
        if self.data_count > 1 and not self.has_priority:
            (first, place), (second, other) = self.normal_elements()[:2]
            if place is None and other is None:
                self._queue[0], self._queue[1] = second, first
        return super().poll()


class Forgetful(SubtaskCheckpoints):
    """Forgets which checkpoint came last."""

    def step(self, event: subtask_events.SubtaskEvent) -> list[subtask_events.SubtaskEffect]:
        """Take every trigger for the first one."""
        self._last = -1
        return super().step(event)


# Parts of the world ---------------------------------------------------------------------------


def loses_in_flight_data(patch: Patch) -> None:
    """Leave the in-flight data of a checkpoint out when an attempt begins from it."""
    patch.setattr(recovery, "put_back", lambda *_: None)


def deals_out_too_little(patch: Patch) -> None:
    """Leave out of everything that is filtered at a rescale what had reached its receiver."""
    right = redistribution.Flight.filtered

    def filtered(
        self: redistribution.Flight, kept: redistribution.Kept
    ) -> tuple[list[Span], list[Span]]:
        return [], right(self, kept)[1]

    patch.setattr(redistribution.Flight, "filtered", filtered)


def restores_in_flight_data_twice(patch: Patch) -> None:
    """Put the in-flight data of a checkpoint back twice."""
    right = recovery.put_back
    patch.setattr(recovery, "put_back", lambda subpartition, spans: right(subpartition, spans * 2))


def restores_what_was_sent_first(patch: Patch) -> None:
    """Put what waited at a sender before what had reached its receiver."""
    right = recovery.put_back
    held: list[Any] = []

    def swapped(subpartition: Subpartition, spans: list[Any]) -> None:
        held.append(spans)
        if len(held) % 2 == 0:
            right(subpartition, held[-1] + held[-2])

    patch.setattr(recovery, "put_back", swapped)


def forgets_half_of_what_was_processed(patch: Patch) -> None:
    """Let operators begin an attempt with half of the records that their state had."""
    right = world.restore_counts

    def restore(of: world.DataflowWorld, restored: JobCheckpoint) -> None:
        right(of, restored)
        for task in of.tasks:
            if task.gates:
                task.processed = task.restored_records = task.processed // 2

    patch.setattr(world, "restore_counts", restore)


def forgets_a_record(patch: Patch) -> None:
    """Let one record that a sink has processed be in no transaction."""
    right = SinkWriter.precommit

    def precommit(self: SinkWriter, checkpoint_id: int, *, open_successor: bool) -> None:
        self._counted += checkpoint_id == 3
        right(self, checkpoint_id, open_successor=open_successor)

    patch.setattr(SinkWriter, "precommit", precommit)


def sends_again(patch: Patch) -> None:
    """Send the whole segment when its beginning has left already."""
    right = Subpartition.take

    def take(self: Subpartition) -> object:
        self.taken_bytes = 0
        return right(self)

    patch.setattr(Subpartition, "take", take)


def forgets_a_buffer(patch: Patch) -> None:
    """Leave the first buffer that a barrier overtakes out of the state."""
    right = Subpartition.unsent
    patch.setattr(Subpartition, "unsent", lambda self, segments: right(self, segments)[1:])


def counts_headers_twice(patch: Patch) -> None:
    """Let the writer of channel state hear of more than a part has."""
    right = Snapshots._keep_input
    patch.setattr(Snapshots, "_keep_input", lambda *args: right(*args) + BUFFER_HEADER_BYTES)


def grants_all(patch: Patch) -> None:
    """Grant overdraft without bound."""
    right = LocalBufferPool.request

    def request(self: LocalBufferPool, channel: int) -> bool:
        self._overdraft_max = 1000
        return right(self, channel)

    patch.setattr(LocalBufferPool, "request", request)


def credits_twice(patch: Patch) -> None:
    """Announce every buffer that comes free twice."""
    right = remote_channel.RemoteChannel._add_credit
    patch.setattr(
        remote_channel.RemoteChannel, "_add_credit", lambda self, count: right(self, 2 * count)
    )


def keeps_credit(patch: Patch) -> None:
    """Lose all credit on its way."""
    patch.setattr(remote_channel.RemoteChannel, "_add_credit", lambda *_: None)


def frees_in_silence(patch: Patch) -> None:
    """Free buffers without credit for the sender."""

    def recycle(self: remote_channel.RemoteChannel, _: Any) -> None:
        self._exclusive_free += 1

    patch.setattr(remote_channel.RemoteChannel, "recycle", recycle)


def overhears_priority(patch: Patch) -> None:
    """Come to what overtakes data with the next buffer only."""
    patch.setattr(Task, "priority_arrived", lambda *_: None)


def deals_out(patch: Patch) -> None:
    """Send records to all receivers in turn, whatever the partitioner says."""
    patch.setattr(Deployment, "_route", lambda *_: RoundRobinRoute(2, 0))
