"""The restore of one attempt: every task is deployed, reads its state, opens and begins.

A task's core says in which order (`models/recovery/restore`). Here each step takes its time.
Everything that is read comes through one stream per task at a time, as fast as the storage allows:
output, then the operator's state, on the task's thread, and input on its I/O thread while the task
works already. The reader of a gate waits when the channel that it fills holds all buffers it can
have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from ckptsim.models.barriers import EndOfChannelState
from ckptsim.models.recovery import restore
from ckptsim.sim.job.buffers.kinds import Kind, State
from ckptsim.sim.job.buffers.restoring.in_flight import InFlightChunk, InFlightReads
from ckptsim.sim.job.buffers.state import put_back

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.input import InputGate, RecoveredBuffers
    from ckptsim.sim.job.buffers.restoring.costs import RestartCosts
    from ckptsim.sim.job.buffers.state import BufferSnapshot, Span
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld

_NOTHING: Sequence[InFlightChunk] = ()


class AttemptRestore:
    """Brings the tasks of one attempt back.

    numbers: of its tasks.  reads: of data in flight, None where nothing is restored.  done: called
    when all of them run.  longest_ns: how long a task took at most from its deployment until it
    ran.  bytes_read: of state and in-flight data so far.  files_opened, pieces_read: of the latter.
    opened_ns: when the last task was open. handed_over_ns: when the last recovered data had been
    processed.
    """

    def __init__(
        self,
        world: DataflowWorld,
        tasks: Sequence[Task],
        reads: InFlightReads | None,
        costs: RestartCosts,
        done: Callable[[], None],
    ) -> None:
        self.bytes_read = self.longest_ns = 0
        self.files_opened = self.pieces_read = 0
        self.opened_ns: int | None = None
        self.handed_over_ns: int | None = None
        self.numbers = tuple(task.number for task in tasks)
        self._env = world.env
        self._done = done
        self._missing = len(tasks)
        self._tasks = [_RestoringTask(self, world, task, reads, costs) for task in tasks]
        found = [] if reads is None else [reads.of_task(number) for number in self.numbers]
        for files, pieces in found:
            self.files_opened += files
            self.pieces_read += pieces

    def begin(self, *, manager_lost: bool) -> None:
        """Deploy the tasks when they have been scheduled.

        manager_lost: slots are the ones of a task manager that has just come.
        """
        for task in self._tasks:
            task.begin(manager_lost=manager_lost)

    def opened(self) -> None:
        """Note that a task is open."""
        self.opened_ns = self._env.now

    def running(self, since_ns: int) -> None:
        """Note that a task runs, which was deployed at an instant."""
        self.longest_ns = max(self.longest_ns, self._env.now - since_ns)
        self._missing -= 1
        self.handed_over_ns = self._env.now
        if not self._missing:
            self._done()


class _RestoringTask:
    """Hosts the restore core of one task."""

    def __init__(
        self,
        attempt: AttemptRestore,
        world: DataflowWorld,
        task: Task,
        reads: InFlightReads | None,
        costs: RestartCosts,
    ) -> None:
        self._attempt = attempt
        self._world = world
        self._env = world.env
        self._task = task
        self._costs = costs
        core = restore.TaskRestore(len(task.gates))
        self._core: restore.TaskRestore = world.env.witness("restore", core, len(task.gates))
        self._snapshot: BufferSnapshot | None = None
        self._inputs = self._outputs = _NOTHING
        if reads is not None:
            self._snapshot = reads.held.tasks.get(task.number)
            self._inputs, self._outputs = reads.inputs[task.number], reads.outputs[task.number]
        self._deployed_ns = 0
        table = world.model.channel_state
        # Nothing of this attempt leaves until the receiver has the old data of all senders. Where
        # it puts all of that back by itself, it asks for partitions afterwards.
        self._blocks = reads is not None and not table.on_one_side
        task.enter(State.RESTORING)
        for channel in task.channels:
            channel.subpartition.withhold()
        for one in self._inputs:
            task.channels[one.place].subpartition.restored.expect(one.spans)
        for one in self._outputs:
            task.subpartitions[one.place].restored.expect(one.spans)

    def begin(self, *, manager_lost: bool) -> None:
        """Deploy the task."""
        costs = self._costs
        delay_ns = costs.schedule_ns + costs.deploy_ns + manager_lost * costs.slot_ns
        self._later(delay_ns, self._work, costs.deploy_cost_ns, self._deployed)

    def _deployed(self) -> None:
        self._deployed_ns = self._env.now
        self._step(restore.TaskDeployed())

    # Time -------------------------------------------------------------------------------------

    def _later(self, delay_ns: int, call: Callable[..., object], *arguments: object) -> None:
        entity = self._task.entity
        self._env.call_in(delay_ns, Kind.STORAGE, entity, self._go_on, call, *arguments)

    def _work(self, cost_ns: int, call: Callable[..., object], *arguments: object) -> None:
        self._world.cores.run(cost_ns, self._task.entity, self._go_on, call, *arguments)

    def _read(
        self, sizes: Sequence[int], then: Callable[..., object], *arguments: object, opens: bool
    ) -> None:
        """Call `then` when data in flight has been read. opens: each piece by a request."""
        size, storage = sum(sizes), self._world.storage
        self._attempt.bytes_read += size
        if not storage.requests_take_time:
            sizes = (size,)
        host, entity = self._task.spec.task_manager, self._task.entity
        storage.read(sizes, host, entity, self._go_on, then, *arguments, opens=opens)

    def _read_state(self) -> None:
        """Open the operators when the state has been read, and rebuilt on the heap."""
        task, storage, constants = self._task, self._world.storage, self._world.constants
        state = task.snapshots.state
        files = None if self._snapshot is None else self._snapshot.files
        held = () if self._snapshot is None else state.files.sizes
        rebuilds = not state.is_on_disk
        if files is not None and files.canonical:
            held, rebuilds = files.sizes, True
        sizes = [size for size in held if not storage.is_inline(size)]
        per_mb_ns = constants.restore_ns_per_mb if rebuilds else 0
        if self._is_local:
            work_ns = per_mb_ns * sum(sizes) // 1_000_000
            self._work(work_ns, self._open)
            return
        self._attempt.bytes_read += sum(sizes)
        storage.read(
            sizes,
            task.spec.task_manager,
            task.entity,
            self._go_on,
            self._open,
            per_mb_ns=per_mb_ns,
            opens=True,
            threads=self._world.model.storage.transfer_threads,
        )

    def _go_on(self, call: Callable[..., object], *arguments: object) -> None:
        """Take the next step, unless the task is lost in silence with its task manager."""
        if not self._task.has_ended:
            call(*arguments)

    # The steps --------------------------------------------------------------------------------

    def _step(self, event: restore.RestoreEvent) -> None:
        for effect in self._core.step(event):
            self._carry_out(effect)

    def _carry_out(self, effect: restore.RestoreEffect) -> None:
        match effect:
            case restore.ReadOutput():
                self._read(_pieces(self._outputs), self._output_read, opens=True)
            case restore.RestoreOperators():
                self._read_state()
            case restore.ReadInput():
                self._start()
                for gate in self._task.gates:
                    _GateReader(self, gate, self._inputs).begin()
            case restore.RequestPartitions(number):
                self._work(self._costs.request_ns, self._request, self._task.gates[number])
            case restore.TaskRuns():
                if not self._task.gates:
                    self._start()
                self._attempt.running(self._deployed_ns)
            case restore.DeclineCheckpoint() | restore.TakePart():
                pass  # the coordinator asks no attempt for a checkpoint before all of it runs
            case _ as never:
                assert_never(never)

    def _output_read(self) -> None:
        for one in self._outputs:
            put_back(self._task.subpartitions[one.place], one.spans)
        if self._blocks:
            self._task.outputs.broadcast(EndOfChannelState())
        self._step(restore.OutputRead())

    @property
    def _is_local(self) -> bool:
        """Whether the task manager is alive that has a copy of the state."""
        return self._snapshot is not None and has_local_state(self._world, self._task)

    def _open(self) -> None:
        costs, work_ns = self._costs, self._costs.open_cost_ns
        if self._snapshot is not None and self._task.snapshots.state.is_on_disk:
            work_ns += self._world.constants.open_rocksdb_ns
        delay_ns = costs.open_ns + is_new_process(self._world, self._task) * (
            self._world.constants.new_process_ns
        )
        self._later(delay_ns, self._work, work_ns, self._opened)

    def _opened(self) -> None:
        self._attempt.opened()
        self._step(restore.OperatorsOpened())

    def _start(self) -> None:
        """Let the task's thread work."""
        task, costs = self._task, self._costs
        if task.gates:
            usual_ns = task.step_ns
            task.step_ns += round(usual_ns * costs.warm_up_ratio)
            self._later(costs.warm_up_ns, task.post, _serve_in, task, usual_ns)
        task.enter(State.IDLE)
        task.ending.start()
        task.run()

    # Input ------------------------------------------------------------------------------------

    def read_input(
        self, size: int, then: Callable[..., object], *arguments: object, opens: bool
    ) -> None:
        """Call `then` when a buffer of in-flight data has been read. opens: by a request."""
        self._read((size,), then, *arguments, opens=opens)

    def gate_consumed(self, gate: InputGate) -> None:
        """Ask for the partitions of a gate at the next record boundary."""
        self._task.post(self._step, restore.GateConsumed(gate.index))

    def _request(self, gate: InputGate) -> None:
        for channel in gate.channels:
            channel.to_sender(channel.subpartition.request)


