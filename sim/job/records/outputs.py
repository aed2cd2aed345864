"""The ends of a task: its input gates, and everything that it sends."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from ckptsim.models.barriers import Barrier, NetworkEvent
from ckptsim.models.barriers.channels import OutputStateOpened
from ckptsim.scenarios.job import Partitioner
from ckptsim.sim.job.records.snapshot import SOURCE_SPAN, WATERMARK, Record

if TYPE_CHECKING:
    from ckptsim.models.barriers.reason import FailureReason
    from ckptsim.sim.job.graph import OutputSpec
    from ckptsim.sim.job.records.link import Link
    from ckptsim.sim.job.records.task import Task


def target_of(record: Record, parallelism: int, shares: tuple[float, ...] = ()) -> int:
    """Return the subtask of a keyed edge for a record: its identity is its key, well mixed.

    shares: of keys by subtask; none for even ones.
    """
    mixed = ((record * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF) >> 32
    if not shares:
        return mixed % parallelism
    bounds = list(accumulate(shares))
    return min(bisect_right(bounds, mixed / 2**32 * bounds[-1]), parallelism - 1)


def is_hot(record: Record, ratio: float) -> bool:
    """Tell whether a record is one of those with a key of subtask 0, a share of all records."""
    mixed = (record * 0xD6E8FEB86659FD93) & 0xFFFFFFFFFFFFFFFF
    return mixed >> 32 < ratio * 2**32


class InputGate:
    """The channels of one edge that end at one task."""

    def __init__(self, links: list[Link]) -> None:
        self._links = links

    def start(self, checkpoint: int) -> FailureReason | None:
        """Begin to persist; returns why the checkpoint cannot start, or None."""
        for link in self._links:
            reason = link.channel.start(checkpoint)
            if reason is not None:
                return reason
        return None

    def stop(self, checkpoint: int) -> None:
        """Persist nothing more for this checkpoint."""
        for link in self._links:
            link.channel.stop(checkpoint)


class Outputs:
    """All outputs of a task.

    edges: the channels of each edge; links: all of them, in the order of the edges.
    """

    def __init__(self, task: Task, edges: list[tuple[OutputSpec, list[Link]]]) -> None:
        self.edges = edges
        self.links = [link for _, links in edges for link in links]
        self._task = task
        self._round_robin = 0
        self._hot = task.attempt.graph.hot_sources

    def channels_of(self, record: Record) -> Iterator[Link]:
        """Yield the channels that a record takes; the final watermark takes all of them."""
        for spec, links in self.edges:
            yield from self._chosen(spec, links, record)

    def _chosen(self, spec: OutputSpec, links: list[Link], record: Record) -> list[Link]:
        if record == WATERMARK or spec.partitioner is Partitioner.BROADCAST:
            return links
        match spec.partitioner:
            case Partitioner.GLOBAL:
                return links[:1]
            case Partitioner.HASH:
                hot = self._hot.get(record // SOURCE_SPAN) if self._hot else None
                if hot is not None and is_hot(record, hot):
                    return links[:1]
                return [links[target_of(record, len(links), spec.edge.shares)]]
            case Partitioner.FORWARD:
                return links
            case Partitioner.SHUFFLE:
                task = self._task
                stream = task.env.stream(f"shuffle {task.spec.vertex.name}", task.subtask)
                return [links[stream.integer(0, len(links) - 1)]]
            case _:
                self._round_robin += 1
                return [links[self._round_robin % len(links)]]

    def broadcast_barrier(self, barrier: Barrier) -> int:
        """Put a barrier into every queue; it overtakes where its kind and the edge allow it."""
        attempt = self._task.attempt
        for spec, links in self.edges:
            over = attempt.cores.edge(barrier, supports_unaligned=spec.supports_unaligned)
            for link in links:
                if over.is_unaligned and link.queue.data_count:
                    attempt.goal("barrier_overtook_records")
                link.queue.add_barrier(over)
        return sum(isinstance(effect, OutputStateOpened) for effect in self._task.outbox)

    def broadcast(self, event: NetworkEvent) -> None:
        """Send an event behind everything that is queued."""
        for link in self.links:
            link.queue.add_event(event)
            link.pump()

    def flush(self) -> None:
        """Send whatever may be sent now."""
        for link in self.links:
            link.pump()

    def time_out(self, checkpoint: int) -> None:
        """Let barriers that are still queued overtake.

        What they overtake is state, and has to be kept before any of it is sent.
        """
        for link in self.links:
            link.queue.time_out(checkpoint)
        self._task.control.checkpoints.drain()
        self.flush()

    def abort(self, checkpoint: int) -> None:
        """Give up the output state of a checkpoint."""
        for link in self.links:
            link.queue.abort(checkpoint)

    def finish(self) -> None:
        """Send EndOfPartition on every channel."""
        for link in self.links:
            link.queue.finish()
            link.pump()
