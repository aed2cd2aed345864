"""Checkpoint storage: files are created, serialised and written, and read back by a restore.

A file costs a core some work, for itself and for its bytes.  A limit lets its bytes wait besides,
side by side with that work or, on the rig, after it.  A subtask has a few threads that write its
files.  Some files are created late, some turn out at their end to be unwritable.  Everything that
is dropped takes no more of a shared limit.  A restore reads each file through a stream of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ckptsim.models.barriers.channel_state import handle_bytes
from ckptsim.sim.job.buffers.constants import without_quirks
from ckptsim.sim.job.buffers.kinds import Kind
from ckptsim.sim.job.buffers.state.streams import Rates, Streams

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Storage as StorageTable
    from ckptsim.sim.job.buffers.constants import Constants
    from ckptsim.sim.job.buffers.cores import Cores
    from ckptsim.sim.job.buffers.state.streams import Transfer
    from ckptsim.sim.kernel import Entity, Environment

_SECOND_NS = 1_000_000_000
_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Work:
    """What a core has to do for a file: for itself, and per 1,000,000 bytes."""

    file_ns: int
    per_mb_ns: int

    def of(self, size: int) -> int:
        """Return how long a file of so many bytes takes a core."""
        return self.file_ns + self.per_mb_ns * size // _MB


class Moves:
    """Files of one subtask that are written or read, so many at a time as it has threads.

    begin: starts a file of so many bytes, which is to call `file_done`.  done: called when all
    files have ended.  fails: whether one turns out at its end to be unwritable.
    """

    __slots__ = ("_begin", "_done", "_missing", "_sizes", "cancelled", "fails", "transfers")

    def __init__(
        self,
        sizes: Sequence[int],
        begin: Callable[[Moves, int], object],
        done: Callable[[Moves], object],
        *,
        fails: bool = False,
    ) -> None:
        self.cancelled = False
        self.fails = fails
        self.transfers: list[Transfer] = []
        self._begin, self._done = begin, done
        self._missing = len(sizes)
        self._sizes = list(reversed(sizes))

    def start(self, threads: int) -> Moves:
        """Begin as many files as there are threads."""
        for _ in range(min(threads, self._missing)):
            self._begin(self, self._sizes.pop())
        return self

    def cancel(self) -> None:
        """Move no more. No one learns of it."""
        self.cancelled = True
        for one in self.transfers:
            one.cancelled = True

    def file_done(self) -> None:
        """Begin the next file. After the last one all are done."""
        if self.cancelled:
            return
        self._missing -= 1
        if self._sizes:
            self._begin(self, self._sizes.pop())
        elif not self._missing:
            self._done(self)


class _Both:
    """Calls a function when it has been called itself for the second time."""

    __slots__ = ("_done", "_left")

    def __init__(self, done: Callable[[], object]) -> None:
        self._done, self._left = done, 2

    def __call__(self) -> None:
        self._left -= 1
        if not self._left:
            self._done()


class Storage:
    """Where a job's checkpoints are written.

    state, channel_state: what files of either sort cost a core.
    """

    def __init__(
        self, env: Environment, cores: Cores, table: StorageTable, constants: Constants
    ) -> None:
        self.state = Work(constants.file_cost_ns, constants.state_ns_per_mb)
        self.sst = Work(constants.file_cost_ns, constants.sst_ns_per_mb)
        self.channel_state = Work(constants.channel_file_cost_ns, constants.channel_ns_per_mb)
        self._env = env
        self._cores = cores
        self._overlaps = constants.overlaps
        self._table = table
        self._entity = env.entity("storage")
        self._draws = env.stream("storage")
        self._failures = env.stream("storage failures")
        write = table.write_bytes_per_s
        alone, shared = (None, write) if table.shared_limit else (write, None)
        rates = Rates(alone, table.write_host_bytes_per_s, shared)
        self._writes = Streams(env, self._entity, rates, constants)
        read = table.read_bytes_per_s
        lost = 1 + constants.read_loss_ratio
        rates = Rates(None if read is None else read / lost, table.read_host_bytes_per_s, None)
        self._reads = Streams(env, env.entity("storage reads"), rates, without_quirks(constants))
        self._granted_ns = 0

    @property
    def under_way(self) -> int:
        """Return how many files share a limit at present."""
        return self._writes.under_way

    def forget(self) -> None:
        """Give up every file under way: who writes it is gone."""
        self._writes.forget()
        self._reads.forget()

    def is_inline(self, size: int) -> bool:
        """Return whether state of this size travels in the acknowledgement instead of a file."""
        limit = self._table.inline_threshold_bytes
        return handle_bytes((size,), inline_threshold_bytes=limit) == size

    def _request_ns(self) -> int:
        """Return how long a request waits for its turn, where so many a second are allowed."""
        rate = self._table.requests_per_s
        if rate is None:
            return 0
        now = self._env.now
        self._granted_ns = max(now, self._granted_ns) + round(_SECOND_NS / rate)
        return self._granted_ns - now

    def read(
        self,
        sizes: Sequence[int],
        host: int,
        entity: Entity,
        done: Callable[..., object],
        *arguments: Any,
        per_mb_ns: int | None = None,
        opens: bool = False,
        threads: int = 1,
    ) -> None:
        """Call `done(*arguments)` when files have been read by threads of a host.

        per_mb_ns: a core's work for 1,000,000 bytes.  opens: files are opened, which is a request.
        Nothing takes no time.
        """
        if not sum(sizes):
            done(*arguments)
            return
        each_ns = self.state.per_mb_ns if per_mb_ns is None else per_mb_ns
        delay_ns = self._table.open_latency_ns if opens else 0

        def begin(moves: Moves, size: int) -> None:
            wait_ns = delay_ns + (self._request_ns() if opens else 0)
            work_ns = max(1, each_ns * size // _MB)
            if wait_ns:
                self._env.call_in(wait_ns, Kind.STORAGE, entity, opened, moves, size, work_ns)
            else:
                opened(moves, size, work_ns)

        def opened(moves: Moves, size: int, work_ns: int) -> None:
            if not self._reads.are_limited:
                self._cores.run(work_ns, entity, moves.file_done)
                return
            both: Callable[[], object] = moves.file_done
            if self._overlaps and per_mb_ns:
                both = _Both(both)
                self._cores.run(work_ns, entity, both)
            self._reads.start(size, host, entity, both)

        Moves(sizes, begin, lambda _: done(*arguments)).start(threads)

    def save(
        self,
        sizes: Sequence[int],
        work: Work,
        done: Callable[..., object],
        *arguments: Any,
        host: int,
        threads: int = 1,
        late_ns: int = 0,
        fails: bool = False,
    ) -> Moves:
        """Write files of a host and call `done(*arguments, failed=...)` when all are there.

        late_ns: how much later than others they are created. fails: whether they cannot be written.
        """
        table = self._table

        def begin(moves: Moves, size: int) -> None:
            delay = self._request_ns() + table.create_latency_ns + late_ns
            if table.tail_ratio and self._draws.chance(table.tail_ratio):
                delay += self._draws.exponential_ns(table.tail_latency_ns)
            if table.failure_ratio and self._failures.chance(table.failure_ratio):
                moves.fails = True
            arguments = moves, size, work.of(size), host
            self._env.call_in(delay, Kind.STORAGE, self._entity, self._created, *arguments)

        def end(moves: Moves) -> None:
            done(*arguments, failed=moves.fails)

        return Moves(sizes, begin, end, fails=fails).start(threads)

    def _created(self, moves: Moves, size: int, cost_ns: int, host: int) -> None:
        if moves.cancelled:
            return
        cores, entity = self._cores, self._entity
        if not self._writes.are_limited:
            cores.run(cost_ns, entity, moves.file_done)
        elif self._overlaps:
            both = _Both(moves.file_done)
            cores.run(cost_ns, entity, both)
            self._send(moves, size, host, both)
        else:
            cores.run(cost_ns, entity, self._send, moves, size, host, moves.file_done)

    def _send(self, moves: Moves, size: int, host: int, done: Callable[[], object]) -> None:
        if not moves.cancelled:
            moves.transfers.append(self._writes.start(size, host, self._entity, done))
