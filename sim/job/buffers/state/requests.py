"""What an object store makes of requests: throttling, merged files, and times when it is bad."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ckptsim.scenarios.job.faults import FailStorage, SlowStorage
from ckptsim.sim.job.buffers.kinds import Kind

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.state.streams import Streams
    from ckptsim.sim.kernel import Entity, Environment

_SECOND_NS = 1_000_000_000
# More prefixes than these are never short of requests.
_PREFIXES = 4_096


class Buckets:
    """Tokens for requests, of each prefix of keys. Unused ones are kept for a second."""

    def __init__(self, rate: float, prefixes: int) -> None:
        self._rate, self._most = rate, max(1.0, rate)
        self._left = [self._most] * min(prefixes, _PREFIXES)
        self._since_ns = [0] * len(self._left)

    def take(self, place: int, now_ns: int) -> bool:
        """Return whether a request is allowed now."""
        place %= len(self._left)
        kept = self._left[place] + (now_ns - self._since_ns[place]) * self._rate / _SECOND_NS
        self._left[place], self._since_ns[place] = min(self._most, kept), now_ns
        allowed = self._left[place] >= 1.0
        self._left[place] -= allowed
        return allowed


class MergedFile:
    """Where a file goes: into one that is open and free, or into a new one.

    is_new: it has to be created.  Files at one time go into different ones.
    Source: Apache Flink 1.20.3, FileMergingSnapshotManager, NonBlockingPhysicalFilePool.
    """

    __slots__ = ("_most", "_pool", "_size", "is_new")

    def __init__(self, pool: list[int] | None, size: int, most: int) -> None:
        held = pool.pop() if pool else None
        self.is_new = held is None
        self._pool, self._size, self._most = pool, (held or 0) + size, most

    def close(self) -> None:
        """Let other files follow in it, unless it is large enough."""
        if self._pool is not None and self._size < self._most:
            self._pool.append(self._size)


class StorageFaults:
    """What the storage of a job suffers for a time.

    factor: by which it is slower at present.  streams: what goes at another speed with it.
    """

    def __init__(self, env: Environment, entity: Entity, faults: Iterable[object]) -> None:
        self.factor = 1.0
        self.streams: list[Streams] = []
        self._env = env
        faults = tuple(faults)
        self._slow = [one for one in faults if isinstance(one, SlowStorage)]
        self._broken = [one for one in faults if isinstance(one, FailStorage)]
        edges = [at_ns for one in self._slow for at_ns in (one.at_ns, one.at_ns + one.lasts_ns)]
        for at_ns in sorted(dict.fromkeys(edges)):
            env.call_at(max(env.now, at_ns), Kind.STORAGE, entity, self._edge)

    @property
    def slows(self) -> bool:
        """Return whether the storage is slower at any time."""
        return bool(self._slow)

    @property
    def broken_ns(self) -> int:
        """Return for how long the storage is broken from now on."""
        now = self._env.now
        ends = [one.at_ns + one.lasts_ns - now for one in self._broken if one.at_ns <= now]
        return max(0, *ends, 0)

    def slower(self, latency_ns: int) -> int:
        """Return how long a latency is at present."""
        return round(latency_ns * self.factor) if self._slow else latency_ns

    def _edge(self) -> None:
        now = self._env.now
        holding = [f.factor for f in self._slow if f.at_ns <= now < f.at_ns + f.lasts_ns]
        for one in self.streams:
            one.account()
        self.factor = math.prod(holding)
        for one in self.streams:
            one.arm()
