"""Tasks as control sees them: a row of the kernel's tables, a mailbox, and the parts of control."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ckptsim.models.barriers.barrier import EndOfPartition
from ckptsim.models.barriers.channels import OutputStateOpened
from ckptsim.sim.job.buffers.compiled.columns import gate, request, task
from ckptsim.sim.job.buffers.compiled.columns.channel import PARTIAL_BYTES
from ckptsim.sim.job.buffers.compiled.columns.clock import NONE
from ckptsim.sim.job.buffers.due import turned
from ckptsim.sim.job.buffers.kinds import State
from ckptsim.sim.job.buffers.tasks import Source, Task
from ckptsim.sim.job.buffers.tasks.ending import TaskEnding
from ckptsim.sim.job.buffers.tasks.source import is_idle

if TYPE_CHECKING:
    from ckptsim.models.barriers.barrier import Barrier, NetworkEvent
    from ckptsim.models.barriers.channels import NetworkEffect
    from ckptsim.sim.job.buffers.compiled.channel import CompiledChannel
    from ckptsim.sim.job.buffers.compiled.driver import CompiledDriver
    from ckptsim.sim.job.buffers.cores import Cores
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.embedding import SourceReader
    from ckptsim.sim.job.graph import TaskSpec
    from ckptsim.sim.job.splits import Split


class CompiledTask(Task):
    """One subtask of an operator with a thread in the kernel.

    driver: set when the tables of the attempt are made. Until then nothing may be asked.
    row: where its row begins. variation: of its service.
    """

    driver: CompiledDriver
    row: int

    def __init__(
        self,
        world: DataflowWorld,
        spec: TaskSpec,
        *,
        step_ns: int,
        two_input: bool,
        variation: float = 0.0,
    ) -> None:
        self.world = world
        self.env = world.env
        self.spec = spec
        self.name = spec.vertex.name
        self.subtask = spec.subtask
        self.place = spec.place
        self.number = spec.index
        self.entity = world.env.entity(self.name, self.subtask)
        self.usual_step_ns = max(1, step_ns)
        self.two_input = two_input
        self.variation = variation
        self.upstream = []
        self.gates = []
        self.channels = []
        self.inputs = self.channels
        self.writers = []
        self.subpartitions = []
        self.outbox: list[NetworkEffect] = []
        self.outputs = CompiledOutputs(self)  # type: ignore[assignment]
        self.ending = TaskEnding(self)
        self.sink = None
        self.records = None
        self.lateness = None if world.timed is None else world.timed.lateness
        self.mail = deque()
        self.restored_records = self.passed_over = self.passed_out = 0
        self.finished_ns = None
        self.idle_before_ns = 0
        self._paused_for = None

    # What the tables have ---------------------------------------------------------------------

    def _get(self, column: int) -> int:
        return self.driver.words[self.row + column]

    def _set(self, column: int, value: int) -> None:
        self.driver.words[self.row + column] = value

    @property
    def state(self) -> State:  # type: ignore[override]
        """What the thread does."""
        return State(self._get(task.STATE))

    @property
    def processed(self) -> int:
        """Records so far."""
        return self._get(task.PROCESSED)

    @processed.setter
    def processed(self, count: int) -> None:
        self._set(task.PROCESSED, count)

    @property
    def step_ns(self) -> int:
        """Service time of one record."""
        return self._get(task.STEP_NS)

    @step_ns.setter
    def step_ns(self, time_ns: int) -> None:
        self._set(task.STEP_NS, time_ns)

    @property
    def since_ns(self) -> int:  # type: ignore[override]
        """When the state was entered."""
        return self._get(task.SINCE_NS)

    @property
    def time_in(self) -> list[int]:
        """How many ns the thread was in each state."""
        first = self.row + task.TIMES
        times: list[int] = self.driver.m[first : first + len(State)].tolist()
        return times

    @time_in.setter
    def time_in(self, times: list[int]) -> None:
        first = self.row + task.TIMES
        self.driver.m[first : first + len(State)] = times

    @property
    def longest_step_ns(self) -> int:
        """The most that a record takes."""
        return self._get(task.LONGEST_NS) if self.variation else self.step_ns

    @property
    def has_ended(self) -> bool:
        """Whether the thread has ended."""
        return self._get(task.STATE) == task.ENDED

    def time_spent(self, states: Collection[int]) -> int:
        """Return how many ns the thread was in some of its states. Asked for each barrier."""
        words, row = self.driver.words, self.row
        first = row + task.TIMES
        current = self.env.now - words[row + task.SINCE_NS]
        here = current if words[row + task.STATE] in states else 0
        return sum([words[first + state] for state in states]) + here

    def enter(self, state: State) -> None:
        """Change what the thread does, and account for the time since the last change."""
        now = self.env.now
        self.driver.m[self.row + task.TIMES + self._get(task.STATE)] += now - self.since_ns
        self._set(task.SINCE_NS, now)
        self._set(task.STATE, state)

    # The thread -------------------------------------------------------------------------------

    def run(self) -> None:
        """Continue at a record boundary."""
        self.driver.continue_thread(self)

    def halt(self) -> None:
        """End the thread, and with it all that the kernel does: the attempt is over."""
        self.sync()
        self.enter(State.ENDED)
        self.driver.stop()

    def die(self) -> None:
        """Do nothing more, whatever was to follow: the task has failed."""
        self._set(task.TIMER, 0)
        self._set(task.PAUSED, 0)
        self._paused_for = None

    def post(self, function: Callable[..., object], *arguments: Any) -> None:
        """Put something into the mailbox. It is done at the next record boundary."""
        self.mail.append((function, arguments))
        self.driver.ask(request.MAILED, self.row)

    def pause(
        self,
        cost_ns: int,
        function: Callable[..., object],
        *arguments: Any,
        cores: Cores | None = None,
    ) -> None:
        """Do nothing else until a core has spent `cost_ns`, then call the function and continue."""
        self._set(task.PAUSED, 1)
        super().pause(cost_ns, function, *arguments, cores=cores)

    def stand_still(self, time_ns: int, function: Callable[..., object], *arguments: Any) -> None:
        """Do nothing else for so long, then call the function. As `pause` otherwise."""
        self._set(task.PAUSED, 1)
        super().stand_still(time_ns, function, *arguments)

    def _call_paused(self) -> None:
        if self._paused_for is not None:
            self._set(task.PAUSED, 0)
        super()._call_paused()

    def sync(self) -> None:
        """Account for the records that are done by now."""
        self.driver.ask(request.SYNC, self.row)

    def tell_clock(self) -> None:
        """Tell the alignment clock the bytes taken since the last time."""
        taken = self.driver.words[self.row + task.TAKEN_BYTES]
        if taken and not self.is_source:
            self._set(task.TAKEN_BYTES, 0)
            self.events.clock.add_bytes(taken)

    def unread_of_all(self) -> list[int]:
        """Count the unread part of each channel. Buffers are under way of two of them at most."""
        words = self.driver.words
        mine: Sequence[CompiledChannel] = self.channels  # type: ignore[assignment]
        found = [words[one.row + PARTIAL_BYTES] for one in mine]
        reading = [] if self._get(task.CELL) == NONE else [self._get(task.CHANNEL)]
        if self.two_input:
            rows = [one.row for one in self.gates]  # type: ignore[attr-defined]
            aside = [row for row in rows if words[row + gate.ASIDE_CELL] >= 0]
            reading += [words[row + gate.ASIDE_CHANNEL] for row in aside]
        for row in reading:
            one = self.driver.tables.channel_of[row]
            found[one.index] = self.unread_bytes(one)  # type: ignore[arg-type]
        return found

    def unread_records(self, channel: CompiledChannel) -> int:  # type: ignore[override]
        """Count the unread part of the buffer under way of a channel, in whole records."""
        unread = 0
        if self.two_input:
            item, g = self.driver.m.item, channel.gate.row
            aside = item(g + gate.ASIDE_CELL) >= 0
            if aside and item(g + gate.ASIDE_CHANNEL) == channel.row:
                unread = item(g + gate.ASIDE_LEFT)
        if self._get(task.CELL) != NONE and self._get(task.CHANNEL) == channel.row:
            unread += self._get(task.LEFT)
        return unread


class CompiledSource(CompiledTask, Source):
    """One subtask of a source with a thread in the kernel.

    by_number: its splits in the order in which they are read that are due at once. split_row: where
    their rows begin, if there are several.
    """

    is_source = True
    split_row: int

    def __init__(
        self,
        world: DataflowWorld,
        spec: TaskSpec,
        *,
        step_ns: int,
        splits: Sequence[Split],
        limit: int | None,
        replayable: bool = False,
    ) -> None:
        CompiledTask.__init__(self, world, spec, step_ns=step_ns, two_input=False)
        self._splits = splits
        self._split = None if is_idle(splits) else splits[0]
        self.by_number = sorted(splits, key=attrgetter("number"))
        self.limit = limit
        self._reader = None
        self.exhausted_ns = None
        self.is_cut_off = False
        self.replayable = replayable

    def stop(self) -> None:
        """Let the input end when the source asks it for a record the next time."""
        self._set(task.TOLD_TO_STOP, 1)

    @property
    def splits(self) -> dict[int, int]:
        """Return how many records it has emitted of each of its splits, by number."""
        if len(self._splits) > 1:
            for one, row in self._rows():
                one.position = self.driver.words[row + task.POSITION]
        return super().splits

    def _rows(self) -> Iterator[tuple[Split, int]]:
        first = self._get(task.FIRST_SPLIT)
        return zip(self.by_number, count(first, task.SPLIT_WIDTH), strict=False)

    def _clocks(self) -> list[tuple[int | None, int]]:
        self.sync()
        words, found, read = self.driver.words, [], self.splits
        for one, row in self._rows():
            gap, due = row + task.SPLIT_GAP_NS, row + task.SPLIT_DUE_NS
            if len(self._splits) == 1:
                gap, due = self.row + task.GAP_NS, self.row + task.DUE_NS
            if not (one.over or (one.most is not None and read[one.number] >= one.most)):
                found.append((None if one.gap_ns is None else int(words[gap]), int(words[due])))
        return found

    def change_rates(self, gaps_ns: Mapping[int, int]) -> None:
        """Emit at other rates from now on. Called on the task's thread, between two records."""
        words, now = self.driver.words, self.env.now
        for one, row in self._rows():
            gap, due = row + task.SPLIT_GAP_NS, row + task.SPLIT_DUE_NS
            if len(self._splits) == 1:
                gap, due = self.row + task.GAP_NS, self.row + task.DUE_NS
            gaps = int(words[gap]), gaps_ns[one.number]
            words[due] = turned(int(words[due]), gaps, now, replayable=self.replayable)
            words[gap] = gaps_ns[one.number]

    def feed(self, reader: SourceReader) -> None:
        """Take records from a reader from now on."""
        super().feed(reader)
        self._set(task.FED, 1)
        self._set(task.CATCH_UP_NS, 0)
        self._look_at(reader)

    def wake(self) -> None:
        """Look for work, because the reader has some or has come to its end."""
        if self._reader is not None:
            queued, read_out = self._reader.queued_count, self._reader.exhausted
            self.driver.ask(request.FEED, self.row, queued, read_out)

    def take(self, count: int) -> None:
        """Take the records from the reader that are out."""
        if self._reader is not None and self.records is not None:
            self.records.emitted([self._reader.take() for _ in range(count)])
            self._look_at(self._reader)

    def _look_at(self, reader: SourceReader) -> None:
        self._set(task.QUEUED, reader.queued_count)
        self._set(task.READ_OUT, reader.exhausted)

    def exhaust(self) -> None:
        """End the input: no records follow."""
        if self.exhausted_ns is None:
            self._set(task.EXHAUSTED, 1)
            super().exhaust()

    def cut_off(self) -> None:
        """Emit nothing more: the end of the data has been sent."""
        self._set(task.EXHAUSTED, 1)
        super().cut_off()


