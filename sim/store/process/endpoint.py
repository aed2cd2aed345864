"""The endpoint that serves dictionaries, and what copies of them cost where they are not fetched.

Clients that start together ask together: this one, and others that only ask.  So many requests are
answered at once, the rest waits in the order of arrival.  A request that meets a full queue, or an
outage, is refused and comes again.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ckptsim.scenarios.store import DictionaryKept
from ckptsim.sim.store.vocabulary import KIND_OUTSIDE

if TYPE_CHECKING:
    from simpy import Event

    from ckptsim.sim.store.process.syncing import Steps
    from ckptsim.sim.store.world import StoreWorld

_SECOND_NS = 1_000_000_000
# How a checkpoint with a copy begins that field: without one its encoding leaves the field out.
_COPIED = b'"compression_dictionary":'


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """What a client asks for. answered: how this client learns of it, None of another one."""

    client: int
    asked_ns: int
    answered: Event | None


class Endpoint:
    """Dictionaries in simulated time. Without size and time they cost nothing."""

    def __init__(self, world: StoreWorld) -> None:
        self._world = world
        self._env = world.env
        self._entity = world.env.entity("endpoint")
        self._given = given = world.model.dictionary
        self._takes_ns = given.answer_ns() if given.kept is DictionaryKept.FETCHED else 0
        self._others = world.env.stream("other clients")
        self._asked: dict[str, Event] = {}
        self._others_asked: dict[str, None] = {}
        self._waiting: deque[_Request] = deque()
        self._busy = self._to_come = self._longest_queue = self._refused = 0
        self._waits_ns: list[int] = []  # of each request that was answered, of all clients
        self._own, self._copies_ns = 0, 0

    @property
    def idle(self) -> bool:
        """Return whether no client waits for an answer."""
        return not self._busy and not self._to_come

    def is_asked_for(self, topic: str) -> bool:
        """Return whether this client has asked for the dictionary of a version in this start."""
        return topic in self._asked

    def begin(self) -> None:
        """Begin a start of the process, which knows no dictionary."""
        self._asked.clear()
        self._others_asked.clear()

    def forget(self, topic: str) -> None:
        """Ask for the dictionary of a version anew: the last answer was none."""
        self._asked.pop(topic, None)

    def fetch(self, topic: str) -> Steps:
        """Wait until the dictionary of a version is there, once a start of push has named it."""
        if not self._takes_ns or not self._world.client.version_copies(topic):
            return
        if topic not in self._asked:
            self._asked[topic] = self._env.event()
            self._ask(topic, self._asked[topic])
        if not self._asked[topic].processed:
            yield self._asked[topic]

    def copied_bytes(self, checkpoint: bytes) -> int:
        """Return how many bytes of a dictionary a checkpoint has beside its own."""
        return self._given.size_bytes if _COPIED in checkpoint else 0

    def copy_ns(self, checkpoint: bytes | None) -> int:
        """Account for writing the copy in a checkpoint, and return the time it takes."""
        size = 0 if checkpoint is None else self.copied_bytes(checkpoint)
        return self._spent(size, self._given.copy_bytes_per_s)

    def read_copies(self) -> int:
        """Account for reading the copies of all open partitions, and return the time it takes."""
        replicas = self._world.client.replicas.values()
        states = (replica.ingestion.checkpoint.version for replica in replicas)
        copies = sum(1 for one in states if one is not None and one.compression_dictionary)
        return self._spent(copies * self._given.size_bytes, self._given.read_bytes_per_s)

    def figures(self) -> dict[str, float]:
        """Return the figures of a run, where dictionaries cost anything."""
        if not self._given.answer_ns():
            return {}
        waits, found = sorted(self._waits_ns), {"dictionary_ns": float(self._copies_ns)}
        if waits:
            # A mean start of this client's: which place it has in the queue is chance.
            found["dictionary_ns"] = self._own * sum(waits) / len(waits)
            found["endpoint_wait_ns"] = waits[min(len(waits) - 1, len(waits) * 95 // 100)]
            found["endpoint_longest_ns"] = waits[-1]
            found["endpoint_queue"] = self._longest_queue
            found["endpoint_refused"] = self._refused
        return found

    def _spent(self, size_bytes: int, bytes_per_s: int) -> int:
        time_ns = size_bytes * _SECOND_NS // bytes_per_s
        self._copies_ns += time_ns
        return time_ns

    def _ask(self, topic: str, answered: Event) -> None:
        """Ask, and let the clients that start with this one ask too, each once in a start."""
        self._own += 1
        clients = 1 if topic in self._others_asked else self._given.clients
        self._others_asked[topic] = None
        for client in range(clients):
            wait_ns = self._others.uniform_ns(0, self._given.spread_ns) if client else 0
            request = _Request(
                client=client,
                asked_ns=self._env.now + wait_ns,
                answered=None if client else answered,
            )
            self._arrives_in(wait_ns, request)

    def _arrives_in(self, wait_ns: int, request: _Request) -> None:
        self._to_come += 1
        entity = self._env.entity("client of the endpoint", request.client)
        self._env.call_in(wait_ns, KIND_OUTSIDE, entity, self._arrives, request)

    def _arrives(self, request: _Request) -> None:
        self._to_come -= 1
        full = self._busy == self._given.capacity
        too_long = 0 < self._given.queue <= len(self._waiting)
        if not self._world.dictionaries.up or (full and too_long):
            self._refused += 1
            self._arrives_in(self._world.model.process.retry_ns, request)
        elif full:
            self._waiting.append(request)
            self._longest_queue = max(self._longest_queue, len(self._waiting))
        else:
            self._answer(request)

    def _answer(self, request: _Request) -> None:
        self._busy += 1
        entity = self._env.entity("client of the endpoint", request.client)
        self._env.call_in(self._takes_ns, KIND_OUTSIDE, entity, self._answered, request)

    def _answered(self, request: _Request) -> None:
        self._busy -= 1
        self._waits_ns.append(self._env.now - request.asked_ns)
        self._env.trace.record("fetched", self._entity, request.client)
        if request.answered is not None:
            request.answered.succeed()
        if self._waiting:
            self._answer(self._waiting.popleft())
        if self.idle:
            self._world.caught_up()
