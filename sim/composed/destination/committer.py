"""A sink subtask's way into the store: queued transactions, durable steps, refusals.

The order of the steps and what a checkpoint holds are decided by the ingestion core of the store.
This is its asynchronous host.  One commit is under way at a time. Queued ones go with the next.  A
crash drops the object. The durable data is in the medium.

Everything that is pre-committed lies in the job's checkpoint until it is durable in the store.  A
restored sink reads the store: what its checkpoint covers is taken for committed, the rest is
committed again. That is exactly once where data and checkpoint are one step, and at least once
elsewhere, which rows by name (upserts) make whole.

Source: Apache Flink, `GenericWriteAheadSink` with its committer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ckptsim.models.core import ProtocolError
from ckptsim.models.store import (
    Area,
    DataRecord,
    Refusal,
    RowsWrite,
    SlotWrite,
    Step,
    StepContent,
    TopicPartition,
)
from ckptsim.models.store.ingestion import events as ingestion_events
from ckptsim.scenarios.sync import Point, Side
from ckptsim.sim.composed.store import record_of
from ckptsim.sim.sync.vocabulary import KIND_BATCH_TIMER, KIND_UPLOADED

if TYPE_CHECKING:
    from ckptsim.sim.composed.destination.destination import PipelineAttempt
    from ckptsim.sim.composed.store import Store
    from ckptsim.sim.job.control.sinks.external import Transaction


@dataclass(frozen=True, slots=True)
class Batch:
    """A transaction on its way into the store. `committed` is called when it is durable."""

    checkpoint: int
    records: tuple[int, ...]
    committed: Callable[[], None]


class Committer:
    """One incarnation of one partition of the store."""

    def __init__(self, attempt: PipelineAttempt, store: Store, key: TopicPartition) -> None:
        self._attempt = attempt
        self._store = store
        self._key = key
        self._entity = attempt.env.entity("store", key.partition)
        self._content = store.parts.content(store.medium, key)
        self._core = store.parts.ingestion(store.rules, store.opening_state(key))
        self.position = self._core.checkpoint.position
        self._queue: list[Batch] = []
        self._current: list[Batch] = []
        self._number = 0
        self._steps = 0  # durable steps of the commit under way
        self._begin_timer = False
        if not store.hooked:
            self._flush_later()

    def recover(self, transaction: Transaction, committed: Callable[[], None]) -> None:
        """Commit what the restored state has pending, unless the store covers it."""
        if (transaction.checkpoint_id or 0) <= self.position:
            self._attempt.env.goals.reach("committed_before_the_crash")
            committed()
        else:
            self._attempt.env.goals.reach("committed_again")
            self.commit(transaction, committed)

    def commit(self, transaction: Transaction, committed: Callable[[], None]) -> None:
        """Queue a transaction."""
        number, records = transaction.checkpoint_id or 0, tuple(transaction.records)
        self._queue.append(Batch(number, records, committed))
        if not self._current and not self._begin_timer:
            self._begin_timer = True
            self._attempt.call_in(0, KIND_BATCH_TIMER, self._entity, self._begin)

    def close(self) -> None:
        """Flush what a data store that is not hooked still holds, as a graceful close does."""
        if not self._store.hooked:
            self._flush_own()

    def taken(self, queue: list[Batch]) -> list[Batch]:
        """Take what the next commit holds out of the queue, oldest first."""
        batches = list(queue)
        queue.clear()
        return batches

    # The commit -------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._begin_timer = False
        self._attempt.point(Point.BEFORE_UPLOAD)
        self._current = self.taken(self._queue)
        if len(self._current) > 1:
            self._attempt.env.goals.reach("several_transactions_in_one_commit")
        for batch in self._current:
            self._attempt.world.ledger.committing(self._key, batch.checkpoint)
            for record in batch.records:
                row = DataRecord(key=self._store.row(record), value=b"")
                self._content.apply(row)
            written = ingestion_events.DataWritten(
                position=batch.checkpoint, size_bytes=len(batch.records)
            )
            self._carry_out(self._core.step(written))
        self._sync()

    def _sync(self) -> None:
        if self._core.state is ingestion_events.IngestionState.OPEN:
            self._number = self._store.next_commit()
            self._steps = 0
            self._attempt.env.trace.record("commit", self._entity, self._number)
            records = tuple(r for batch in self._current for r in batch.records)
            self._attempt.storage.commit_begun(records, self._number)
            self._carry_out(self._core.step(ingestion_events.SyncRequested()))

    def _carry_out(self, effects: Sequence[ingestion_events.Effect]) -> None:
        for effect in effects:
            match effect:
                case ingestion_events.MakeDurable():
                    self._start_step(effect)
                case ingestion_events.FinishSync():
                    self._finished()
                case ingestion_events.AbortSync(refusal):
                    self._refused(refusal)
                case (
                    ingestion_events.FreezePartition()
                    | ingestion_events.SetSyncTimer()
                    | ingestion_events.CancelSyncTimer()
                ):
                    raise ProtocolError("not_asked_for", state=str(self._key), event=effect)

    def _start_step(self, effect: ingestion_events.MakeDurable) -> None:
        rows = 0 if effect.part is StepContent.CHECKPOINT else len(self._content.changes())
        delay_ns = self._store.step_ns(effect.part, rows)
        self._attempt.call_in(delay_ns, KIND_UPLOADED, self._entity, self._step_over, effect)

    def _step_over(self, effect: ingestion_events.MakeDurable) -> None:
        attempt, store = self._attempt, self._store
        first = self._steps == 0
        if first and store.faults.refuses(self._number, self._key.partition):
            self._carry_out(self._core.step(ingestion_events.StepRefused(Refusal.COMMIT_FAILED)))
            return
        step = self._step(effect)
        if first and store.faults.crashes_in(self._number):
            if effect.part is StepContent.BOTH:
                store.medium.abandon(step)
            else:
                store.medium.commit(step)
                attempt.env.goals.reach("crashed_between_data_and_checkpoint")
            attempt.world.ledger.resync()
            attempt.crash(Side.DESTINATION, f"in commit {self._number}")
        store.medium.commit(step)
        self._steps += 1
        if step.rows:
            self._rows_durable(step.rows[0])
            self._content.flushed()
        if step.slots:
            attempt.world.ledger.checkpoint_durable(self._key)
        attempt.env.trace.record("step", self._entity, self._number, effect.part.name)
        self._carry_out(self._core.step(ingestion_events.StepDurable()))

    def _step(self, effect: ingestion_events.MakeDurable) -> Step:
        rows: tuple[RowsWrite, ...] = ()
        if effect.part is not StepContent.CHECKPOINT and self._store.hooked:
            changes = dict(self._content.changes())
            rows = (RowsWrite(area=Area.DATA, key=self._key, changes=changes),)
        slots: tuple[SlotWrite, ...] = ()
        if effect.checkpoint is not None:
            slots = (self._store.checkpoints.stage(self._key, effect.checkpoint),)
        return Step(rows=rows, slots=slots)

    def _finished(self) -> None:
        """Report what the commit has made durable, then let the sink forget it."""
        attempt = self._attempt
        attempt.point(Point.AFTER_UPLOAD)
        batches, self._current = self._current, []
        records = tuple(record for batch in batches for record in batch.records)
        attempt.storage.commit_finished(records, self._number)
        for batch in batches:
            batch.committed()
        if self._queue and not self._begin_timer:
            self._begin_timer = True
            attempt.call_in(0, KIND_BATCH_TIMER, self._entity, self._begin)

    def _refused(self, refusal: Refusal) -> None:
        attempt = self._attempt
        attempt.env.goals.reach("commit_refused")
        attempt.env.trace.record("refused_commit", self._entity, self._number, refusal.value)
        attempt.call_in(self._store.table.retry_ns, KIND_BATCH_TIMER, self._entity, self._sync)

    # A data store that is not hooked ------------------------------------------------------------

    def _flush_later(self) -> None:
        delay_ns = self._store.table.own_flush_ns
        self._attempt.call_in(delay_ns, KIND_BATCH_TIMER, self._entity, self._flush_and_again)

    def _flush_and_again(self) -> None:
        self._flush_own()
        self._flush_later()

    def _flush_own(self) -> None:
        changes = dict(self._content.changes())
        if changes:
            write = RowsWrite(area=Area.DATA, key=self._key, changes=changes)
            self._store.medium.commit(Step(rows=(write,)))
            self._content.flushed()
            self._rows_durable(write)

    def _rows_durable(self, write: RowsWrite) -> None:
        records = [record_of(name) for name in write.changes]
        self._attempt.world.ledger.rows_durable(self._attempt, records)