class CompiledOutputs:
    """All outputs of a task, as control sees them."""

    __slots__ = ("_task",)

    def __init__(self, task: CompiledTask) -> None:
        self._task = task

    def broadcast_barrier(self, barrier: Barrier) -> int:
        """Put a barrier into every subpartition, after the buffers that it closes."""
        task = self._task
        over_edge = task.world.protocol.edge
        for writer in task.writers:
            sent = over_edge(barrier, supports_unaligned=writer.supports_unaligned)
            number = task.driver.number_of(sent)
            task.driver.collect(request.ADD_BARRIERS, writer.row, number)  # type: ignore[attr-defined]
        return sum(isinstance(effect, OutputStateOpened) for effect in task.outbox)

    def broadcast(self, event: NetworkEvent) -> None:
        """Put an event after everything, and let it travel."""
        task = self._task
        for writer in task.writers:
            number = task.driver.number_of(event)
            task.driver.ask(request.BROADCAST, writer.row, number)  # type: ignore[attr-defined]

    def flush(self) -> None:
        """Let the queues travel."""
        self._task.driver.ask(request.PUMP_ALL, self._task.row)

    def time_out(self, checkpoint: int) -> None:
        """Let barriers that still wait overtake."""
        driver = self._task.driver
        event = driver.unaligned_of(checkpoint)
        if event is not None:
            for subpartition in self._task.subpartitions:
                driver.ask(request.TIME_OUT, subpartition.row, checkpoint, event)  # type: ignore[attr-defined]

    def abort(self, checkpoint: int) -> None:
        """Give up the output state of a checkpoint."""
        self._task.driver.ask(request.ABORT_OUTPUTS, self._task.row, checkpoint)

    def finish(self) -> None:
        """End every channel, after the buffers that it closes."""
        driver = self._task.driver
        driver.ask(request.FINISH, self._task.row, driver.number_of(EndOfPartition()))
