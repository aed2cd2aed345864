"""The keyed state of a subtask in files: how large it is, and what a checkpoint uploads of it.

The heap backend writes its whole state into one file.  RocksDB flushes its memtable, which holds
the latest value of each key that was updated since the flush before.  An incremental checkpoint
uploads the files that are new since then, another one all that are live.  Every fourth flush is
followed by a compaction: the state is rewritten, and its new files are uploaded once more with the
flush after it.  Until then versions that were overwritten count in the size.

Source: measurements of Apache Flink 1.20.3 with one blind update per record. The bytes around the
state of the heap are measured, too, with one value per key.  Key groups: KeyGroupRangeAssignment.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ckptsim.scenarios.job import Backend, ClaimMode, Partitioner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ckptsim.scenarios.job import Job, StateTable, Vertex
    from ckptsim.sim.job.buffers.constants import Constants
    from ckptsim.sim.job.buffers.state.recovery import BufferSnapshot
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint

SOURCE_BYTES = 234
"""Found: every acknowledgement of a source carries this much."""

EMPTY_HEAD_BYTES = 764
EMPTY_GROUP_BYTES = 16
"""Found: 2812, 1788 and 1276 bytes at parallelism 1, 2 and 4, so 764 and 16 for each of 128/p."""

HEAD_BYTES = 3112
GROUP_BYTES = 24
"""The same with a state registered: 6184 and 4648 bytes on top of the state at parallelism 1, 2."""

_LEAST_GROUPS = 128
_MOST_GROUPS = 32_768

ENTRY_BYTES = {Backend.HEAP: 9, Backend.ROCKSDB: 16}
"""What an entry takes besides its value.  Found: exact on the heap, 1.01 of it in RocksDB."""

COMPACTED_FLUSHES = 4
"""Source: RocksDB, level0_file_num_compaction_trigger; found in 37 of 147 checkpoints."""

COMPACTED_BYTES = 256_000_000
"""Most of a subtask's state that one compaction rewrites.  Source: max_bytes_for_level_base."""

SST_BYTES = 64_000_000
"""Largest file of a compaction.  Source: Apache Flink 1.20.3, target_file_size_base."""

MEMTABLE_BYTES = 48_000_000
"""Raw updates that a memtable of 64 MB takes before it is flushed.  Found: 41 MB are one file, 51
MB two.  Decides only how often a subtask compacts whose updates are more in one interval."""

_KNOWN_FLUSHES = 2


