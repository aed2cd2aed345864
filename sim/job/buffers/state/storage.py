"""Checkpoint storage: files are created, serialised and written, and read back by a restore.

A file costs a core some work, for itself and for its bytes.  A limit lets its bytes wait besides,
side by side with that work or, on the rig, after it.  A subtask has a few threads that write its
files.  Some files are created late, some turn out at their end to be unwritable.  Everything that
is dropped takes no more of a shared limit.  A restore reads each file through a stream of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ckptsim.models.barriers.channel_state import handle_bytes
from ckptsim.sim.job.buffers.constants import without_quirks
from ckptsim.sim.job.buffers.kinds import Kind
from ckptsim.sim.job.buffers.state.requests import MergedFile, Requests, StorageFaults
from ckptsim.sim.job.buffers.state.streams import Rates, Streams

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Storage as StorageTable
    from ckptsim.sim.job.buffers.constants import Constants
    from ckptsim.sim.job.buffers.cores import Cores
    from ckptsim.sim.job.buffers.state.streams import Transfer
    from ckptsim.sim.job.control.faults import FaultPlan
    from ckptsim.sim.kernel import Entity, Environment

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
    files have ended.  fails: whether one turns out at its end to be unwritable.  sending: how many
    are on their way at present.  dropped: called with their number where they are aborted.
    """

    __slots__ = (
        "_begin",
        "_done",
        "_missing",
        "_sizes",
        "cancelled",
        "dropped",
        "fails",
        "sending",
        "transfers",
    )

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
        self.sending = 0
        self.dropped: Callable[[int], object] = int
        self._begin, self._done = begin, done
        self._missing = len(sizes)
        self._sizes = list(reversed(sizes))

    def start(self, threads: int) -> Moves:
        """Begin as many files as there are threads."""
        for _ in range(min(threads, self._missing)):
            if self._sizes:  # some may have ended at once
                self._begin(self, self._sizes.pop())
        return self

    def cancel(self) -> None:
        """Move no more. No one learns of it."""
        self.cancelled = True
        for one in self.transfers:
            one.cancelled = True
        self.dropped(self.sending)

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

    state, channel_state: what files of either sort cost a core.  created: files so far.
    deleting: checkpoints that are being deleted.  cores: what work of files takes.
    """

    def __init__(
        self,
        env: Environment,
        cores: Cores,
        table: StorageTable,
        constants: Constants,
        faults: FaultPlan,
    ) -> None:
        self.state = Work(constants.file_cost_ns, constants.state_ns_per_mb)
        self.sst = Work(constants.file_cost_ns, constants.sst_ns_per_mb)
        self.channel_state = Work(constants.channel_file_cost_ns, constants.channel_ns_per_mb)
        self.created = self.deleting = 0
        self._env = env
        self.cores = cores
        self._overlaps = constants.overlaps
        self._table, self._entity = table, env.entity("storage")
        self._faults = StorageFaults(env, self._entity, faults)
        self._draws = env.stream("storage")
        self._failures = env.stream("storage failures")
        write = table.write_bytes_per_s
        alone, shared = (None, write) if table.shared_limit else (write, None)
        rates = Rates(alone, table.write_host_bytes_per_s, shared)
        self._writes = Streams(env, self._entity, rates, constants, self._faults)
        read = table.read_bytes_per_s
        lost = 1 + constants.read_loss_ratio
        alone_read = None if read is None else read / lost
        rates = Rates(alone_read, table.read_host_bytes_per_s, table.read_job_bytes_per_s)
        exact, entity = without_quirks(constants), env.entity("storage reads")
        self._reads = Streams(env, entity, rates, exact, self._faults)
        self._requests = Requests(env, self._entity, table, self._faults)
        self._open: dict[tuple[int, int], list[int]] = {}  # sizes of merged files that are free
        self._busy: dict[tuple[str, int], int] = {}  # transfers of a host in one direction
        self._queued: dict[tuple[str, int], deque[Callable[[], object]]] = {}

    @property
    def under_way(self) -> int:
        """Return how many files share a limit at present."""
        return self._writes.under_way

    def forget(self) -> None:
        """Give up every file under way: who writes it is gone."""
        self._writes.forget()
        self._reads.forget()
        for kept in (self._open, self._busy, self._queued):
            kept.clear()

    def is_inline(self, size: int) -> bool:
        """Return whether state of this size travels in the acknowledgement instead of a file."""
        limit = self._table.inline_threshold_bytes
        return handle_bytes((size,), inline_threshold_bytes=limit) == size

    @property
    def requests_take_time(self) -> bool:
        """Return whether opening a file, or seeking in one, takes any."""
        return bool(self._table.open_latency_ns) or self._table.requests_per_s is not None

    # Deleting ---------------------------------------------------------------------------------

    def delete(self, files: int, done: Callable[..., object], *arguments: Any) -> None:
        """List a folder, delete its files, and call `done(*arguments)`, where that takes time."""
        table, entity = self._table, self._entity
        if not table.deletes_take_time:
            return

        def begin(moves: Moves, _: int) -> None:
            self._requests.send(table.delete_latency_ns, entity, moves.file_done)

        def end(_: Moves) -> None:
            self.deleting -= 1
            done(*arguments)

        self.deleting += 1
        moves = Moves([0] * files, begin, end)
        listed = partial(moves.start, table.transfer_threads)
        self._requests.send(table.list_latency_ns, entity, listed)

    # Places of a host -------------------------------------------------------------------------

    def _enter(self, way: str, host: int, begin: Callable[[], object]) -> None:
        """Begin a transfer when its host has a place for it."""
        most, key = self._table.host_transfers, (way, host)
        if most is not None:
            if self._busy.get(key, 0) >= most:
                self._queued.setdefault(key, deque()).append(begin)
                return
            self._busy[key] = self._busy.get(key, 0) + 1
        begin()

    def _leave(self, way: str, host: int, then: Callable[[], object]) -> None:
        """Give the place of a transfer to the next one, and continue."""
        if self._table.host_transfers is not None:
            key = way, host
            queued = self._queued.get(key)
            if queued:
                queued.popleft()()
            else:
                self._busy[key] = max(0, self._busy.get(key, 0) - 1)
        then()

    # Reading ----------------------------------------------------------------------------------

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

        def begin(moves: Moves, size: int) -> None:
            self._enter("read", host, partial(ask, moves, size))

        def ask(moves: Moves, size: int) -> None:
            then = partial(opened, moves, size, max(1, each_ns * size // _MB))
            if opens:  # tried until it succeeds: a task that restores has nothing else to do
                self._requests.send(self._table.open_latency_ns, entity, then)
            elif broken_ns := self._faults.broken_ns:
                self._env.call_in(broken_ns, Kind.STORAGE, entity, then)
            else:
                then()

        def opened(moves: Moves, size: int, work_ns: int) -> None:
            end = partial(self._leave, "read", host, moves.file_done)
            if not self._reads.are_limited:
                self.cores.run(work_ns, entity, end)
                return
            both: Callable[[], object] = end
            if self._overlaps and per_mb_ns:
                both = _Both(both)
                self.cores.run(work_ns, entity, both)
            self._reads.start(size, host, entity, both)

        Moves(sizes, begin, lambda _: done(*arguments)).start(threads)

    # Writing ----------------------------------------------------------------------------------

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
        checkpoint: int | None = None,
        appends: bool = False,
    ) -> Moves:
        """Write files of a host and call `done(*arguments, failed=...)` when all are there.

        late_ns: how much later than others they are created. fails: whether they cannot be written.
        checkpoint: of files that may be merged.  appends: to one that is there.
        """
        table = self._table
        pool: list[int] | None = None
        if table.file_merging and checkpoint is not None:
            pool = self._open.setdefault((host, table.file_merging_across or checkpoint), [])

        def begin(moves: Moves, size: int) -> None:
            self._enter("write", host, partial(ask, moves, size))

        def ask(moves: Moves, size: int) -> None:
            file = MergedFile(pool, size, table.file_merging_bytes)
            file.is_new = file.is_new and not appends
            refused = partial(self._refuse, moves, host)
            if not file.is_new:
                granted(moves, size, file)
            else:
                self._requests.ask(partial(granted, moves, size, file), refused)

        def granted(moves: Moves, size: int, file: MergedFile) -> None:
            delay = late_ns
            if file.is_new:
                self.created += 1
                delay += self._requests.turn_ns() + self._faults.slower(table.create_latency_ns)
                delay += self._requests.tail_ns(self._draws)
            if table.failure_ratio and self._failures.chance(table.failure_ratio):
                moves.fails = True
            arguments = moves, size, work.of(size), host, file
            self._env.call_in(delay, Kind.STORAGE, self._entity, self._created, *arguments)

        def end(moves: Moves) -> None:
            done(*arguments, failed=moves.fails)

        found = Moves(sizes, begin, end, fails=fails)
        found.dropped = partial(self._drop, host)
        return found.start(threads)

    def _drop(self, host: int, count: int) -> None:
        for _ in range(count):
            self._leave("write", host, int)

    def _refuse(self, moves: Moves, host: int) -> None:
        moves.fails = True
        self._leave("write", host, moves.file_done)

    def _created(self, moves: Moves, size: int, cost_ns: int, host: int, file: MergedFile) -> None:
        if moves.cancelled:
            self._leave("write", host, int)
            return
        cores, entity = self.cores, self._entity
        end = partial(self._written, moves, host, file)
        if not self._writes.are_limited:
            cores.run(cost_ns, entity, end)
        elif self._overlaps:
            both = _Both(end)
            cores.run(cost_ns, entity, both)
            self._send(moves, size, host, both)
        else:
            cores.run(cost_ns, entity, self._send, moves, size, host, end)

    def _written(self, moves: Moves, host: int, file: MergedFile) -> None:
        file.close()
        if self._faults.broken_ns:
            moves.fails = True
        self._leave("write", host, moves.file_done)

    def _send(self, moves: Moves, size: int, host: int, done: Callable[[], object]) -> None:
        if moves.cancelled:
            self._leave("write", host, int)
        else:
            moves.sending += 1
            sent = partial(self._sent, moves, done)
            moves.transfers.append(self._writes.start(size, host, self._entity, sent))

    def _sent(self, moves: Moves, done: Callable[[], object]) -> None:
        moves.sending -= 1
        done()