class _GateReader:
    """The I/O thread of one task at one gate: one buffer after the other, chunk by chunk."""

    def __init__(
        self, task: _RestoringTask, gate: InputGate, chunks: Sequence[InFlightChunk]
    ) -> None:
        self._task = task
        self._gate = gate
        self._open = len(gate.channels)
        network = gate.task.world.model.network
        self._most = max(1, network.exclusive_buffers + network.floating_buffers)
        recovered = {one.index: one for one in gate.recover(self._consumed, self._freed)}
        self._waiting: _Buffer | None = None
        self._opened = False
        self._buffers: Iterator[_Buffer] = iter(list(_steps(recovered, chunks)))

    def begin(self) -> None:
        """Read the first buffer."""
        self._next()

    def _next(self) -> None:
        for buffer in self._buffers:
            if buffer.span is None:
                buffer.channel.close()
                continue
            if buffer.channel.in_use >= self._most:
                self._waiting = buffer
            else:
                self._ask(buffer)
            return

    def _freed(self) -> None:
        """Continue with a buffer that came free."""
        if self._waiting is not None:
            buffer, self._waiting = self._waiting, None
            self._ask(buffer)

    def _ask(self, buffer: _Buffer) -> None:
        opens, self._opened = buffer.opens or not self._opened, True
        self._task.read_input(buffer.bytes, self._read, buffer, opens=opens)

    def _read(self, buffer: _Buffer) -> None:
        if buffer.span is not None:
            buffer.channel.add(*buffer.span)
        self._next()

    def _consumed(self) -> None:
        self._open -= 1
        if not self._open:
            self._gate.convert()
            self._task.gate_consumed(self._gate)