@dataclass(frozen=True, slots=True)
class StateFiles:
    """The live files of a subtask's state: files of the latest compaction, and flushes since.

    canonical: they are one file of a savepoint, which no backend works on.
    """

    base: tuple[int, ...]
    flushed: tuple[int, ...] = ()
    canonical: bool = False

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the bytes of every file, oldest first."""
        return self.base + self.flushed


@dataclass(frozen=True, slots=True)
class Capture:
    """What a subtask's part holds: its live files, what of them it uploads, and its flush.

    flush_ns: how long the one thread that flushes works for it.  before: bytes of it that were
    uploaded while the checkpoint was still to come.
    """

    files: StateFiles
    uploaded: tuple[int, ...]
    flush_ns: int = 0
    before: int = 0


class KeyedState:
    """The state of one subtask in one attempt.

    held: its files in the checkpoint that the attempt begins from, None where there are none.
    phase: how many flushes there were since a compaction, where that is chance.  is_owned: whether
    checkpoints may refer to these.
    """

    def __init__(
        self,
        table: StateTable,
        vertex: Vertex,
        subtask: int,
        constants: Constants,
        *,
        held: StateFiles | None,
        phase: int,
        is_owned: bool = True,
    ) -> None:
        self._table, self._vertex, self._constants = table, vertex, constants
        self.full_bytes = _full_bytes(table, vertex)[subtask]
        self._written: int | None = None
        if vertex.subtask_state_bytes:
            self._written = vertex.subtask_state_bytes[subtask]
        elif table.incremental and vertex.state_delta_bytes is not None:
            self._written = vertex.state_delta_bytes // vertex.parallelism
        self._flushes = self.is_on_disk and bool(vertex.keys) and self._written is None
        self._new: list[int] = []
        self._logged, self._materialized_ns = 0, 0  # bytes of the changelog, and since when
        self._all_at_once = False  # the next checkpoint uploads everything
        self._updated_ns = self._processed = 0
        if held is None:
            held = self._written_once(phase) if self._flushes else StateFiles((self.full_bytes,))
            self._new = list(held.sizes)
        elif held.canonical or not is_owned:
            if held.canonical:
                held = StateFiles(_sst(sum(held.sizes)))
            self._new = list(held.sizes)
            self._all_at_once = table.incremental
        self.files = held

    def _written_once(self, phase: int) -> StateFiles:
        """Return the files of a state after each key was written once."""
        pieces = -(-self.full_bytes // MEMTABLE_BYTES)
        if pieces <= _KNOWN_FLUSHES:
            return StateFiles((), _split(self.full_bytes, pieces))
        # Longer writing compacts on its way, and subtasks are not in phase.
        later = _split(MEMTABLE_BYTES * phase, phase)
        return StateFiles(_sst(self.full_bytes - sum(later)), later)

    @property
    def is_on_disk(self) -> bool:
        """Whether files of a checkpoint are those that tasks work on."""
        return self._table.backend is Backend.ROCKSDB

    def begins(self, processed: int, now_ns: int) -> None:
        """Count updates from here on."""
        self._processed, self._updated_ns = processed, now_ns

    def capture(self, processed: int, now_ns: int) -> Capture:
        """Take what belongs to a checkpoint, of a subtask that has processed so many records."""
        updates = self._updates(processed, now_ns)
        self.begins(processed, now_ns)
        if self._table.changelog and self._vertex.value_bytes and not self._vertex.is_source:
            return self._log(updates, now_ns)
        if not self._flushes:
            written = self.full_bytes if self._written is None else self._written
            written = max(written, self.full_bytes) if self._all_at_once else written
            self._all_at_once = False
            flushed = self._written or 0
            keyed = self.is_on_disk and written and not self._vertex.is_source
            flush_ns = self._flush_ns(flushed, 0) if keyed else 0
            return Capture(self.files, (written,), flush_ns)
        flush_ns = self._flush(updates)
        uploaded = tuple(self._new) if self._table.incremental else self.files.sizes
        self._new = []
        return Capture(self.files, uploaded, flush_ns)

    def _log(self, updates: float, now_ns: int) -> Capture:
        """Take the changelog. Only its end is not uploaded yet.

        Assumption: a materialization has no part in what a checkpoint waits for.
        """
        table = self._table
        new = round(updates * _entry_bytes(table, self._vertex))
        written = 0
        if now_ns - self._materialized_ns >= table.materialization_interval_ns:
            self._logged, self._materialized_ns, written = 0, now_ns, self.full_bytes
        self._logged += new
        tail = new % table.persisted_bytes
        files = StateFiles((self.full_bytes,), (self._logged,) if self._logged else ())
        return Capture(files, (tail,) if tail else (), before=new - tail + written)

    def capture_whole(self) -> Capture:
        """Take what belongs to a canonical savepoint: all entries, which a thread reads."""
        return Capture(StateFiles((self.full_bytes,), canonical=True), (self.full_bytes,))

    def again(self, sizes: Sequence[int]) -> None:
        """Upload files with the next checkpoint: theirs has been aborted."""
        if self._flushes:
            self._new[:0] = sizes

    def _updates(self, processed: int, now_ns: int) -> float:
        rate = self._vertex.updates_per_s
        if rate is None:
            return processed - self._processed
        return rate / self._vertex.parallelism * (now_ns - self._updated_ns) / 1e9

    def _flush(self, updates: float) -> int:
        """Flush the memtable as often as it was full, and once more. Return the last one's time."""
        vertex = self._vertex
        pieces = 1 + int(updates * _entry_bytes(self._table, vertex) // MEMTABLE_BYTES)
        size = round(self._unique(updates / pieces) * _entry_bytes(self._table, vertex))
        for _ in range(pieces if size else 0):
            if len(self.files.flushed) >= COMPACTED_FLUSHES:
                self._compact()
            self.files = StateFiles(self.files.base, (*self.files.flushed, size))
            self._new.append(size)
        return self._flush_ns(size, updates / pieces)

    def _flush_ns(self, size: int, updates: float) -> int:
        constants = self._constants
        each_ns = constants.flush_ns_per_mb * size // 1_000_000
        return constants.flush_ns + each_ns + round(constants.update_ns * updates)

    def _compact(self) -> None:
        """Rewrite the state. A compaction does not reach the lower levels, which are stored."""
        rewritten = min(self.full_bytes, COMPACTED_BYTES)
        rest = (self.full_bytes - rewritten,) if self.full_bytes > rewritten else ()
        self.files = StateFiles(rest + _sst(rewritten))
        self._new = list(_sst(rewritten))

    def _unique(self, updates: float) -> float:
        """Return how many keys of a subtask so many updates touch."""
        vertex = self._vertex
        keys, hot = (count / vertex.parallelism for count in (vertex.keys or 0, vertex.hot_keys))
        cold = updates * (1 - vertex.hot_share)
        return _touched(hot, updates - cold) + _touched(keys - hot, cold)


def keyed_state(world: DataflowWorld, task: Task, held: JobCheckpoint | None) -> KeyedState:
    """Return the state of a task that begins from a checkpoint, or afresh."""
    snapshot: BufferSnapshot | None = None if held is None else held.tasks.get(task.number)
    found = KeyedState(
        world.model.state,
        task.spec.vertex,
        task.subtask,
        world.constants,
        held=None if snapshot is None else snapshot.files,
        phase=world.env.stream("compaction").integer(0, COMPACTED_FLUSHES - 1),
        is_owned=world.model.state.claim is not ClaimMode.NO_CLAIM
        or held is None
        or not world.control.was_submitted_with(held.checkpoint_id),
    )
    found.begins(task.processed, world.env.now)
    return found


def _touched(keys: float, updates: float) -> float:
    return keys * -math.expm1(-updates / keys) if keys > 0 else 0.0


def _split(size: int, pieces: int) -> tuple[int, ...]:
    return tuple(size * (i + 1) // pieces - size * i // pieces for i in range(pieces))


def _sst(size: int) -> tuple[int, ...]:
    """Return the files of a compaction: full ones, and the rest."""
    whole, rest = divmod(size, SST_BYTES)
    return (SST_BYTES,) * whole + ((rest,) if rest else ())


def _entry_bytes(table: StateTable, vertex: Vertex) -> int:
    return (vertex.value_bytes or 0) + ENTRY_BYTES[table.backend]


def state_sizes(model: Job) -> dict[str, list[int]]:
    """Return the full size of the state of every subtask, by vertex."""
    return {vertex.name: _full_bytes(model.state, vertex) for vertex in model.vertices}


def _full_bytes(table: StateTable, vertex: Vertex) -> list[int]:
    """Return bytes of state per subtask.

    A source writes where its readers are.  An operator after a keyed edge writes its key groups
    even when they are empty: a head, and a few bytes for each group.  Other operators have no state
    of their own.
    """
    whole = vertex.state_bytes or (vertex.keys or 0) * _entry_bytes(table, vertex)
    if vertex.subtask_state_bytes and not whole:
        return list(vertex.subtask_state_bytes)
    if vertex.is_source:
        return [SOURCE_BYTES] * vertex.parallelism
    own = whole // vertex.parallelism
    return [own + _overhead(vertex, groups, own) for groups in key_groups(vertex.parallelism)]


def key_groups(parallelism: int) -> list[int]:
    """Return how many key groups each subtask has, unless the job says otherwise."""
    most = 1 << (parallelism + parallelism // 2 - 1).bit_length()
    most = min(max(most, _LEAST_GROUPS), _MOST_GROUPS)
    starts = [(index * most + parallelism - 1) // parallelism for index in range(parallelism + 1)]
    return [after - start for start, after in pairwise(starts)]


def _overhead(operator: Vertex, groups: int, own: int) -> int:
    if all(edge.partitioner is not Partitioner.HASH for edge in operator.inputs):
        return 0
    if not own:
        return EMPTY_HEAD_BYTES + EMPTY_GROUP_BYTES * groups
    return HEAD_BYTES + GROUP_BYTES * groups
