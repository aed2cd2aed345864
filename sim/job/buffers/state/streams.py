"""Limited streams of bytes: each has its own limit, and shares limits of its host and of the job.

A stream goes at the least of its own rate and of equal parts in what it shares.  The throttle of
the rig waits in steps of at least `limiter_step_ns`.  Each step overshoots a little and hands its
chunks over besides, so the rate reached is below the nominal one.  Where several streams share a
limit the others continue meanwhile, so that less is lost.  In profile `plain` a limit is kept to
the byte.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.buffers.kinds import Kind

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.constants import Constants
    from ckptsim.sim.job.buffers.state.requests import StorageFaults
    from ckptsim.sim.kernel import Entity, Environment

_SECOND_NS = 1_000_000_000


class Limiter:
    """How long limited bytes take.

    chunk_ns: nominal time of one chunk.  chunks: how many make up one wait.
    """

    def __init__(self, rate: float, constants: Constants) -> None:
        self._chunk_bytes = constants.chunk_bytes
        self._chunk_ns = constants.chunk_bytes * _SECOND_NS / rate
        self._chunks = max(1, -(-constants.limiter_step_ns // max(1, int(self._chunk_ns))))
        handling = self._chunks * constants.limiter_chunk_ns
        self._lost_ns = constants.limiter_overshoot_ns + handling

    def ns_per_byte(self, streams: int) -> float:
        """Return the time that one byte takes when `streams` streams are under way."""
        wait = self._chunks * self._chunk_ns + self._lost_ns / streams
        return wait / (self._chunks * self._chunk_bytes)


@dataclass(frozen=True, slots=True)
class Rates:
    """Limits in bytes per second, None for none: of each stream, of a host, of the job."""

    stream: float | None
    host: int | None
    job: int | None


class Transfer:
    """Bytes under way from or to a host. `done` is called when none is left."""

    __slots__ = ("cancelled", "done", "host", "left")

    def __init__(self, size: int, host: int, done: Callable[[], Any]) -> None:
        self.left = float(size)
        self.host = host
        self.done = done
        self.cancelled = False

    def end(self) -> None:
        """Call who waits."""
        if not self.cancelled:
            self.done()


class Streams:
    """All transfers of a job in one direction."""

    def __init__(
        self,
        env: Environment,
        entity: Entity,
        rates: Rates,
        constants: Constants,
        faults: StorageFaults,
    ) -> None:
        def limiter(rate: float | None) -> Limiter | None:
            return None if rate is None else Limiter(rate, constants)

        self._env = env
        self._entity = entity
        self._alone, self._host, self._job = map(limiter, (rates.stream, rates.host, rates.job))
        self._active: list[Transfer] = []
        self._updated_ns = 0
        self._faults = faults
        faults.streams.append(self)
        self._timer = env.timer(Kind.STORAGE, entity, self._advance)

    @property
    def are_limited(self) -> bool:
        """Return whether bytes take time."""
        return any((self._alone, self._host, self._job))

    @property
    def under_way(self) -> int:
        """Return how many transfers share a limit at present."""
        return len(self._active)

    def forget(self) -> None:
        """Drop every transfer: who waits for it is gone."""
        self._active = []
        self._updated_ns = self._env.now

    def start(self, size: int, host: int, entity: Entity, done: Callable[[], Any]) -> Transfer:
        """Move bytes of a host, and call `done` when all are there."""
        transfer = Transfer(size, host, done)
        if self._host is None and self._job is None and not self._faults.slows:
            # Nothing is shared, so nothing can change how long it takes.
            each_ns = 0.0 if self._alone is None else self._alone.ns_per_byte(1)
            delay = max(1, round(size * each_ns))
            self._env.call_in(delay, Kind.STORAGE, entity, transfer.end)
            return transfer
        self.account()
        self._active.append(transfer)
        self.arm()
        return transfer

    def _costs_ns(self) -> dict[int, float]:
        """Return how long a byte of a stream takes at present, by host."""
        total, crowd = len(self._active), Counter(one.host for one in self._active)
        base = 0.0 if self._alone is None else self._alone.ns_per_byte(1)
        if self._job is not None:
            base = max(base, self._job.ns_per_byte(total) * total)
        factor = self._faults.factor
        if self._host is None:
            return dict.fromkeys(crowd, base * factor)
        own = self._host.ns_per_byte
        return {host: max(base, own(n) * n) * factor for host, n in crowd.items()}

    def account(self) -> None:
        """Take off the bytes that have been moved by now."""
        now = self._env.now
        if self._active and now > self._updated_ns:
            costs_ns = self._costs_ns()
            for one in self._active:
                one.left -= (now - self._updated_ns) / costs_ns[one.host]
        self._updated_ns = now
        self._active = [one for one in self._active if not one.cancelled]

    def _advance(self) -> None:
        self.account()
        whole = [one for one in self._active if one.left < 1.0]
        self._active = [one for one in self._active if one.left >= 1.0]
        self.arm()
        for one in whole:
            one.end()

    def arm(self) -> None:
        """Wait for the end of the next transfer."""
        if self._active:
            costs_ns = self._costs_ns()
            least = min(one.left * costs_ns[one.host] for one in self._active)
            self._timer.arm_in(max(1, round(least)))
