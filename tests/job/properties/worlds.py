"""Worlds with one broken part each, to show that each property of a job can fail."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.models.coordinator.plan import (
    FinishedState,
    Plan,
    Rejected,
    Vertex,
    finalize,
    plan_checkpoint,
)
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.models.lifecycle.effects import Effect
from ckptsim.models.recovery.persistence import LentCredit
from ckptsim.sim.job.control.checkpoint import CheckpointRecord, JobCheckpoint
from ckptsim.sim.job.control.coordinator import CoordinatorHost
from ckptsim.sim.job.control.planning import PlanCalculator
from ckptsim.sim.job.control.sinks import Sinks
from ckptsim.sim.job.control.sinks.sink import SinkWriter
from ckptsim.sim.job.control.task.checkpoints import CheckpointsHost
from ckptsim.sim.job.control.task.lifecycle import LifecycleHost
from ckptsim.sim.job.events import of_tasks
from ckptsim.sim.job.graph import TaskSpec
from ckptsim.sim.job.records.attempt import Attempt
from ckptsim.sim.job.records.channel import Channel
from ckptsim.sim.job.records.state import Mark, Parts, Record, Snapshots, TaskSnapshot
from ckptsim.sim.job.records.state.logs import OutputLogs
from ckptsim.sim.job.records.state.snapshot import MarkReceiver
from ckptsim.sim.job.records.tasks import Operator, Source
from ckptsim.sim.job.records.tasks.event_time import SourceMarks
from ckptsim.sim.job.records.tasks.outputs import InputGate, Outputs
from ckptsim.sim.job.splits import Split

_PLANNING = "ckptsim.sim.job.control.planning"


def lends_nothing(patch: pytest.MonkeyPatch) -> None:
    """Let senders have all their credit and room while receivers hold what they had in flight."""
    patch.setattr(LentCredit, "recover", lambda _credit, _held: None)


def forgets_a_file(patch: pytest.MonkeyPatch) -> None:
    """Hear nothing of what became of the state of checkpoint 2, which expires."""
    right = CheckpointsHost._stored

    def stored(self: CheckpointsHost, checkpoint: int, *, failed: bool) -> None:
        if checkpoint != 2:
            right(self, checkpoint, failed=failed)

    patch.setattr(CheckpointsHost, "_stored", stored)


def becomes_active_behind_its_watermark(patch: pytest.MonkeyPatch) -> None:
    """Take a watermark before the status that makes its channel active again."""

    def tell(self: Mark, receiver: MarkReceiver, channel: int) -> None:
        if self.watermark is not None:
            receiver.take_watermark(channel, self.watermark)
        if self.idle is not None:
            receiver.take_status(channel, idle=self.idle)

    patch.setattr(Mark, "tell", tell)


def forgets_refused_stops(patch: pytest.MonkeyPatch) -> None:
    """Ask for no stop again that was refused before it had a savepoint."""

    def forget_stop(self: CoordinatorHost) -> None:
        if self.stop_id is not None:
            self.stop_id = None
            self._job.stop_failed()

    patch.setattr(CoordinatorHost, "forget_stop", forget_stop)


def swaps_restored_states(patch: pytest.MonkeyPatch) -> None:
    """Let each of two subtasks begin with the state of the other one."""
    right = Attempt._taken_by

    def taken_by(self: Attempt, spec: TaskSpec) -> int:
        found = right(self, spec)
        return 1 - found if spec.vertex.parallelism == 2 else found

    def state_of(self: Attempt, spec: TaskSpec) -> list[Record]:
        with pytest.MonkeyPatch.context() as swapped:
            swapped.setattr(Attempt, "_taken_by", taken_by)
            return right_state(self, spec)

    right_state = Attempt.state_of
    patch.setattr(Attempt, "state_of", state_of)


def persists_what_it_reads(patch: pytest.MonkeyPatch) -> None:
    """Let a gate take part in a checkpoint that has not read its input state yet."""
    right = InputGate.start

    def start(self: InputGate, checkpoint: int) -> FailureReason | None:
        before, recovered = self.recovered, self.recovered
        if recovered is not None and recovered.core.may_persist:
            self.recovered = None
        refused = right(self, checkpoint)
        self.recovered = before
        return refused

    patch.setattr(InputGate, "start", start)


def takes_one_record_for_all_splits(patch: pytest.MonkeyPatch) -> None:
    """Let the first record of a source stand for one of each of its splits."""
    right = SourceMarks.read

    def read(self: SourceMarks, split: Split, record: int) -> None:
        right(self, split, record)
        for other in self._source.unread:
            self._latest.setdefault(other.number, self._latest[split.number])

    patch.setattr(SourceMarks, "read", read)


def cuts_logs_for_the_next_checkpoint(patch: pytest.MonkeyPatch) -> None:
    """Cut a log before what the checkpoint after the one that is complete will need."""
    right = OutputLogs.completed

    def completed(self: OutputLogs, checkpoint: int) -> None:
        self._sent_before = self._sent.get(checkpoint, self._sent_before)
        right(self, checkpoint)

    patch.setattr(OutputLogs, "completed", completed)


def wakes_nobody_for_credit(patch: pytest.MonkeyPatch) -> None:
    """Give credit back, and tell no sender that it has room again."""

    def credit(self: Channel) -> None:
        self.credit.give_back()
        self.pump()

    patch.setattr(Channel, "_credit", credit)


def closes_at_once(patch: pytest.MonkeyPatch) -> None:
    """Close without waiting for snapshots and commits under way."""

    def carry_out(self: LifecycleHost, effects: Sequence[Effect]) -> None:
        for effect in effects:
            self._one(effect)

    patch.setattr(LifecycleHost, "_carry_out", carry_out)


def keeps_triggering(patch: pytest.MonkeyPatch) -> None:
    """Take the savepoint of a stop while periodic triggers go on."""

    def stop(self: CoordinatorHost) -> None:
        wanted = coordinator_events.CheckpointRequested
        self._step(wanted(self._env.now, savepoint=True, synchronous=True))

    patch.setattr(CoordinatorHost, "stop", stop)


def triggers_nothing_after_a_failed_stop(patch: pytest.MonkeyPatch) -> None:
    """Forget periodic triggers when the savepoint of a stop has failed."""
    patch.setattr(CoordinatorHost, "_stop_failed", CoordinatorHost.forget_stop)


def stops_no_channel(patch: pytest.MonkeyPatch) -> None:
    """Tell no channel of a gate that a checkpoint is over."""
    patch.setattr(InputGate, "stop", lambda _gate, _checkpoint: None)


def loses_a_record(patch: pytest.MonkeyPatch) -> None:
    """Let a sink's tenth record never come to the external system."""
    right = SinkWriter.write
    count = itertools.count(1)

    def write(self: SinkWriter, record: int) -> None:
        if next(count) != 10:
            right(self, record)

    patch.setattr(SinkWriter, "write", write)


