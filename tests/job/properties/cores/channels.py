"""Ends of a channel that break one promise each."""

from __future__ import annotations

from ckptsim.models.barriers import Barrier, RemoteInputChannel, Subpartition, channels
from ckptsim.models.barriers.barrier import NetworkEvent
from ckptsim.models.barriers.channels.input_channel import _Placed
from ckptsim.models.barriers.reason import FailureReason


class KeepsSending(Subpartition):
    """Does not stop after a barrier that is to be aligned."""

    def poll(self) -> object | None:
        """Continue."""
        element = super().poll()
        self.blocked = False
        return element

    def resume(self) -> None:
        """Do nothing: the queue was never blocked."""


class SwapsData(Subpartition):
    """Sends the second of its first two records first."""

    swapped = False

    def poll(self) -> object | None:
        """Swap once."""
        queue = self._queue
        if len(queue) > 1 and not self.swapped:
            first, second = queue[0], queue[1]
            if not isinstance(first, NetworkEvent) and not isinstance(second, NetworkEvent):
                queue[0], queue[1] = second, first
                self.swapped = True
        return super().poll()


class NewestFirst(RemoteInputChannel):
    """Lets a priority element pass those that are there."""

    def _add_priority(self, placed: _Placed) -> None:
        super()._add_priority(placed)
        if self._priority is not None:
            self._priority.insert(0, self._priority.pop())


class _NeverReceives(channels.Persister):
    """Continues persisting after the barrier."""

    def barrier_arrived(self, checkpoint: int) -> bool:
        """Note the number only."""
        self.last_seen = max(self.last_seen, checkpoint)
        return True

    def start(self, checkpoint: int) -> None:
        """Persist in any case."""
        self.status = channels.PersisterStatus.BARRIER_PENDING
        self.last_seen = checkpoint


class PersistsBehindTheBarrier(RemoteInputChannel):
    """Takes what comes after a barrier into its checkpoint."""

    def __init__(self, index: int, outbox: list[channels.NetworkEffect]) -> None:
        super().__init__(index, outbox)
        self.persister = _NeverReceives()


class SlowToOvertake(RemoteInputChannel):
    """Puts an unaligned barrier after the queue."""

    def _add_priority(self, placed: _Placed) -> None:
        self._queue.append(placed)


class PersistsForTheOlder(RemoteInputChannel):
    """Persists for an older checkpoint after a newer one."""

    def start(self, checkpoint: int) -> FailureReason | None:
        """Add nothing, but to the wrong checkpoint."""
        refused = super().start(checkpoint)
        if checkpoint > 1:
            self._outbox.append(channels.PersistInput(self.index, checkpoint, ()))
            self._outbox.append(channels.PersistInput(self.index, checkpoint - 1, ()))
        return refused


class OneOutputStaysOpen(Subpartition):
    """Never says what the output's part of its first timeoutable checkpoint is."""

    silent = False

    def _event_polled(self, event: NetworkEvent) -> None:
        super()._event_polled(event)
        last = self._outbox[-1] if self._outbox else None
        if isinstance(last, channels.OutputStateKnown) and not self.silent:
            self.silent = True
            self._outbox.pop()


class TakesAnyResume(Subpartition):
    """Continues as often as it is asked to."""

    def resume(self) -> None:
        """Continue, blocked or not."""
        self.blocked = False


class Overtakes(Subpartition):
    """Sends every barrier as an unaligned one."""

    def add_barrier(self, barrier: Barrier) -> bool:
        """Let it overtake."""
        return super().add_barrier(barrier.as_unaligned())