@dataclass(frozen=True, slots=True)
class _Buffer:
    """A buffer that is read into a recovered channel, or without a span the end of that."""

    channel: RecoveredBuffers
    span: Span | None = None
    bytes: int = 0
    opens: bool = False


def _steps(
    channels: Mapping[int, RecoveredBuffers], chunks: Sequence[InFlightChunk]
) -> Iterator[_Buffer]:
    """Yield the buffers of a gate's channels in order, and the end of each channel."""
    held = [one for one in chunks if one.place in channels]
    left = Counter(one.place for one in held)
    yield from (_Buffer(channel) for place, channel in channels.items() if not left[place])
    for one in held:
        channel = channels[one.place]
        for span, (size, opens) in zip(one.spans, one.requests(), strict=True):
            yield _Buffer(channel, span, size, opens)
        left[one.place] -= 1
        if not left[one.place]:
            yield _Buffer(channel)


def _serve_in(task: Task, step_ns: int) -> None:
    """Let a task serve each record in this time. Called at a record boundary."""
    task.step_ns = step_ns


def _pieces(chunks: Sequence[InFlightChunk]) -> list[int]:
    """Return the bytes of each request that chunks are read with."""
    found: list[int] = []
    for size, opens in (one for each in chunks for one in each.requests()):
        if opens or not found:
            found.append(0)
        found[-1] += size
    return found


def is_new_process(world: DataflowWorld, task: Task) -> bool:
    """Return whether a task begins on a task manager that has come for the last one lost."""
    return any(
        one.manager_lost and task.number in one.tasks for one in world.control.failovers[-1:]
    )


def has_local_state(world: DataflowWorld, task: Task) -> bool:
    """Return whether a copy of the restored state is where a task runs.

    A task manager that has come for a lost one has none of checkpoints before the loss.
    """
    restored = world.control.restored
    if restored is None or not world.model.state.local_recovery:
        return False
    record = world.coordinator.records.get(restored.checkpoint_id)
    return record is not None and not any(
        one.manager_lost and task.number in one.tasks and one.failed_ns >= record.triggered_ns
        for one in world.control.failovers
    )