def writes_twice(patch: pytest.MonkeyPatch) -> None:
    """Let a sink's tenth record come to the external system twice."""
    right = SinkWriter.write
    count = itertools.count(1)

    def write(self: SinkWriter, record: int) -> None:
        for _ in range(2 if next(count) == 10 else 1):
            right(self, record)

    patch.setattr(SinkWriter, "write", write)


def invents_a_record(patch: pytest.MonkeyPatch) -> None:
    """Let a sink write, beside its tenth record, one that no source has ever sent."""
    right = SinkWriter.write
    count = itertools.count(1)

    def write(self: SinkWriter, record: int) -> None:
        right(self, record)
        if next(count) == 10:
            right(self, 999)

    patch.setattr(SinkWriter, "write", write)


def counts_twice(patch: pytest.MonkeyPatch) -> None:
    """Let a task count its sixth record twice."""
    right = Operator.finish_record

    def finish(self: Operator, record: int) -> None:
        right(self, record)
        if record == 5:
            self.state.append(record)

    patch.setattr(Operator, "finish_record", finish)


def forgets_state(patch: pytest.MonkeyPatch) -> None:
    """Let the state backend drop what a sink has counted."""
    right = Snapshots._whole

    def whole(self: Snapshots, checkpoint: int, parts: Parts) -> TaskSnapshot:
        found = right(self, checkpoint, parts)
        return found if self.task.is_source else replace(found, state=())

    patch.setattr(Snapshots, "_whole", whole)


def ends_twice(patch: pytest.MonkeyPatch) -> None:
    """Let a sink abort what it has just committed."""
    right = SinkWriter.conclude

    def conclude(self: SinkWriter, name: str) -> None:
        right(self, name)
        self.external.abort(name)

    patch.setattr(SinkWriter, "conclude", conclude)


def waits_for_transactions(patch: pytest.MonkeyPatch) -> None:
    """Let the external system forget its time-outs."""
    patch.setattr(Sinks, "_time_out", lambda _self, _name: None)


def commits_newest_first(patch: pytest.MonkeyPatch) -> None:
    """Let a sink commit what several checkpoints have pre-committed from after."""
    right = SinkWriter.commit

    def commit(self: SinkWriter, checkpoints: tuple[int, ...]) -> None:
        right(self, checkpoints[::-1])

    patch.setattr(SinkWriter, "commit", commit)


def keeps_state_of_the_finished(patch: pytest.MonkeyPatch) -> None:
    """Let a checkpoint hold what the one before held of tasks that have finished since."""
    kept: dict[int, TaskSnapshot] = {}

    def stored(**fields: Any) -> JobCheckpoint:
        kept.update(fields["tasks"])
        finished = {task: kept[task] for task in sorted(fields["finished"])}
        return JobCheckpoint(**fields | {"tasks": finished | dict(fields["tasks"])})

    patch.setattr("ckptsim.sim.job.control.checkpoint.JobCheckpoint", stored)


