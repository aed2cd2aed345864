"""The compiled driver of one attempt: the kernel's place in the calendar, and what it hands over.

The kernel has a heap of its own for all that data does.  In the run's calendar one timer represents
its first entry, with that entry's own place among ties.  When the timer comes up the kernel carries
out entries until one of Python's is next or Python has to act: a task has taken an event, has come
to its mailbox, has no more records.  Whatever Python does then happens at that very instant, and
the kernel continues after it.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from simpy.events import NORMAL

from ckptsim.models.barriers.barrier import (
    Announcement,
    Barrier,
    EndOfData,
    NetworkEvent,
    is_blocking,
)
from ckptsim.models.barriers.channels import (
    OutputStateFailed,
    OutputStateKnown,
    OutputStateOpened,
    PersistInput,
    PersistOutput,
)
from ckptsim.models.core import ProtocolError
from ckptsim.sim.job.buffers.compiled.columns import cell, clock, entry, request
from ckptsim.sim.job.buffers.compiled.followers import tell_of
from ckptsim.sim.job.buffers.compiled.tables import Tables
from ckptsim.sim.job.buffers.compiled.words import link, zeros
from ckptsim.sim.job.buffers.output import Slice
from ckptsim.sim.job.buffers.tasks import Source
from ckptsim.sim.kernel import Timer, unfenced
from ckptsim.sim.kernel.calendar import BEHIND
from ckptsim.sim.kernel.ties import SeededRandom

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.compiled.followers import Follower, StretchFollower
    from ckptsim.sim.job.buffers.compiled.task import CompiledTask
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.kernel import Entity, Environment

_SIGN = 1 << 63
# Those that each question needs, by name: a module's attribute costs as much as the word.
_NOW, _SEQUENCE, _MARGIN, _LOG_SIZE = clock.NOW, clock.SEQUENCE, clock.MARGIN, clock.LOG_SIZE
_FREE_CELLS, _HEAP_SIZE, _HEAP_ROWS = clock.FREE_CELLS, clock.HEAP_SIZE, clock.HEAP_ROWS
_KINDS = {
    entry.FIRE: entry.THREAD,
    entry.RETRY: entry.THREAD,
    entry.FLUSH: entry.FLUSHER,
    entry.ARRIVE: entry.ARRIVAL,
    entry.ARRIVE_EMPTY: entry.ARRIVAL,
    entry.HEAR_BACKLOG: entry.ARRIVAL,
}


class CompiledDriver:
    """One attempt's kernel.

    m: its memory. words: the same, each word an int of Python's, at a third of the cost. tables:
    how it is laid out. before: the driver of the attempt before, with random streams to continue.
    handovers: how often Python let it carry out entries.
    event_in: the event of a row.
    follower: learns what happens to each buffer, or None. followers: hear what tasks have done.
    """

    def __init__(self, env: Environment, tables: Tables, before: CompiledDriver | None) -> None:
        self.env = env
        env.driver = "the compiled kernel"
        self.tables = tables
        if before is None:
            self.m = tables.memory(None, None)
        else:
            self.m = tables.memory(before.m, before.tables)
        self.words = memoryview(self.m)  # type: ignore[arg-type]
        self.tasks = tables.tasks
        self.handovers = 0
        with unfenced():  # who compiles a program asks for clocks, ids and random names
            from ckptsim.sim.job.buffers.compiled.door import kernel  # noqa: PLC0415

            self._bound = kernel()
        self._ask = self._bound(self.m)
        self._task_of = tables.task_of
        self._channel_of = tables.channel_of
        self._key_of = tables.ties.key
        self._rows: dict[NetworkEvent, int] = {}
        self.event_in: dict[int, NetworkEvent] = {}
        self._used = tables.events
        self._proxy = Timer(env, entry.THREAD, env.entity("kernel"), self._run)
        self._stood: tuple[int, int, int] | None = None
        self._hashed = isinstance(env.ties, SeededRandom)
        self._running = False
        self._holds_back = False
        self.follower: Follower | None = None
        self.followers: list[StretchFollower] = []

    # What Python asks -------------------------------------------------------------------------

    def ask(self, what: int, one: int, first: int = 0, second: int = 0) -> int:
        """Ask the kernel for something that happens now."""
        words = self.words
        margin = words[_MARGIN]
        if words[_FREE_CELLS] < margin or words[_HEAP_SIZE] + margin > words[_HEAP_ROWS]:
            self.make_room()
            words = self.words
        words[_NOW] = self.env._now  # noqa: SLF001
        words[_SEQUENCE] = self.env.number()
        found = self._ask(what, one, first, second)
        if words[_LOG_SIZE]:
            self._read_log()
        if not self._running:
            self._stand()
        return found

    def collect(self, what: int, one: int, first: int = 0, second: int = 0) -> None:
        """Ask for something with effects that stay in the outbox until the caller drains it."""
        self._holds_back = True
        try:
            self.ask(what, one, first, second)
        finally:
            self._holds_back = False

    def continue_thread(self, task: CompiledTask) -> None:
        """Continue the thread of a task, and do what it comes to."""
        code = self.ask(request.RUN, task.row)
        if code:
            self._serve(code)
            if not self._running:
                self._stand()

    def flush_from(self, number: int, first_ns: int) -> None:
        """Have the first flush of a task at an instant, and all others after it."""
        self.ask(request.PUSH_FLUSH, self.tasks[number].row, first_ns)

    def all_tasks(self) -> list[Task]:
        """Return the tasks of the attempt, by number."""
        return list(self.tasks)

    def queued(self) -> tuple[list[int], list[int]]:
        """Return per task how many buffers wait at its inputs, and how many at its outputs."""
        return self.tables.queued(self.m)

    def stands_for(self, timer: Timer) -> bool:
        """Return whether the calendar has a timer of the kernel."""
        return timer is self._proxy

    def stand_anew(self) -> None:
        """Let the timer stand where the kernel's first entry is by now, as the clock was set."""
        self._stood = None
        self._stand()

    def stop(self) -> None:
        """Let nothing of the attempt happen any more."""
        self.m[clock.HEAP_SIZE] = 0
        self._proxy.cancel()

    def give_back_streams(self) -> None:
        """Let another job of the same run draw on where this one has ended."""
        self.tables.random.give_back(self.m)

    # Events -----------------------------------------------------------------------------------

    def number_of(self, event: NetworkEvent) -> int:
        """Return the row of an event."""
        found = self._rows.get(event)
        if found is None:
            found = self._rows[event] = self._new_rows(1, cell.EVENT_WIDTH)
            self.event_in[found] = event
            row = self.m[found : found + cell.EVENT_WIDTH]
            row[cell.IS_BLOCKING] = is_blocking(event)
            row[cell.ENDS_DATA] = isinstance(event, EndOfData)
            if isinstance(event, Barrier):
                row[cell.IS_BARRIER] = 1
                row[cell.CHECKPOINT] = event.checkpoint
                row[cell.IS_UNALIGNED] = event.is_unaligned
                row[cell.IS_TIMEOUTABLE] = event.is_timeoutable
        return int(found)

    def unaligned_of(self, checkpoint: int) -> int | None:
        """Return the row of the unaligned barrier of a timeoutable one that was sent, if any."""
        for event in reversed(self._rows):
            if not isinstance(event, Barrier) or event.checkpoint != checkpoint:
                continue
            if event.is_timeoutable:
                return self.number_of(event.as_unaligned())
        return None

    def event_of(self, e: int) -> NetworkEvent:
        """Return the event that a cell has brought, and free the cell."""
        words = self.words
        event = self.event_in[words[e + cell.EVENT]]
        if words[e + cell.WHAT] == cell.ANNOUNCEMENT and isinstance(event, Barrier):
            event = Announcement(event, words[e + cell.SEQUENCE])
        words[e + cell.NEXT], words[clock.FREE_CELL] = words[clock.FREE_CELL], e
        words[_FREE_CELLS] += 1
        return event

    # The kernel's turn ------------------------------------------------------------------------

    def _run(self) -> None:
        env, words = self.env, self.words
        self._running, self._stood = True, None
        steps = words[clock.STEPS]
        try:
            while True:
                self._set_limit()
                words[_NOW] = env._now  # noqa: SLF001
                words[_SEQUENCE] = env.number()
                self.handovers += 1
                code = self._ask(request.LOOP, 0, 0, 0)
                env._now = words[_NOW]  # noqa: SLF001
                if words[_LOG_SIZE]:
                    self._read_log()
                if code == clock.LIMIT:
                    break
                if code == clock.ROOM:
                    self.make_room()
                elif code == clock.REFUSED:
                    raise ProtocolError("illegal_state", state="not blocked", event="resume")
                elif code != clock.LOGGED:
                    self._serve(code)
                words = self.words
        finally:
            self._running = False
            env.steps += self.words[clock.STEPS] - steps - 1
        self._stand()

    def _set_limit(self) -> None:
        """Tell the kernel which entry of Python's comes next."""
        queue, row = self.env._queue, self.words  # noqa: SLF001
        while queue and queue[0][4].__class__ is Timer and queue[0][4].sequence != queue[0][3]:
            heappop(queue)
        last: int = self.env.last_ns
        if not queue or queue[0][0] > last:
            row[clock.LIMIT_NS] = min(last, (1 << 62) - 1) + 1
            row[clock.LIMIT_KEY] = -_SIGN
            row[clock.LIMIT_SEQUENCE] = 0
            return
        time, priority, tie, sequence, _ = queue[0]
        row[clock.LIMIT_NS] = time
        if priority < NORMAL:
            row[clock.LIMIT_KEY] = -_SIGN
        else:
            row[clock.LIMIT_KEY] = tie - _SIGN if self._hashed else self._key_of(tie)
        row[clock.LIMIT_SEQUENCE] = sequence

    def _stand(self) -> None:
        """Let a timer stand in the calendar for the kernel's first entry."""
        words = self.words
        if not words[_HEAP_SIZE]:
            self._proxy.cancel()
            self._stood = None
            return
        first = words[clock.HEAP]
        time, key, sequence, action, target = words[first : first + 5].tolist()
        if self._stood == (time, key, sequence):
            return
        self._stood = time, key, sequence
        tie: Any = key + _SIGN
        is_behind = key == entry.BEHIND
        if is_behind or not self._hashed:
            kind = _KINDS.get(action, entry.CREDIT)
            owner: Entity
            if kind in (entry.THREAD, entry.FLUSHER):
                owner = self._task_of[target].entity
            else:
                owner = self._channel_of[target].entity
            tie = owner.ranks[kind] if is_behind else self.env.ties.tie(time, kind, owner)
        self._proxy.sequence = sequence
        priority = BEHIND if is_behind else NORMAL
        heappush(self.env._queue, (time, priority, tie, sequence, self._proxy))  # noqa: SLF001

    # What it hands over -----------------------------------------------------------------------

    def _serve(self, code: int) -> None:
        """Do what a task has come to, and continue its thread until it serves or waits."""
        words = self.words
        task = self._task_of[words[clock.TASK]]
        self.env._caller = task.entity  # noqa: SLF001
        while code:
            task.tell_clock()
            if code == clock.EVENT:
                taken_from = self._channel_of[words[clock.CHANNEL]]
                task.events.take(taken_from, self.event_of(words[clock.CELL]))  # type: ignore[arg-type]
            elif code == clock.MAIL:
                function, arguments = task.mail.popleft()
                function(*arguments)
            elif code == clock.EXHAUSTED and isinstance(task, Source):
                task.exhaust()
            words = self.words
            code = self.ask(request.RUN, task.row)

    # The log ----------------------------------------------------------------------------------

    def _new_lines(self) -> list[list[int]]:
        """Return what control has to hear of the log, when those have heard who follow the data."""
        words, width = self.words, clock.LOG_WIDTH
        first, end = words[clock.LOG], words[clock.LOG] + words[_LOG_SIZE] * width
        words[_LOG_SIZE] = words[clock.LOG_URGENT] = 0
        if self.followers:
            lines = self.m[first:end].reshape(-1, width)
            told = (lines[:, 0] == clock.EMITTED) | (lines[:, 0] == clock.PROCESSED)
            for one in self.followers:
                one.tell(lines[told])
            flat = lines[~told].ravel().tolist()
        else:
            flat = words[first:end].tolist()
        if self.follower is not None:
            # First: nothing that control does now may come before what buffers did.
            return tell_of(flat, self.follower, self.env)
        return [flat[place : place + width] for place in range(0, len(flat), width)]

    def _read_log(self) -> None:
        """Let control hear what channels ask for, in the order in which they did."""
        rows = self._new_lines()
        buffers: list[Slice] = []
        for place, (what, number, checkpoint, size, records, _) in enumerate(rows):
            found = self._channel_of[number]
            if what == clock.PRIORITY:
                receiver = found.gate.task
                receiver.mail.append((found.gate.take_priority, (found,)))
                continue
            if what == clock.RECOVERED_FREED:
                if found.recovered is not None:
                    found.recovered.free()
                continue
            if what == clock.OUTPUT_BUFFER:
                continue
            index, sender = found.subpartition.core.index, found.subpartition.owner
            if what == clock.PERSIST_INPUT:
                sender = found.gate.task
                effect: Any = PersistInput(found.index, checkpoint, (Slice(size, records),))
            elif what == clock.PERSIST_OUTPUT:
                buffers.append(Slice(size, records))
                if place + 1 < len(rows) and rows[place + 1][:3] == [what, number, checkpoint]:
                    continue
                effect, buffers = PersistOutput(index, checkpoint, tuple(buffers)), []
            elif what == clock.OUTPUT_OPENED:
                effect = OutputStateOpened(index, checkpoint)
            elif what == clock.OUTPUT_FAILED:
                effect = OutputStateFailed(index, checkpoint)
            else:
                behind = rows[place + 1 : place + 1 + size]
                kept = tuple(Slice(one[3], one[4]) for one in behind)
                effect = OutputStateKnown(index, checkpoint, kept)
            sender.outbox.append(effect)
            if not self._holds_back:
                sender.control.checkpoints.drain()

    # Room -------------------------------------------------------------------------------------

    def _new_rows(self, count: int, width: int) -> int:
        """Return where so many new rows begin. What there is stays in its place."""
        first = self._used
        self._used += count * width
        if self._used > len(self.m):
            grown = zeros(max(self._used, len(self.m) + len(self.m) // 4))
            grown[: len(self.m)] = self.m
            self.m, self.words = grown, memoryview(grown)  # type: ignore[arg-type]
            self._ask = self._bound(grown)
        return first

    def make_room(self) -> None:
        """Enlarge the tables that are almost full."""
        margin = self.m.item(clock.MARGIN)
        if self.m[clock.FREE_CELLS] < margin:
            self.reserve(4 * margin, 0)
        size = self.m.item(clock.HEAP_SIZE)
        if size + margin > self.m[clock.HEAP_ROWS]:
            rows, old = 2 * (size + margin), self.m.item(clock.HEAP)
            first = self._new_rows(rows, entry.WIDTH)
            words = size * entry.WIDTH
            self.m[first : first + words] = self.m[old : old + words]
            self.m[clock.HEAP], self.m[clock.HEAP_ROWS] = first, rows

    def reserve(self, cells: int, segments: int) -> None:
        """Have so many cells and segments free, and a log that can tell of all cells."""
        if self.m[clock.FREE_CELLS] < cells:
            count = 2 * cells
            first = self._new_rows(count, cell.WIDTH)
            link(self.m, first, count, cell.WIDTH, clock.FREE_CELL)
            rows = self.m.item(clock.LOG_ROWS) + self.tables.told * count
            if not self.m[clock.LOG_SIZE]:
                first = self._new_rows(rows, clock.LOG_WIDTH)
                self.m[clock.LOG], self.m[clock.LOG_ROWS] = first, rows
        if self.m[clock.FREE_SEGMENTS] < segments:
            count, width = 2 * segments + 64, cell.SEGMENT_WIDTH
            first = self._new_rows(count, width)
            link(self.m, first, count, width, clock.FREE_SEGMENT)
