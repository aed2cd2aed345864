"""A socket (or STDIO): a line with bandwidth and latency, a pipe buffer, and what travels there.

What a writer puts waits for room in the pipe, then for the line, then travels for the latency.  It
holds its room until the reader takes it, so a slow reader holds up its writers.  The order is the
one of the queues, whatever the tie policy says.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from ckptsim.sim.kernel import ConservationError
from ckptsim.sim.sync.oracle.truth import Partition, SourceState
from ckptsim.sim.sync.vocabulary import KIND_ARRIVE

if TYPE_CHECKING:
    from simpy import Event

    from ckptsim.scenarios.sync import SocketTable
    from ckptsim.sim.kernel import Entity, Environment


_STATUS_BYTES = 64  # assumption: size of a small status message


class RecordPacket:
    """A run of records at positions low <= p < high. interval: of the stream, on STDIO."""

    __slots__ = ("count", "high", "interval", "low", "partition", "size_bytes", "stream")

    def __init__(
        self, partition: Partition, stream: int, *, low: int, high: int, size_bytes: int
    ) -> None:
        self.partition = partition
        self.stream = stream
        self.low = low
        self.high = high
        self.count = high - low
        self.size_bytes = size_bytes
        self.interval = 0


@dataclass(slots=True, eq=False)
class StateMessage:
    """A state under way."""

    state: SourceState
    size_bytes: int


@dataclass(slots=True, eq=False)
class CompleteMessage:
    """The terminal status COMPLETE of a stream."""

    stream: int
    size_bytes: int = _STATUS_BYTES


@dataclass(slots=True, eq=False)
class EndMessage:
    """The end of the socket."""

    size_bytes: int = 1


Message: TypeAlias = RecordPacket | StateMessage | CompleteMessage | EndMessage


_NS_PER_S = 1_000_000_000


class Socket:
    """One line from source to destination. stalled_until_ns: it delivers nothing before."""

    def __init__(self, env: Environment, table: SocketTable, index: int) -> None:
        self.index = index
        self.entity: Entity = env.entity("socket", index)
        self.dropped_count = 0
        self.put_count = 0
        self.taken_count = 0
        self.stalled_until_ns = 0
        self._env = env
        self._bandwidth = table.bandwidth_bytes_per_s
        self._latency_ns = table.latency_ns
        self._pipe_bytes = table.pipe_bytes
        self._waiting: deque[tuple[Message, Event | None]] = deque()
        self._line: deque[Message] = deque()
        self._arrived: deque[Message] = deque()
        self._held_bytes = 0
        self._line_free_ns = 0
        self._reader: Event | None = None

    def put(self, messages: Sequence[Message]) -> Event | None:
        """Queue messages in a row. Return None, or the event of the last one's going."""
        self.put_count += len(messages)
        for message in messages:
            self._waiting.append((message, None))
        self._admit()
        if not self._waiting:
            return None
        last, _ = self._waiting.pop()
        accepted = self._env.event()
        self._waiting.append((last, accepted))
        self._env.goals.reach("pipe_full")
        return accepted

    def take(self) -> Message | None:
        """Take the next message that has arrived and free its room, or return None."""
        if not self._arrived:
            return None
        message = self._arrived.popleft()
        self.taken_count += 1
        self._held_bytes -= message.size_bytes
        if self._waiting:
            self._admit()
        return message

    def arrival(self) -> Event:
        """Return the event of the next arrival. For the one reader, when `take` gave None."""
        self._reader = event = self._env.event()
        return event

    def stall(self, until_ns: int) -> None:
        """Deliver nothing before an instant. What arrives meanwhile comes then, in its order."""
        self.stalled_until_ns = max(self.stalled_until_ns, until_ns)

    def break_off(self, end: Message) -> None:
        """Lose all that has not gone into the pipe, and end all that has."""
        self.dropped_count += len(self._waiting)
        self._waiting.clear()
        self.put((end,))

    def drop_all(self) -> None:
        """Lose everything that has not been taken, as a crash of either side does."""
        self.dropped_count += len(self._waiting) + len(self._line) + len(self._arrived)
        self._waiting.clear()
        self._line.clear()
        self._arrived.clear()

    def check(self) -> None:
        """Raise ConservationError unless all that was put was taken, dropped or is still queued."""
        if self.put_count != self.taken_count + self.dropped_count + self.queued_count:
            raise ConservationError(
                f"{self.entity.name}: {self.put_count} messages were put, {self.taken_count} "
                f"taken, {self.dropped_count} dropped and {self.queued_count} are queued"
            )

    @property
    def unread(self) -> Iterator[Message]:
        """Everything that was put and not taken, the next to be taken first."""
        return chain(self._arrived, self._line, (message for message, _ in self._waiting))

    @property
    def writers_count(self) -> int:
        """How many messages wait for room in the pipe."""
        return len(self._waiting)

    @property
    def queued_count(self) -> int:
        """How many messages have been put and neither taken nor dropped."""
        return len(self._waiting) + len(self._line) + len(self._arrived)

    def _admit(self) -> None:
        while self._waiting:
            message, accepted = self._waiting[0]
            size = message.size_bytes
            # A message larger than the pipe goes through alone.
            if self._held_bytes and self._held_bytes + size > self._pipe_bytes:
                return
            self._waiting.popleft()
            self._held_bytes += size
            self._send(message, size)
            if accepted is not None:
                accepted.succeed()

    def _send(self, message: Message, size: int) -> None:
        start = max(self._env.now, self._line_free_ns)
        self._line_free_ns = start + size * _NS_PER_S // self._bandwidth
        self._line.append(message)
        arrives = self._line_free_ns + self._latency_ns
        self._env.call_at(arrives, KIND_ARRIVE, self.entity, self._arrive)

    def _arrive(self) -> None:
        if not self._line:  # lost in a crash
            return
        if self._env.now < self.stalled_until_ns:
            self._env.call_at(self.stalled_until_ns, KIND_ARRIVE, self.entity, self._arrive)
            return
        self._arrived.append(self._line.popleft())
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.succeed()
