"""What a partition reader needs: a connection and, on sockets, a socket and a partition id.

Partition ids are a few random characters, new for each reader, unique by luck only.
Source: airbytehq/airbyte, bulk extract CDK: four characters of [A-Za-z0-9].  Among n partitions of
a sync two share an id with probability about n * n / (2 * 62**4): half at 4500.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simpy import Event

    from ckptsim.sim.kernel import Environment
    from ckptsim.sim.sync.attempt import Attempt
    from ckptsim.sim.sync.socket import Socket


class Resources:
    """Connections and sockets of a source. Who asked first is served first.

    shared: all readers write to one channel (STDIO), so that only connections are scarce.
    """

    def __init__(
        self, env: Environment, sockets: list[Socket], *, connections: int, shared: bool
    ) -> None:
        self._env = env
        self._connections = connections
        self._shared = sockets[0] if shared else None
        self._free = deque(sockets)
        self._waiting: deque[Event] = deque()

    @property
    def waiting_count(self) -> int:
        """How many wait for a connection and a socket."""
        return len(self._waiting)

    def try_acquire(self) -> Socket | None:
        """Take a connection and a socket if both are free and no one waits."""
        return None if self._waiting else self._take()

    def wait(self) -> Event:
        """Return the event with the socket to use as value."""
        event = self._env.event()
        self._waiting.append(event)
        return event

    def release(self, socket: Socket) -> None:
        """Give a connection and its socket back, to the one who waits longest."""
        self._connections += 1
        if self._shared is None:
            self._free.append(socket)
        while self._waiting:
            taken = self._take()
            if taken is None:
                return
            self._waiting.popleft().succeed(taken)

    def _take(self) -> Socket | None:
        if not self._connections or not (self._shared or self._free):
            return None
        self._connections -= 1
        return self._shared or self._free.popleft()


class PartitionIds:
    """Draws partition ids of one attempt. A fault plan may have a reader draw another one's."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._characters = attempt.model.source.partition_id_characters
        self._seen: dict[str, None] = {}

    def draw(self, feed: int, reader: int) -> str:
        """Return the id of a reader of a feed."""
        world = self._attempt.world
        planned = self._attempt.faults.collision(feed, reader)
        drawn = world.drawn_ids.get(planned) if planned is not None else None
        if drawn is None:
            where = ("source.partition_id", feed, reader)
            drawn = world.draws.identifier(where, self._characters)
        if drawn in self._seen:
            self._attempt.env.goals.reach("id_collision")
            self._attempt.faults.note_strike()  # by plan or by chance: ids are short
        self._seen[drawn] = None
        world.drawn_ids[(feed, reader)] = drawn
        return drawn
