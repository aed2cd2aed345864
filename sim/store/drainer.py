"""One partition's ingestion in simulated time: runs of records, control entries, durable steps.

A run of records is one event.  Its end follows from arithmetic: record k ends when it is there and
its predecessor has ended, plus the time to apply it.  What interrupts a run (a timer, a stop, a
crash) settles it on the exact record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.store import Area, Changes, ControlRecord, RowsWrite, Step, TopicPartition
from ckptsim.models.store.ingestion_events import (
    AbortSync,
    CancelSyncTimer,
    Cause,
    ControlRead,
    DataWritten,
    Effect,
    FinishSync,
    FreezePartition,
    IngestionState,
    MakeDurable,
    SetSyncTimer,
    SyncRequested,
    SyncTimerFired,
    WriteFailed,
)
from ckptsim.scenarios.store import Upsert
from ckptsim.sim.store.costs import each_durable
from ckptsim.sim.store.kinds import KIND_APPLIED, KIND_DURABLE, KIND_TIMER
from ckptsim.sim.store.record_run import Run
from ckptsim.sim.store.spans import FeedChanges, SpanContent
from ckptsim.sim.store.syncing import SyncSteps
from ckptsim.sim.store.truth import PartitionTruth

if TYPE_CHECKING:
    from ckptsim.models.store.content import WorkingContent
    from ckptsim.models.store.replica import Replica
    from ckptsim.sim.kernel import Timer
    from ckptsim.sim.store.feed import Feed
    from ckptsim.sim.store.world import StoreWorld

_GOAL_OF_CAUSE = {
    Cause.BYTES: "sync_by_bytes",
    Cause.CONTROL: "sync_by_control",
    Cause.TIME: "sync_by_time",
    Cause.REQUEST: "sync_on_stop",
}


class Drainer:
    """Drives one partition's ingestion core while the process is up."""

    def __init__(
        self, world: StoreWorld, key: TopicPartition, feed: Feed, truth: PartitionTruth
    ) -> None:
        self.world = world
        self.key = key
        self.feed = feed
        self.truth = truth
        self.entity = world.env.entity(f"partition {key.topic}", key.partition)
        self.stopping = False
        self.left_at = -1  # the last position that the last incarnation had applied
        self._replica: Replica | None = None
        self._run: Run | None = None
        self._next: Timer | None = None  # the end of a run, control entry or durable step
        self._timer: Timer | None = None
        self._syncs = SyncSteps(self)
        self._requested = False

    @property
    def replica(self) -> Replica | None:
        """Return the open incarnation, or None."""
        return self._replica

    @property
    def position(self) -> int:
        """Return the last position applied by now, records of a run under way included."""
        replica, run = self._replica, self._run
        if replica is None:
            return self.left_at
        if run is None:
            return replica.position
        return max(replica.position, run.position + run.done_by(self.world.env.now) - 1)

    @property
    def caught_up(self) -> bool:
        """Say whether everything that there will ever be has been processed."""
        replica = self._replica
        return (
            replica is not None
            and replica.state is IngestionState.OPEN
            and self.feed.next_after(replica.position) > self.feed.last
        )

    def start(self, replica: Replica) -> None:
        """Take over a partition that was opened."""
        self._replica = replica
        self.stopping = self._requested = False
        self._syncs.incarnation_begins(replica.position)

    def die(self, reason: str) -> None:
        """Drop the incarnation; what it had applied is counted, what was not durable is gone."""
        if self._replica is None:
            return
        self.left_at = self.position
        if self._run is not None:
            self._apply(self._run, self._run.done_by(self.world.env.now))
        self._syncs.close("aborted", reason)
        self._cancel_timers()
        self._replica = None

    def unsubscribe(self) -> None:
        """Close without a sync; the core knows of everything that was applied."""
        self._interrupt()
        self.die("unsubscribed")

    def stop(self) -> None:
        """Finish with what has been applied, and with one last sync."""
        self.stopping = True
        replica = self._replica
        if replica is None:
            return
        self._interrupt()
        if replica.state is not IngestionState.SYNCING:
            self._cancel_next()
            self.go()

    def go(self) -> None:
        """Go on with whatever comes next, if nothing is under way."""
        replica = self._replica
        if replica is None or self._next is not None or self.world.paused:
            return
        if self.stopping:
            self._request_sync(replica)
        elif replica.state is IngestionState.OPEN:
            self._take_next(replica)

    def _take_next(self, replica: Replica) -> None:
        position = self.feed.next_after(replica.position)
        if position > self.feed.last:
            self.world.caught_up()
            return
        env, process = self.world.env, self.world.model.process
        begin = max(env.now, self.feed.available_ns(position))
        control = self.feed.control_at(position)
        if control is not None:
            self._schedule(begin + process.apply_ns, KIND_APPLIED, self._control, position, control)
            return
        run = self._run_from(position, replica)
        if run.records == 0:
            self._schedule(begin + process.apply_ns, KIND_APPLIED, self._fail_write, position)
            return
        self._run = run
        self._schedule(run.end_of(run.records), KIND_APPLIED, self._run_ended)

    def _run_from(self, position: int, replica: Replica) -> Run:
        core, shape = replica.ingestion, self.feed.shape
        index = self.feed.index_of(position)
        limit = core.rules.records_until_due(core.bytes_since_sync, shape.record_bytes)
        if core.rules.sync_interval_ns and not core.timer_set:
            limit = 1  # the record that sets the timer has to be an event of its own
        failing = self.world.failing_record(self.key, index)
        if failing is not None:
            limit = min(failing - index, limit if limit is not None else failing - index)
        records = self.feed.run_length(
            position, shape.push + shape.stream if limit is None else limit
        )
        streamed = position > self.feed.end_of_push
        return Run(
            position=position,
            index=index,
            records=records,
            begun_ns=self.world.env.now,
            first_ns=self.feed.available_ns(position),
            interval_ns=shape.interval_ns if streamed else 0,
            apply_ns=self.world.apply_ns,
        )

    def _run_ended(self) -> None:
        run, self._next = self._run, None
        if run is not None:
            self._settle(run, run.records)
            self.go()

    def _interrupt(self) -> None:
        """Settle a run that is under way on the record boundary of this instant."""
        run = self._run
        if run is None:
            return
        self._cancel_next()
        self._settle(run, run.done_by(self.world.env.now))

    def _settle(self, run: Run, records: int) -> None:
        self._apply(run, records)
        replica = self._replica
        if replica is None or records == 0:
            return
        last = run.position + records - 1
        size = records * self.feed.shape.record_bytes
        self._interpret(replica.ingestion.step(DataWritten(position=last, size_bytes=size)))

    def _apply(self, run: Run, records: int) -> None:
        """Apply the first records of a run to the working content, and count them."""
        self._run = None
        replica = self._replica
        if replica is None or records == 0:
            return
        written = self._write(replica.content, run.index, run.index + records)
        truth, last = self.truth, run.position + records - 1
        truth.applied += records
        truth.busy_ns += records * run.apply_ns
        again = min(last, truth.applied_to) - run.position + 1
        if again > 0:
            truth.reprocessed += again
            self.world.reprocessed(again)
        truth.applied_to = max(truth.applied_to, last)
        if each_durable(self.world.model):
            write = RowsWrite(area=Area.DATA, key=self.key, changes=written)
            self.world.act(self.key)
            self.world.client.medium.commit(Step(rows=(write,)))
            self._syncs.covered(last)

    def _write(self, content: WorkingContent, first: int, end: int) -> Changes:
        """Write data records into the working content; return what they change."""
        if isinstance(content, SpanContent):
            content.apply_span(first, end)
            changes = FeedChanges(self.feed)
            changes.append(first, end)
            return changes
        if self.world.model.sync.upsert is Upsert.FIRST_WINS:
            written = [self.feed.record(index) for index in range(first, end)]
        else:
            written = list(self.feed.last_records(first, end - first))
        for record in written:
            content.apply(record)
        return {record.key: record.value for record in written}

    def _control(self, position: int, record: ControlRecord) -> None:
        self._next = None
        replica = self._replica
        if replica is None:
            return
        siblings = self.world.client.version_copies(self.key.topic, apart_from=self.key)
        event = ControlRead(position=position, record=record, siblings=siblings)
        effects = replica.ingestion.step(event)
        self.truth.applied_to = max(self.truth.applied_to, position)
        if replica.state is not IngestionState.ERRORED:
            self.world.control_applied(self, position, record)
        self._carry_out(effects)

    def _fail_write(self, position: int) -> None:
        self._next = None
        replica = self._replica
        if replica is not None:
            self.world.write_failed(self.key)
            self._carry_out(replica.ingestion.step(WriteFailed(position)))

    def _request_sync(self, replica: Replica) -> None:
        if self._requested:
            self._replica_stopped()
            return
        self._requested = True
        effects = replica.ingestion.step(SyncRequested())
        if not effects:
            self._replica_stopped()
        self._carry_out(effects)

    def _replica_stopped(self) -> None:
        self._cancel_timers()
        if self._replica is not None:
            self.left_at = self._replica.position
        self._replica = None
        self.world.partition_stopped()

    def _carry_out(self, effects: list[Effect]) -> None:
        self._interpret(effects)
        self.go()

    def _interpret(self, effects: list[Effect]) -> None:
        env = self.world.env
        for effect in effects:
            match effect:
                case MakeDurable():
                    self._begin_step(effect)
                case FinishSync(position, cause):
                    self.truth.promised = position
                    env.goals.reach(_GOAL_OF_CAUSE[cause])
                    self._syncs.close("completed", None)
                case AbortSync(refusal):
                    env.goals.reach("commit_failed")
                    self._syncs.give_up(refusal)
                case FreezePartition(refusal, reason):
                    self.world.frozen(self, refusal, reason)
                case SetSyncTimer(delay_ns):
                    self._timer = env.call_in(delay_ns, KIND_TIMER, self.entity, self._timer_fired)
                case CancelSyncTimer():
                    self._cancel_sync_timer()

    def _timer_fired(self) -> None:
        self._timer = None
        self._interrupt()
        replica = self._replica
        if replica is not None and replica.state is not IngestionState.SYNCING:
            self._carry_out(replica.ingestion.step(SyncTimerFired()))

    def _begin_step(self, wanted: MakeDurable) -> None:
        replica = self._replica
        if replica is None:
            return
        self._cancel_next()  # a timer may ask while an entry is being waited for
        end = self._syncs.begin_step(replica, wanted)
        self._schedule(end, KIND_DURABLE, self._step_ended, wanted, self.world.env.now)

    def _step_ended(self, wanted: MakeDurable, begun_ns: int) -> None:
        self._next = None
        if self._replica is not None:
            outcome = self._syncs.end_step(self._replica, wanted, begun_ns)
            if outcome is not None:
                self._carry_out(self._replica.ingestion.step(outcome))

    def _schedule(self, time_ns: int, kind: int, function: object, *arguments: object) -> None:
        env = self.world.env
        self._next = env.call_at(time_ns, kind, self.entity, function, *arguments)  # type: ignore[arg-type]

    def _cancel_sync_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _cancel_next(self) -> None:
        if self._next is not None:
            self._next.cancel()
            self._next = None

    def _cancel_timers(self) -> None:
        self._cancel_sync_timer()
        self._cancel_next()
        self._run = None
