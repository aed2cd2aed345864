"""One attempt to run a job: its tasks and channels, from deployment to end or failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ckptsim.models import lifecycle
from ckptsim.models.barriers import Barrier
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator.plan import FinishedState
from ckptsim.models.recovery import broadcast, split
from ckptsim.scenarios.job import Partitioner, SubtaskIndices
from ckptsim.scenarios.job.faults import CrashAtCheckpoint
from ckptsim.sim.job.control.checkpoint import JobCheckpoint
from ckptsim.sim.job.events import of_job
from ckptsim.sim.job.graph import TaskSpec
from ckptsim.sim.job.parallelism import is_rescaled
from ckptsim.sim.job.records.channel import Channel
from ckptsim.sim.job.records.keys import owner_of
from ckptsim.sim.job.records.kinds import Kind
from ckptsim.sim.job.records.restoring.held import HeldInFlight, reads_of
from ckptsim.sim.job.records.restoring.instants import RecoveryInstants
from ckptsim.sim.job.records.restoring.rescaling import Rescaling
from ckptsim.sim.job.records.restoring.successions import successions
from ckptsim.sim.job.records.state import ChannelStateFile, Record, TaskSnapshot, make_files
from ckptsim.sim.job.records.tasks import TASKS, Task, next_record
from ckptsim.sim.job.splits import Splits
from ckptsim.sim.kernel import Entity, Timer

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Edge
    from ckptsim.sim.job.channel_state_reads import ChannelStateReads
    from ckptsim.sim.job.records.state import Parts
    from ckptsim.sim.job.records.world import RecordWorld
    from ckptsim.sim.slots import ProtocolCores


class Attempt:
    """The tasks and channels of one attempt. After a failure nothing of it acts any more."""

    def __init__(self, world: RecordWorld, number: int, restored: JobCheckpoint | None) -> None:
        self.world = world
        self.number = number
        self.env = world.env
        self.job = world.job
        self.graph = world.graph
        self.faults = world.faults
        self.alive = True
        self.restored = restored
        self.restored_id = restored.checkpoint_id if restored is not None else None
        failovers = world.control.failovers
        self.recovery = RecoveryInstants(self, failovers[-1] if failovers else None)
        self.input_ended_ns = 0  # when a source ended last
        self.successions = successions(self.graph, restored, self.env)
        self.splits = Splits(self.graph, restored)
        world.events.emit(of_job.AttemptDeploying())
        self.cores: ProtocolCores = world.cores
        world.begin_attempt(self)
        self.tasks: list[Task] = []
        self.files: list[ChannelStateFile] = make_files(self)
        for spec in self.graph.tasks:
            self.tasks.append(self._deploy(spec))
        self.channels: list[Channel] = [Channel(self, spec) for spec in self.graph.channels]
        for spec, task in zip(self.graph.tasks, self.tasks, strict=True):
            task.connect(
                [self.channels[index] for index in self.graph.inputs[spec.index]],
                [
                    (output, [self.channels[index] for index in output.channels])
                    for output in self.graph.outputs[spec.index]
                ],
            )
        self._fill_channels()

    def sink_states(self, spec: TaskSpec) -> tuple[lifecycle.SinkState, ...]:
        """Return the elements of list state that fall to a sink subtask."""
        return self.world.control.sinks.states_of(self.restored, spec)

    def state_of(self, spec: TaskSpec) -> list[Record]:
        """Return the records in a subtask's first state.

        Keyed state goes with its key group. Broadcast state is read from others, too, where some
        subtasks had finished. Other state is a list of elements, dealt out anew.
        """
        vertex = spec.vertex
        if self.restored is None:
            return []
        snapshots: list[TaskSnapshot | None] = self.restored.snapshots_of(vertex.name)
        states = [None if one is None else one.state for one in snapshots]
        if vertex.broadcast_state:
            found: list[Record] = []
            same = len(states) == vertex.parallelism
            own = states[self._taken_by(spec)] if same else None
            found = [] if own is None else list(own)
            for other in broadcast(states, vertex.parallelism)[spec.subtask]:
                known = frozenset(found)
                found += [record for record in other if record not in known]
            return found
        if len(states) == vertex.parallelism:
            return list(states[self._taken_by(spec)] or ())
        edges = [edge for edge in self.graph.edges if edge.downstream == vertex.name]
        if edges and all(edge.partitioner is Partitioner.HASH for edge in edges):
            every = [record for state in states for record in state or ()]
            return [r for r in every if owner_of(self.graph, edges[0], r) == spec.subtask]
        return list(split([state or () for state in states], vertex.parallelism)[spec.subtask])

    def start(self) -> None:
        """Begin: channels send what they hold, tasks work."""
        if self.world.uncoordinated is not None:
            self.world.uncoordinated.begin(self)
        for channel in self.channels:
            if channel.waits_for_offset:
                channel.connect()
            else:
                channel.pump()
        for task in self.tasks:
            self._read_input(task)
            if self.restored is not None:
                restore_ns = self.job.costs.restore_ns + task.reads_ns
                task.ready_ns = self.env.now + restore_ns
                task.occupy(restore_ns)
            task.start()

    def _read_input(self, task: Task) -> None:
        """Let the I/O thread of a task read its input state, gate by gate."""
        costs = self.job.costs
        at_ns = self.env.now + costs.restore_ns + task.reads_ns
        for gate in task.gates:
            if gate.recovered is not None:
                at_ns = gate.recovered.start(costs.read_record_ns, at_ns)

    def end(self) -> None:
        """Let nothing of the attempt act any more: it has failed, or the job has ended."""
        if self.alive:
            self.recovery.note()
        self.alive = False
        for task in self.tasks:
            task.stop()

    # --- time ---

    def later(
        self, delay_ns: int, kind: Kind, entity: Entity, function: Callable[..., None], *rest: Any
    ) -> None:
        """Call a function after a delay, unless the attempt has failed by then."""
        self.env.call_in(delay_ns, kind, entity, self._if_alive, function, *rest)

    def timer_in(
        self, delay_ns: int, kind: Kind, entity: Entity, function: Callable[..., object], *rest: Any
    ) -> Timer:
        """Set a timer that can be cancelled."""
        return self.env.call_in(delay_ns, kind, entity, self._if_alive, function, *rest)

    def _if_alive(self, function: Callable[..., object], *rest: Any) -> None:
        if self.alive:
            function(*rest)

    def jitter(self, purpose: str, at_most_ns: int) -> int:
        """Draw a delay between 0 and a bound, both included."""
        if at_most_ns == 0:
            return 0
        return self.env.stream(purpose).integer(0, at_most_ns)

    def file_breaks(self) -> bool:
        """Draw whether a file that is being written cannot be."""
        ratio = self.job.storage.failure_ratio
        if self.faults.storage_broken_ns(self.env.now):
            return True
        return bool(ratio) and self.env.stream("storage failures").chance(ratio)

    # --- what tasks tell the world ---

    def goal(self, name: str) -> None:
        """Count a situation that was reached."""
        self.env.goals.reach(name)

    def violate(self, name: str, says: str, checkpoint: int | None = None) -> None:
        """Report a property that does not hold. checkpoint: the one concerned, if any."""
        self.world.violate(name, says, checkpoint)

    def progress(self) -> None:
        """Note that something was done, so the run does not count as stalled."""
        self.world.progressed()

    def is_stop(self, checkpoint: int) -> bool:
        """Return whether a checkpoint is the savepoint of the stop."""
        return checkpoint == self.world.coordinator.stop_id

    def call(self, task: Task, what: str, operator: int) -> None:
        """Note a call of an operator that belongs to the end of its life."""
        self.env.trace.record("called", task.entity, what, operator)

    def calls(self, task: Task, what: str, number: int) -> None:
        """Note what every operator of a chain is notified of a checkpoint, from tail to head.

        Source: Apache Flink 1.20.3, RegularOperatorChain. Observed with logging operators.
        """
        if task.ending.runs_operators:
            for operator in reversed(range(task.spec.vertex.chain)):
                self.env.trace.record("told", task.entity, what, operator, number)

    def performed(self, task: Task, checkpoint: int) -> None:
        """Note that a task takes part in a checkpoint."""
        self.env.trace.record("performed", task.entity, checkpoint)
        if self.faults.strikes_once(CrashAtCheckpoint, task, checkpoint):
            cause = f"{task.name} crashes"
            self.later(0, Kind.FAULT, task.entity, self.world.control.crash, (task.number,), cause)

    def state_changed(self, task: Task, state: lifecycle.TaskState) -> None:
        """Follow a task from state to state."""
        self.progress()
        self.env.trace.record("task_state", task.entity, state.name)
        if state is lifecycle.TaskState.WAITING_FOR_FINAL_CP:
            if task.checkpoints is not None:
                task.checkpoints.data_ended()
            if task.is_source:
                self.input_ended_ns = self.env.now
            if len(task.end_modes) > 1:
                self.goal("ended_with_mixed_stop_modes")
            if task.ending.core.mode is not lifecycle.EndMode.NO_DRAIN:
                self.world.coordinator.end_of_data(task)
        elif state is lifecycle.TaskState.CLOSED:
            task.gone = True
            task.ending.closed()
            self.world.closed_ns[task.spec.index] = self.env.now
            closing_ns = self.job.costs.closing_ns
            task.leaves_ns = self.env.now + closing_ns
            if closing_ns:
                self.later(closing_ns, Kind.SERVICE, task.entity, self._left, task)
            else:
                self._left(task)

    def _left(self, task: Task) -> None:
        """Tell the coordinator that a task has left. Until it knows, it may ask for the task."""
        self.world.coordinator.task_closed(task)

    def acknowledge_end_of_data(self, channel: Channel) -> None:
        """Tell the sender of a channel that its EndOfData has been polled."""
        sender = channel.sender

        def mail() -> None:
            self.env.trace.record("end_of_data_acknowledged", sender.entity, channel.receiver.name)
            if self._completed_since(sender):
                self.goal("completed_between_end_of_data_and_acknowledgement")
            sender.control.end_of_data_acknowledged(channel.spec.output)

        self.later(self.job.channels.latency_ns, Kind.MESSAGE, channel.entity, sender.post, mail)

    def _completed_since(self, task: Task) -> bool:
        """Return whether a checkpoint was completed since the task sent EndOfData."""
        least = task.ending.core.minimum_id
        return least is not None and self.world.coordinator.highest_completed >= least

    def acknowledge(
        self, task: Task, checkpoint: int, snapshot: TaskSnapshot, parts: Parts
    ) -> None:
        """Send a task's part of a checkpoint to the coordinator."""
        parts.snapshot = snapshot
        self.world.coordinator.acknowledge(task, checkpoint, parts)

    def decline(self, task: Task, checkpoint: int, reason: FailureReason) -> None:
        """Tell the coordinator that a task takes no part in a checkpoint."""
        self.world.coordinator.decline(task, checkpoint, reason)

    def decline_closing(self, task: Task, checkpoint: int) -> None:
        """Decline because the task is closing or has closed. One that has left is not known.

        Source: Apache Flink 1.20.3, Task.triggerCheckpointBarrier, TaskExecutor.triggerCheckpoint.
        """
        reason = FailureReason.CHECKPOINT_DECLINED_TASK_CLOSING
        if task.gone and self.env.now > task.leaves_ns:
            reason = FailureReason.TASK_CHECKPOINT_FAILURE
            self.goal("declined_because_unknown")
        self.decline(task, checkpoint, reason)

    def fail(self, task: Task, reason: str) -> None:
        """Fail the job because a task has failed."""
        self.world.control.fail_over(f"{task.name}: {reason}")

    def trigger(self, task: Task, barrier: Barrier, stop: lifecycle.StopMode | None) -> None:
        """Give the coordinator's trigger to a task's mailbox, unless it is still being restored."""
        if not self.alive or task.killed:
            return
        self.world.events.emit(of_job.TriggerArrived(task, barrier.checkpoint))
        recovering = any(gate.recovered and gate.recovered.is_reading for gate in task.gates)
        if self.env.now < task.ready_ns or recovering:
            self.goal("declined_because_not_ready")
            reason = FailureReason.CHECKPOINT_DECLINED_TASK_NOT_READY
            self.decline(task, barrier.checkpoint, reason)
            return
        task.take_trigger(barrier, stop)

    # --- deployment ---

    def _deploy(self, spec: TaskSpec) -> Task:
        make = TASKS[spec.vertex.kind]
        restored = self.restored
        if restored is None:
            return make(self, spec, restored=None, finished_on_restore=False)
        full = restored.vertices[spec.vertex.name] is FinishedState.FULL
        numbers = restored.subtasks[spec.vertex.name]
        # Of vertices that are rescaled no subtask continues as another one's successor.
        same = len(numbers) == spec.vertex.parallelism
        before = numbers[self._taken_by(spec)] if same else None
        snapshot = None if before is None else restored.tasks.get(before)
        task = make(self, spec, restored=snapshot, finished_on_restore=full)
        if full or (before in restored.finished and spec.vertex.keeps_position):
            task.exhausted = True
        return task

    def _fill_channels(self) -> None:
        """Give channels what the restored checkpoint holds of them, or the scenario's backlog."""
        restored = self.restored
        if restored is None:
            self._preload()
            return
        if is_rescaled(self.graph, restored):
            self.goal("restored_rescaled")
            rescaling = Rescaling(self, restored)
            rescaling.fill()
            self._count_reads(rescaling.reads)
            return
        held = HeldInFlight(self.job, restored.tasks)
        reads = reads_of(self.graph, restored.tasks)
        old = {(one.edge, one.upstream, one.downstream): one for one in self.graph.channels}
        for channel in self.channels:
            ends = channel.spec.edge, channel.spec.upstream, channel.spec.downstream
            read, wrote = (old.get(key) for key in self._old_ends(*ends))
            for one in (read, wrote):
                if one is not None:
                    reads.put_back(one.index, sender=ends[1], receiver=ends[2])
            received = [] if read is None else held.at_receiver(read)
            sent = [] if wrote is None else held.at_sender(wrote)
            if self.job.channel_state.on_one_side:
                channel.preload([*received, *sent], ())
            else:
                channel.preload(received, sent)
        self._count_reads(reads)

    def _old_ends(
        self, edge: int, sender: int, receiver: int
    ) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Return the old channels for the input and the output state of a new one.

        Both are the same but where indices are given out anew and nothing carries an identity: then
        each end takes its own with it, and the other end is anyone who has that index now.
        """
        before = self._number_taken_by(sender), self._number_taken_by(receiver)
        if self.job.channel_state.subtask_indices is SubtaskIndices.PERMUTED:
            return (edge, sender, before[1]), (edge, before[0], receiver)
        return ((edge, *before),) * 2

    def _number_taken_by(self, task: int) -> int:
        spec = self.graph.tasks[task]
        return self.graph.tasks_of(spec.vertex.name)[self._taken_by(spec)]

    def _taken_by(self, spec: TaskSpec) -> int:
        """Return the index of the subtask that a subtask takes state of."""
        return self.successions[spec.vertex.name].takes[spec.subtask]

    def receiver_of(self, edge: Edge, record: Record) -> int:
        """Return the subtask that a keyed or custom edge sends a record to.

        Key groups are of an identity, and anyone who has it owns them. A function of the user's
        knows indices alone.
        """
        owner = owner_of(self.graph, edge, record)
        is_custom = edge.partitioner is Partitioner.CUSTOM
        return owner if is_custom else self.successions[edge.downstream].index_of(owner)

    def _count_reads(self, reads: ChannelStateReads) -> None:
        """Note what the restore reads of channel-state files."""
        spilled = self.world.spilled
        spilled.restores += 1
        for task in self.tasks:
            files, pieces = reads.of_task(task.number)
            spilled.files_opened += files
            spilled.pieces_read += pieces
            task.reads_ns = reads.time_ns(task.number)

    def _preload(self) -> None:
        """Put the backlog into every channel of a chain, the oldest records farthest downstream.

        A preloaded record counts as emitted by the source, on top of what that emits by itself, and
        as processed by every task that lies upstream of its channel.
        """
        count = self.job.channels.preloaded_records
        for channel in reversed(self.channels if count else []):
            (split,) = self.splits.of(self.graph.vertices[0].name, 0)
            for _ in range(count):
                record = next_record(split)
                channel.put(record)
                for task in self.tasks[1 : channel.spec.upstream + 1]:
                    task.state.append(record)