def records_too_much(patch: pytest.MonkeyPatch) -> None:
    """Let the first checkpoint record the last vertex as partly finished while all sources run."""
    calls = itertools.count(1)

    def recorded(vertices: Sequence[Vertex]) -> dict[str, FinishedState] | Rejected:
        found = finalize(vertices)
        if next(calls) > 1 or isinstance(found, Rejected):
            return found
        return found | {vertices[-1].name: FinishedState.PARTIAL}

    patch.setattr(f"{_PLANNING}.finalize", recorded)


def ends_a_record_early(patch: pytest.MonkeyPatch) -> None:
    """Let a source end its data when one record is left."""

    def is_exhausted(self: Source) -> bool:
        return all(one.most is not None and one.position >= one.most - 1 for one in self._splits)

    patch.setattr(Source, "_is_exhausted", property(is_exhausted))


def takes_who_finished_since(patch: pytest.MonkeyPatch) -> None:
    """Let a checkpoint record as finished everything that has finished when it completes."""

    def recorded(
        self: PlanCalculator, record: CheckpointRecord
    ) -> dict[str, FinishedState] | Rejected:
        reported = record.operators_finished
        return finalize([self._vertex(one, self.finished, reported) for one in self._vertices])

    patch.setattr(PlanCalculator, "finalize", recorded)


def reopens_a_vertex(patch: pytest.MonkeyPatch) -> None:
    """Let a checkpoint record a finished vertex, and the next one that it runs again."""
    seen: dict[str, int] = {}

    def recorded(vertices: Sequence[Vertex]) -> dict[str, FinishedState] | Rejected:
        found = finalize(vertices)
        if isinstance(found, Rejected):
            return found
        for name, state in found.items():
            if state is FinishedState.FULL:
                seen[name] = seen.get(name, 0) + 1
        again = [name for name, times in seen.items() if times == 2]
        return found | dict.fromkeys(again, FinishedState.RUNNING)

    patch.setattr(f"{_PLANNING}.finalize", recorded)


def keeps_broadcast_state_apart(patch: pytest.MonkeyPatch) -> None:
    """Let a restored subtask that had finished begin without the broadcast state of the others."""

    def own(states: Sequence[Any], parallelism: int) -> list[tuple[Any, ...]]:
        return [() if state is None else (state,) for state in states]

    patch.setattr("ckptsim.sim.job.records.attempt.broadcast", own)


def ignores_union_state(patch: pytest.MonkeyPatch) -> None:
    """Let a checkpoint complete although union state has ended in part."""

    def recorded(vertices: Sequence[Vertex]) -> dict[str, FinishedState] | Rejected:
        return finalize([replace(vertex, union_state=False) for vertex in vertices])

    patch.setattr(f"{_PLANNING}.finalize", recorded)


def forgets_a_source(patch: pytest.MonkeyPatch) -> None:
    """Let the first plan trigger all sources but the last."""
    calls = itertools.count(1)

    def plan(vertices: Any, edges: Any, **rest: Any) -> Plan | Rejected:
        found = plan_checkpoint(vertices, edges, **rest)
        if next(calls) > 1 or isinstance(found, Rejected):
            return found
        return replace(found, trigger=found.trigger[:-1])

    patch.setattr(f"{_PLANNING}.plan_checkpoint", plan)


def forgets_what_was_in_flight(patch: pytest.MonkeyPatch) -> None:
    """Let an attempt begin with empty channels."""
    patch.setattr(Channel, "preload", lambda *_: None)


def counts_in_flight_twice(patch: pytest.MonkeyPatch) -> None:
    """Let the writer of channel state hear of records twice."""
    right = Snapshots.keep_input

    def keep(self: Snapshots, channel: int, checkpoint: int, buffers: Any) -> Iterable[int]:
        return [2 * size for size in right(self, channel, checkpoint, buffers)]

    patch.setattr(Snapshots, "keep_input", keep)


def gives_up_behind_closing(patch: pytest.MonkeyPatch) -> None:
    """Carry out all that the word of a checkpoint's end leads to before it is aborted."""

    def abort(
        self: LifecycleHost,
        checkpoint: int,
        latest_completed: int | None,
        give_up: Callable[[int], None],
    ) -> None:
        self._emit(of_tasks.AbortBegun(self._task, checkpoint))
        self.step(lifecycle_events.CheckpointAborted(checkpoint, latest_completed))
        give_up(checkpoint)

    patch.setattr(LifecycleHost, "abort", abort)


def takes_turns_for_all_outputs(patch: pytest.MonkeyPatch) -> None:
    """Have the outputs of a task count the turns of their channels together."""
    right = Outputs._chosen

    def chosen(self: Outputs, number: int, *others: Any) -> list[Channel]:
        self._turns = [sum(self._turns)] * len(self._turns)
        return right(self, number, *others)

    patch.setattr(Outputs, "_chosen", chosen)
