"""Checkpoint storage: files are written at a rate, each on its own or all sharing one limit.

A file costs a core some work, for itself and for its bytes.  A limit lets its bytes wait besides,
side by side with that work or, on the rig, after it.  The limiter of the rig waits in steps of at
least `limiter_step_ns`, and each step overshoots a little and hands its chunks over besides, so the
rate reached is below the nominal one; where several streams share one limit the others continue
meanwhile, so that less is lost.  Some files are created late, some turn out at their end to be
unwritable; a file that is given up takes no more of a shared limit.  A restore reads each file
through a stream of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ckptsim.models.barriers.channel_state import handle_bytes
from ckptsim.sim.job.buffers.kinds import Kind

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Storage as StorageTable
    from ckptsim.sim.job.buffers.constants import Constants
    from ckptsim.sim.job.buffers.cores import Cores
    from ckptsim.sim.kernel import Entity, Environment

_SECOND_NS = 1_000_000_000
_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Work:
    """What a core has to do for a file: for itself, and per 1,000,000 bytes."""

    file_ns: int
    per_mb_ns: int


class Limiter:
    """How long limited bytes take.

    chunk_ns: nominal time of one chunk; chunks: how many make up one wait.
    """

    def __init__(self, rate: int, constants: Constants) -> None:
        self._chunk_bytes = constants.chunk_bytes
        self._chunk_ns = constants.chunk_bytes * _SECOND_NS / rate
        self._chunks = max(1, -(-constants.limiter_step_ns // max(1, int(self._chunk_ns))))
        handling = self._chunks * constants.limiter_chunk_ns
        self._lost_ns = constants.limiter_overshoot_ns + handling

    def ns_per_byte(self, streams: int) -> float:
        """Return the time that one byte takes when `streams` streams are under way."""
        wait = self._chunks * self._chunk_ns + self._lost_ns / streams
        return wait / (self._chunks * self._chunk_bytes)


class Upload:
    """A file under way: bytes still to be written, and what happens then.

    fails: whether it turns out at its end that it could not be written.  parts: its serialisation,
    and its way to the storage where that takes time besides.
    """

    __slots__ = ("_arguments", "_done", "cancelled", "fails", "left", "parts")

    def __init__(
        self, size: int, done: Callable[..., object], arguments: tuple[Any, ...], *, fails: bool
    ) -> None:
        self.left = float(size)
        self.parts = 1
        self.fails = fails
        self.cancelled = False
        self._done = done
        self._arguments = arguments

    def cancel(self) -> None:
        """Write no more; nobody hears of it."""
        self.cancelled = True

    def end(self) -> None:
        """End a part; after the last the file is whole, or it could not be written."""
        self.parts -= 1
        if not self.parts and not self.cancelled:
            self._done(*self._arguments, failed=self.fails)


class Storage:
    """Where a job's checkpoints are written.

    state, channel_state: what files of either sort cost.
    """

    def __init__(
        self, env: Environment, cores: Cores, table: StorageTable, constants: Constants
    ) -> None:
        self.state = Work(constants.file_cost_ns, constants.state_ns_per_mb)
        self.channel_state = Work(constants.channel_file_cost_ns, constants.channel_ns_per_mb)
        self._env = env
        self._cores = cores
        self._overlaps = constants.overlaps
        self._table = table
        self._entity = env.entity("storage")
        self._draws = env.stream("storage")
        self._failures = env.stream("storage failures")
        rate = table.write_bytes_per_s
        self._limiter = None if rate is None else Limiter(rate, constants)
        read_rate = table.read_bytes_per_s
        slowed = 1 + constants.read_loss_ratio
        self._reader = None if read_rate is None else slowed * _SECOND_NS / read_rate
        self._streams: list[Upload] = []
        self._updated_ns = 0
        self._timer = env.timer(Kind.STORAGE, self._entity, self._advance)

    @property
    def under_way(self) -> int:
        """Return how many files share a limit at present."""
        return len(self._streams)

    def forget(self) -> None:
        """Give up every file under way: who writes it is gone."""
        self._streams = []
        self._updated_ns = self._env.now

    def is_inline(self, size: int) -> bool:
        """Tell whether state of this size travels in the acknowledgement instead of a file."""
        limit = self._table.inline_threshold_bytes
        return handle_bytes((size,), inline_threshold_bytes=limit) == size

    def read(self, size: int, entity: Entity, done: Callable[..., object], *arguments: Any) -> None:
        """Call `done(*arguments)` when `size` bytes have been read through a stream of their own.

        Nothing takes no time.
        """
        if not size:
            done(*arguments)
        elif self._reader is None:
            self._cores.run(max(1, self.state.per_mb_ns * size // _MB), entity, done, *arguments)
        else:
            delay = max(1, round(size * self._reader))
            self._env.call_in(delay, Kind.STORAGE, entity, done, *arguments)

    def save(
        self,
        size: int,
        work: Work,
        done: Callable[..., object],
        *arguments: Any,
        late_ns: int = 0,
        fails: bool = False,
    ) -> Upload:
        """Write a file of `size` bytes and call `done(*arguments, failed=...)` at its end.

        late_ns: how much later than others it is created; fails: whether it cannot be written.
        """
        table = self._table
        delay = table.create_latency_ns + late_ns
        if table.tail_ratio and self._draws.chance(table.tail_ratio):
            delay += self._draws.exponential_ns(table.tail_latency_ns)
        if table.failure_ratio and self._failures.chance(table.failure_ratio):
            fails = True
        upload = Upload(size, done, arguments, fails=fails)
        cost = work.file_ns + work.per_mb_ns * size // _MB
        self._env.call_in(delay, Kind.STORAGE, self._entity, self._created, upload, cost)
        return upload

    def _created(self, upload: Upload, cost_ns: int) -> None:
        if upload.cancelled:
            return
        entity, limiter = self._entity, self._limiter
        if limiter is None or self._overlaps:
            self._cores.run(cost_ns, entity, upload.end)
        if limiter is not None and self._overlaps:
            upload.parts = 2
            self._limited(limiter, upload)
        elif limiter is not None:
            self._cores.run(cost_ns, entity, self._limited, limiter, upload)

    def _limited(self, limiter: Limiter, upload: Upload) -> None:
        if upload.cancelled:
            return
        if not self._table.shared_limit:
            delay = round(upload.left * limiter.ns_per_byte(1))
            self._env.call_in(delay, Kind.STORAGE, self._entity, upload.end)
            return
        self._account(limiter)
        self._streams.append(upload)
        self._arm(limiter)

    def _account(self, limiter: Limiter) -> None:
        now, count = self._env.now, len(self._streams)
        if count:
            share = (now - self._updated_ns) / limiter.ns_per_byte(count) / count
            for stream in self._streams:
                stream.left -= share
        self._updated_ns = now
        self._streams = [stream for stream in self._streams if not stream.cancelled]

    def _advance(self) -> None:
        if self._limiter is None:
            return
        self._account(self._limiter)
        whole = [stream for stream in self._streams if stream.left < 1.0]
        self._streams = [stream for stream in self._streams if stream.left >= 1.0]
        self._arm(self._limiter)
        for stream in whole:
            stream.end()

    def _arm(self, limiter: Limiter) -> None:
        count = len(self._streams)
        if count:
            least = min(stream.left for stream in self._streams)
            self._timer.arm_in(max(1, round(least * limiter.ns_per_byte(count) * count)))
