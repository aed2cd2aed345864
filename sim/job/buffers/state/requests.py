"""What an object store makes of requests: throttling, merged files, and times when it is bad."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.scenarios.job.faults import SlowStorage
from ckptsim.sim.job.buffers.kinds import Kind

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.state.streams import Streams
    from ckptsim.sim.job.control.faults import FaultPlan
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

    def __init__(self, env: Environment, entity: Entity, plan: FaultPlan) -> None:
        self.factor = 1.0
        self.streams: list[Streams] = []
        self._env, self._plan = env, plan
        slow = [one for one in plan.of_storage if isinstance(one, SlowStorage)]
        self.slows = bool(slow)  # at any time
        edges = [at_ns for one in slow for at_ns in (one.at_ns, one.at_ns + one.lasts_ns)]
        for at_ns in sorted(dict.fromkeys(edges)):
            env.call_at(max(env.now, at_ns), Kind.STORAGE, entity, self._edge)

    @property
    def broken_ns(self) -> int:
        """Return for how long the storage is broken from now on."""
        return self._plan.storage_broken_ns(self._env.now)

    def slower(self, latency_ns: int) -> int:
        """Return how long a latency is at present."""
        return self._plan.slowed_ns(self._env.now, latency_ns) if self.slows else latency_ns

    def _edge(self) -> None:
        for one in self.streams:
            one.account()
        self.factor = self._plan.storage_factor(self._env.now)
        for one in self.streams:
            one.arm()
