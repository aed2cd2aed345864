"""A task's end in the world: carries out what its lifecycle core decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

from ckptsim.models.barriers import CancellationMarker, EndOfData
from ckptsim.models.lifecycle import (
    StopMode,
    TaskKind,
    TaskLifecycle,
    TaskParameters,
    TaskState,
)
from ckptsim.models.lifecycle import effects as do
from ckptsim.models.lifecycle import events as on
from ckptsim.models.lifecycle.naive import NaiveLifecycle
from ckptsim.models.lifecycle.tables import Act
from ckptsim.scenarios.job import Protocol, VertexKind
from ckptsim.sim.job.records.closing_account import ClosingAccount
from ckptsim.sim.job.records.link import Link
from ckptsim.sim.job.records.sink import SinkWriter
from ckptsim.sim.job.records.snapshot import WATERMARK
from ckptsim.sim.job.settings import variant_of
from ckptsim.sim.kernel import Wait

if TYPE_CHECKING:
    from ckptsim.sim.job.records.task import Task

_TransactionEffect = (
    do.PrecommitTransaction
    | do.CommitTransactions
    | do.AbortTransactions
    | do.LeaveTransactions
    | do.RecoverAndCommit
    | do.RecoverAndAbort
)


_WAITS = {
    Act.AWAIT_CHECKPOINT: ("the completion of its final checkpoint", "the coordinator"),
    Act.AWAIT_ACKNOWLEDGEMENT: ("the acknowledgement of EndOfData", None),
    Act.AWAIT_END_OF_PARTITION: ("EndOfPartition", None),
}


class TaskEnding:
    """The lifecycle of one task: hands it events and carries out its effects in order."""

    def __init__(self, task: Task, *, finished_on_restore: bool) -> None:
        self.task = task
        self.core = self._make_core(finished_on_restore=finished_on_restore)
        self.account = ClosingAccount(task)
        self._abort_repeats = task.attempt.job.ending.protocol is Protocol.FLINK
        self.operators_finished = False
        self.runs_operators = not finished_on_restore
        self._over: set[int] = set()
        self._held: list[do.Effect] = []

    @property
    def ended(self) -> bool:
        """Say whether EndOfData has been sent."""
        return self.core.ended

    @property
    def state(self) -> TaskState:
        """Return the state of the task."""
        return self.core.state

    @property
    def all_inputs_over(self) -> bool:
        """Say whether every input channel has delivered EndOfPartition."""
        return len(self._over) == len(self.task.inputs)

    def start(self) -> None:
        """Let a source that was restored as finished pass its end marks on."""
        if self.task.is_source:
            self.step(on.Started())

    def channel_over(self, link: Link) -> bool:
        """Say whether a channel has delivered EndOfPartition."""
        return link.spec.input in self._over

    def step(self, event: on.Event) -> None:
        """Give the core an event and carry out what it decides."""
        if isinstance(event, on.EndOfPartitionReceived):
            self._over.add(event.channel)
        if isinstance(event, on.CheckpointCompleted):
            self.account.heard(event.checkpoint_id)
        elif isinstance(event, on.CheckpointAborted) and self._abort_repeats:
            self.account.heard(event.latest_completed)
        before, reported = self.core.state, self.core.latest_reported
        effects = self.core.step(event)
        restored = self.task.attempt.restored_id
        heard = bool(effects) or self.core.latest_reported != reported
        if isinstance(event, on.CheckpointCompleted) and restored is not None and heard:
            self._check_old(event.checkpoint_id, restored)
        if (
            isinstance(event, on.CheckpointCompleted)
            and event.checkpoint_id < reported
            and before is not TaskState.CLOSED
        ):
            self.task.env.trace.record("ignored", self.task.entity, event.checkpoint_id, reported)
        if self.core.latest_reported != reported:
            self.task.attempt.calls(self.task, "notify", self.core.latest_reported)
        asked = isinstance(event, on.CheckpointTriggered | on.StopWithSavepointTriggered)
        if asked and before is TaskState.CLOSED:
            self.task.attempt.goal("declined_because_closing")
        self._carry_out(effects)

    def _check_old(self, completed: int, restored: int) -> None:
        if completed <= restored:
            says = f"acts on the completion of {completed}, though it was restored from {restored}"
            self.task.attempt.violate(
                "old_notifications_change_nothing", f"{self.task.name} {says}"
            )

    def cancel_marker(self, checkpoint: int) -> None:
        """Send a cancellation marker on every output."""
        self.task.checkpoints.account.sent_on(checkpoint)
        for link in self.task.links_out:
            link.queue.add_event(CancellationMarker(checkpoint))
            link.pump()

    def writes_settled(self) -> None:
        """Go on with closing, if everything asynchronous that it waited for is over."""
        if self.has_writes:
            return
        held, self._held = self._held, []
        self._carry_out(held)

    @property
    def has_writes(self) -> bool:
        """Say whether snapshots or commits are under way."""
        sink = self.task.sink
        return bool(self.task.checkpoints.side.pending_writes) or (sink is not None and sink.busy)

    def waits(self) -> list[Wait]:
        """Return what keeps the task from closing."""
        if self.core.state is not TaskState.WAITING_FOR_FINAL_CP:
            return []
        name = self.task.name
        found = []
        for act in self.core.waits_for():
            what, whom = _WAITS[act]
            partners = [whom]
            if act is Act.AWAIT_ACKNOWLEDGEMENT:
                partners = [link.receiver.name for link in self.task.links_out]
            elif act is Act.AWAIT_END_OF_PARTITION:
                open_links = [link for link in self.task.inputs if not self.channel_over(link)]
                partners = [link.sender.name for link in open_links]
            found += [Wait(name, what, partner) for partner in partners]
        return found

    def _carry_out(self, effects: Sequence[do.Effect]) -> None:
        """Carry out effects in order; closing waits for snapshots and commits under way."""
        for position, effect in enumerate(effects):
            closing = isinstance(effect, do.StateChanged) and effect.state is TaskState.CLOSED
            if closing and self.has_writes:
                self._held = list(effects[position:])
                return
            self._one(effect)

    def _one(self, effect: do.Effect) -> None:  # noqa: C901, PLR0912 - one branch per effect
        task, attempt = self.task, self.task.attempt
        match effect:
            case do.StateChanged(state):
                attempt.state_changed(task, state)
            case do.FinishTask():
                attempt.env.trace.record("told", task.entity, "cancel", 0, 0)
            case do.AdvanceToMaxWatermark():
                for operator in range(task.spec.vertex.chain):
                    attempt.call(task, "advance", operator)
            case do.CloseOperator(operator):
                attempt.call(task, "close", operator)
            case do.EndInput(operator, gate):
                attempt.call(task, "end_input", operator)
                if gate is not None:
                    attempt.env.trace.record("gate_ended", task.entity, gate + 1)
            case do.EmitMaxWatermark():
                attempt.life.mark(task, "watermark")
                task.emit(WATERMARK)
            case do.FinishOperator(operator):
                self.operators_finished = operator == task.spec.vertex.chain - 1
                attempt.call(task, "finish", operator)
            case do.EmitEndOfData(stop_mode):
                self._end_of_data(stop_mode)
            case do.EmitBarrier(checkpoint_id):
                task.checkpoints.side.send_barrier(checkpoint_id)
            case do.EmitCancelMarker(checkpoint_id):
                self.cancel_marker(checkpoint_id)
            case do.TakeSnapshot(checkpoint_id):
                attempt.performed(task, checkpoint_id)
                attempt.calls(task, "snapshot", checkpoint_id)
                task.checkpoints.side.take_snapshot(effect)
            case do.DeclineCheckpoint(checkpoint_id):
                attempt.decline_closing(task, checkpoint_id)
            case do.AcknowledgeEndOfData(channel):
                attempt.acknowledge_end_of_data(task.inputs[channel])
            case (
                do.PrecommitTransaction()
                | do.CommitTransactions()
                | do.AbortTransactions()
                | do.LeaveTransactions()
                | do.RecoverAndCommit()
                | do.RecoverAndAbort()
            ):
                if task.sink is not None:
                    self._transact(task.sink, effect)
            case do.EmitEndOfPartition():
                self._end_of_partition()
            case do.FailTask(reason):
                attempt.fail(task, reason)
            case _:
                assert_never(effect)

    def _transact(self, sink: SinkWriter, effect: _TransactionEffect) -> None:
        attempt, entity = self.task.attempt, self.task.entity
        match effect:
            case do.PrecommitTransaction(checkpoint_id):
                successor = self.core.transactions is not None and self.core.transactions.open
                attempt.env.trace.record("precommitted", entity, checkpoint_id, successor)
                sink.precommit(checkpoint_id, open_successor=successor)
            case do.CommitTransactions(_, checkpoints):
                attempt.committed(self.task, checkpoints)
                sink.commit(checkpoints)
            case do.AbortTransactions(transactions):
                for which in transactions:
                    attempt.env.trace.record("dropped", entity, str(which))
                sink.abort(transactions)
            case do.LeaveTransactions(checkpoints):
                for number in checkpoints:
                    attempt.env.trace.record("left", entity, number)
                sink.leave(checkpoints)
            case do.RecoverAndCommit(name):
                attempt.env.trace.record("recommitted", entity, name)
                sink.recover_and_commit(name)
            case do.RecoverAndAbort(name):
                attempt.env.trace.record("reaborted", entity, name)
                sink.recover_and_abort(name)
            case _:
                assert_never(effect)

    def _end_of_data(self, stop_mode: StopMode) -> None:
        task = self.task
        drain = stop_mode is StopMode.DRAIN
        task.attempt.life.mark(task, "end of data", drain=drain)
        for link in task.links_out:
            link.queue.add_event(EndOfData(drain))
            link.pump()

    def _end_of_partition(self) -> None:
        task = self.task
        task.attempt.life.mark(task, "end of partition")
        for link in task.links_out:
            task.attempt.account.left(link)
            task.attempt.life.left(link)
            link.account.ends()
            link.queue.finish()
            link.pump()

    def _make_core(self, *, finished_on_restore: bool) -> TaskLifecycle:
        task = self.task
        attempt, vertex = task.attempt, task.spec.vertex
        job = attempt.job
        protocol = job.ending.protocol
        source = vertex.kind is VertexKind.SOURCE
        opens = vertex.opens_after_finish if vertex.kind is VertexKind.SINK else None
        parameters = TaskParameters(
            kind=TaskKind.SOURCE if source else TaskKind.NON_SOURCE,
            variant=variant_of(job),
            gates=tuple(attempt.graph.gates[task.spec.index]),
            output_channels=sum(
                len(out.channels) for out in attempt.graph.outputs[task.spec.index]
            ),
            chain=vertex.chain,
            checkpointing=job.checkpointing.enabled,
            checkpoints_after_finish=job.checkpointing.after_finish,
            restored_from=attempt.restored_id,
            finished_on_restore=finished_on_restore,
            sink_opens_after_finish=opens,
            await_acknowledgements=job.ending.acknowledgements,
        )
        factory = attempt.cores.lifecycle
        if protocol is Protocol.NAIVE and factory is TaskLifecycle:
            factory = NaiveLifecycle
        return factory(parameters)
