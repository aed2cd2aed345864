"""What an object store makes of requests: throttling, late answers, merged files, bad times."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ckptsim.scenarios.job.costs import Throttling
from ckptsim.scenarios.job.faults import SlowStorage
from ckptsim.sim.job.buffers.kinds import Kind

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Storage as StorageTable
    from ckptsim.sim.job.buffers.state.streams import Streams
    from ckptsim.sim.job.control.faults import FaultPlan
    from ckptsim.sim.kernel import Entity, Environment, Stream

_SECOND_NS = 1_000_000_000
# Source: AWS SDK for Java, BackoffStrategy: no back-off is longer.
_BACKOFF_NS = 20 * _SECOND_NS
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


class Requests:
    """The requests of a job: their turn where so many a second are allowed, and their answer."""

    def __init__(
        self, env: Environment, entity: Entity, table: StorageTable, faults: StorageFaults
    ) -> None:
        self._env, self._entity, self._table, self._faults = env, entity, table, faults
        self._retries = env.stream("storage retries")
        self._tails = env.stream("storage tails")  # of requests that create nothing
        rate = table.requests_per_s
        retried = rate is not None and table.throttling is Throttling.RETRY
        self._buckets = Buckets(rate, table.prefixes) if retried and rate is not None else None
        self._granted_ns = 0

    def turn_ns(self) -> int:
        """Return how long a request waits for its turn, where none is refused."""
        rate = self._table.requests_per_s
        if rate is None or self._buckets is not None:
            return 0
        now = self._env.now
        self._granted_ns = max(now, self._granted_ns)
        self._granted_ns += round(_SECOND_NS / rate / self._table.prefixes)
        return self._granted_ns - now

    def ask(
        self, granted: Callable[[], object], refused: Callable[[], object], tries: int = 0
    ) -> None:
        """Call `granted` when a request is allowed, `refused` where that takes too many tries."""
        buckets, table, draws = self._buckets, self._table, self._retries
        if buckets is None or buckets.take(draws.integer(0, table.prefixes - 1), self._env.now):
            granted()
        elif tries >= table.retries:
            refused()
        else:
            most_ns = min(table.retry_backoff_ns << tries, max(_BACKOFF_NS, table.retry_backoff_ns))
            wait_ns = most_ns // 2 + draws.integer(0, most_ns // 2)
            more = granted, refused, tries + 1
            self._env.call_in(wait_ns, Kind.STORAGE, self._entity, self.ask, *more)

    def tail_ns(self, draws: Stream) -> int:
        """Draw how much later than others a request is answered."""
        table = self._table
        if not table.tail_ratio or not draws.chance(table.tail_ratio):
            return 0
        return self._faults.slower(draws.exponential_ns(table.tail_latency_ns))

    def send(self, latency_ns: int, entity: Entity, answered: Callable[[], object]) -> None:
        """Call `answered` after a request that is tried until it succeeds."""
        again = partial(self.send, latency_ns, entity, answered)
        self.ask(partial(self._granted, latency_ns, entity, answered), again)

    def _granted(self, latency_ns: int, entity: Entity, answered: Callable[[], object]) -> None:
        wait_ns = self._faults.broken_ns + self._faults.slower(latency_ns)
        wait_ns += self.turn_ns() + self.tail_ns(self._tails)
        if wait_ns:
            self._env.call_in(wait_ns, Kind.STORAGE, entity, answered)
        else:
            answered()


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
