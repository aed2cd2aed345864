"""One partition's ingestion in simulated time: a thread that drains its log, entry after entry.

A run of records is one wait.  Its end follows from arithmetic: record k ends when it is there and
its predecessor has ended, plus the time to apply it.  What interrupts a run (a sync that is due, a
stop, a crash) settles it on the exact record.

Only the wait for entries can be interrupted: anyone who calls leaves a flag (`stopping`, the
syncer's `due`) and rouses the thread, which settles what it has applied and looks at the flags.
While a step is becoming durable the flags wait, and a second call at one instant finds nothing to
rouse.

Where the store ingests while it syncs, another thread waits for the steps of a sync, and this one
takes records until the next sync is due.  All else waits for the end of the sync.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, assert_never

from simpy import Interrupt

from ckptsim.models.store import ControlRecord, TopicPartition
from ckptsim.models.store.ingestion import events as ingestion_events
from ckptsim.sim.store.content import RecordWriter, Run
from ckptsim.sim.store.process.subscription import Subscription
from ckptsim.sim.store.process.syncing import PeriodicSyncer, SyncSteps
from ckptsim.sim.store.truth import PartitionTruth
from ckptsim.sim.store.vocabulary import KIND_APPLIED

if TYPE_CHECKING:
    from simpy import Event

    from ckptsim.models.store.replica import Replica
    from ckptsim.sim.kernel import Process
    from ckptsim.sim.store.content import Feed
    from ckptsim.sim.store.process.owners import LateStep
    from ckptsim.sim.store.process.syncing import Steps
    from ckptsim.sim.store.truth import SyncAccount
    from ckptsim.sim.store.world import StoreWorld

_GOAL_OF_CAUSE = {
    ingestion_events.Cause.BYTES: "sync_by_bytes",
    ingestion_events.Cause.CONTROL: "sync_by_control",
    ingestion_events.Cause.TIME: "sync_by_time",
    ingestion_events.Cause.REQUEST: "sync_on_stop",
}


class Drainer:
    """Drives one partition's ingestion core, one incarnation after the other."""

    def __init__(
        self, world: StoreWorld, key: TopicPartition, feed: Feed, truth: PartitionTruth
    ) -> None:
        self.world = world
        self.key = key
        self.feed = feed
        self.truth = truth
        self.entity = world.env.entity(f"partition {key.topic}", key.partition)
        self.left_at = -1  # the last position that the last incarnation had applied
        self._replica: Replica | None = None
        self._thread: Process | None = None
        self._can_be_roused = False
        self._stopping = False
        self._run: Run | None = None
        self._sync_thread: Process | None = None  # while a sync is written beside the ingestion
        self.records = RecordWriter(world, key, feed, truth)
        self._syncs = SyncSteps(self)
        self.subscription = Subscription(world, self.entity)
        self._run_is_remote = False
        self._syncer = PeriodicSyncer(world.env, self.entity, self._rouse)

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
        """Return whether everything that there will ever be has been processed."""
        replica = self._replica
        return (
            replica is not None
            and replica.state is ingestion_events.IngestionState.OPEN
            and self.feed.next_after(replica.position) > self.feed.last
        )

    def start(self, replica: Replica) -> None:
        """Drain a partition that was opened, once all have recovered."""
        self._replica = replica
        self._stopping = False
        self._syncs.incarnation_begins(replica.position)
        self.subscription.begin(replica.position)
        self._thread = self.world.process.threads.start(self._drain(replica), self.entity)

    def stop(self) -> None:
        """Let the thread finish with the applied records, and with one last sync."""
        self._stopping = True
        self._rouse()

    def switch(self) -> None:
        """Consume the other log. The entry under way came from the one before."""
        if self._replica is not None and self.subscription.switch():
            self._rouse()

    def join(self) -> Steps:
        """Wait until the thread has ended."""
        if self._thread is not None and self._thread.is_alive:
            yield self._thread

    def unsubscribe(self) -> None:
        """Close without a sync. The core is notified of everything that was applied."""
        replica, run = self._replica, self._run
        if replica is not None and run is not None:
            self._settle(run, run.done_by(self.world.env.now), replica)
        self.die("unsubscribed")

    def pause(self, *, begun: bool) -> tuple[LateStep, ...]:
        """Settle the applied records, and return the steps of the next sync."""
        replica, run = self._replica, self._run
        if replica is None:
            return ()
        if run is not None:
            self._settle(run, run.done_by(self.world.env.now), replica)
        if replica.state is ingestion_events.IngestionState.ERRORED:
            return ()
        return self._syncs.late_steps(replica, begun=begun)

    def die(self, reason: str) -> None:
        """Drop the incarnation.

        What it had applied is counted, everything that was not durable is gone.
        """
        replica, run = self._replica, self._run
        if replica is None:
            return
        self.left_at = self.position
        if run is not None:
            self._write(run, run.done_by(self.world.env.now), replica)
        self._syncs.close("aborted", reason)
        self._syncer.cancel()
        for thread in (self._thread, self._sync_thread):
            if thread is not None:
                self.world.process.threads.stop(thread)
        self._sync_thread = None
        self._replica = None

    # The thread --------------------------------------------------------------------------------

    def _drain(self, replica: Replica) -> Steps:
        """Take entry after entry, with the syncs that fall due, until told to stop. Then sync."""
        yield self.world.process.recovered
        core = replica.ingestion
        while not self._stopping:
            position = self.feed.next_after(replica.position)
            if replica.state is ingestion_events.IngestionState.ERRORED:
                yield from self._wait(self.world.env.event())
            elif self.subscription.switching:
                yield from self._subscribe(replica)
            elif self._syncer.due:
                self._syncer.due = False
                yield from self._carry_out(core.step(ingestion_events.SyncTimerFired()), replica)
            elif self._waits_for_sync(position, replica):
                yield from self._wait(self.world.env.event())
            elif position > self.feed.last:
                self.world.caught_up()
                yield from self._wait(self.world.env.event())
            elif (control := self.feed.control_at(position)) is not None:
                yield from self._take_control(position, control, replica)
            else:
                yield from self._take_records(position, replica)
        yield from self._sync_ended()
        yield from self._carry_out(core.step(ingestion_events.SyncRequested()), replica)
        yield from self._sync_ended()
        self._syncer.cancel()
        self.left_at = replica.position
        self._replica = None

    def _subscribe(self, replica: Replica) -> Steps:
        """Go on in the log that was switched to, after the position that is kept for it."""
        position = self.subscription.subscribe(replica.position)
        if position != replica.position:
            moved = ingestion_events.DataWritten(position=position, size_bytes=0)
            yield from self._carry_out(replica.ingestion.step(moved), replica)

    def _waits_for_sync(self, position: int, replica: Replica) -> bool:
        """Return whether what comes next waits for the end of a sync that is written meanwhile."""
        if self._sync_thread is None:
            return False
        core, due = replica.ingestion, self.world.model.sync.sync_bytes
        if position > self.feed.last or self.feed.control_at(position) is not None:
            return True
        if (
            self.world.faults.failing_record(self.key, index := self.feed.index_of(position))
            == index
        ):
            return True
        return 0 < due <= core.bytes_since_sync - self._syncs.bytes_in_sync

    def _sync_ended(self) -> Steps:
        """Wait until no sync is written any more."""
        while self._sync_thread is not None:
            yield from self._wait(self.world.env.event())

    def _take_control(self, position: int, record: ControlRecord, replica: Replica) -> Steps:
        """Apply a control entry once it is there."""
        begun_ns = self.world.env.now
        if not (yield from self._applied(position)):
            return
        kept = self.subscription.applied(position, is_remote=self.subscription.is_remote)
        self.world.properties.content.applied(self, position, begun_ns)
        effects = replica.read_control(kept, record)
        self.truth.applied_to = max(self.truth.applied_to, position)
        if replica.state is not ingestion_events.IngestionState.ERRORED:
            self.world.control_applied(self, position, record)
        yield from self._carry_out(effects, replica)

    def _take_records(self, position: int, replica: Replica) -> Steps:
        """Apply a run of records as they come. Settle it on the record at which it is left."""
        env = self.world.env
        run = self.records.plan(position, replica, self._syncs.bytes_in_sync)
        if run.records == 0:
            if (yield from self._applied(position)):
                self.world.faults.write_failed(self.key)
                yield from self._carry_out(
                    replica.ingestion.step(ingestion_events.WriteFailed(position)), replica
                )
            return
        self._run, self._run_is_remote = run, self.subscription.is_remote
        due_in_ns = run.end_of(run.records) - env.now
        whole = yield from self._wait(env.timeout(due_in_ns, kind=KIND_APPLIED))
        if self._run is None:
            return
        run = self._run  # what a sync that was written meanwhile has left of it
        records = run.records if whole else run.done_by(env.now)
        yield from self._carry_out(self._settle(run, records, replica), replica)

    def _carry_out(self, effects: list[ingestion_events.Effect], replica: Replica) -> Steps:
        """Carry out what the core asks for. A durable step takes its time and has its effects."""
        goals = self.world.env.goals
        for effect in effects:
            self.world.faults.before_effect()
            match effect:
                case ingestion_events.MakeDurable():
                    yield from self._make_durable(replica, effect)
                case ingestion_events.FinishSync(position, cause):
                    self.truth.promised = position
                    goals.reach(_GOAL_OF_CAUSE[cause])
                    self._syncs.close("completed", None)
                case ingestion_events.AbortSync(refusal):
                    goals.reach("commit_failed")
                    self._syncs.give_up(refusal)
                case ingestion_events.FreezePartition(refusal, reason):
                    self.world.frozen(self, refusal, reason)
                case ingestion_events.SetSyncTimer(delay_ns):
                    self._syncer.call_in(delay_ns, self.world.process.threads)
                case ingestion_events.CancelSyncTimer():
                    self._syncer.cancel()
                case _:
                    assert_never(effect)

    def _make_durable(self, replica: Replica, wanted: ingestion_events.MakeDurable) -> Steps:
        """Have a step become durable: here, or, the first of a sync, in a thread of its own."""
        account = self._syncs.begin_step(replica, wanted)
        steps = self._until_durable(replica, wanted, account)
        if not self.world.model.sync.ingest_while_syncing or self._sync_thread is not None:
            yield from steps
            return
        self._sync_thread = self.world.process.threads.start(self._beside(steps), self.entity)

    def _beside(self, steps: Steps) -> Steps:
        yield from steps
        self._sync_thread = None
        self._rouse()

    def _until_durable(
        self, replica: Replica, wanted: ingestion_events.MakeDurable, account: SyncAccount
    ) -> Steps:
        outcome = yield from self._syncs.make_durable(replica, wanted, account)
        run = self._run
        if run is not None:  # of everything that was taken meanwhile the core learns first
            records = run.done_by(self.world.env.now)
            effects = self._settle(run, records, replica)
            self._run = run.behind(records)
            yield from self._carry_out(effects, replica)
        yield from self._carry_out(replica.ingestion.step(outcome), replica)

    # Waiting -----------------------------------------------------------------------------------

    def _applied(self, position: int) -> Generator[Any, Any, bool]:
        """Wait until an entry is there and has been applied. Return False if roused before."""
        env = self.world.env
        wait_ns = max(0, self.feed.available_ns(position) - env.now)
        apply_ns = self.world.model.process.apply_ns
        return (yield from self._wait(env.timeout(wait_ns + apply_ns, kind=KIND_APPLIED)))

    def _wait(self, event: Event) -> Generator[Any, Any, bool]:
        """Wait for an event. Return whether it has happened, False if roused before."""
        self._can_be_roused = True
        try:
            yield event
        except Interrupt:
            return False
        finally:
            self._can_be_roused = False
        return True

    def _rouse(self) -> None:
        """Let the thread look at its flags, at this instant, if it waits for entries."""
        if self._can_be_roused and self._thread is not None:
            self._can_be_roused = False
            self._thread.interrupt()

    # Runs --------------------------------------------------------------------------------------

    def _settle(self, run: Run, records: int, replica: Replica) -> list[ingestion_events.Effect]:
        """Write the first records of the run under way, and tell the core. Return its effects."""
        self._write(run, records, replica)
        if records == 0:
            return []
        if self._sync_thread is not None:
            self.world.env.goals.reach("records_taken_in_sync")
        last, size = run.position + records - 1, records * self.feed.shape.record_bytes
        kept = self.subscription.applied(last, is_remote=self._run_is_remote)
        written = ingestion_events.DataWritten(
            position=kept, size_bytes=size, producer=self.feed.producer_at(last)
        )
        return replica.ingestion.step(written)

    def _write(self, run: Run, records: int, replica: Replica) -> None:
        """Write the first records of the run under way, which ends."""
        self._run = None
        if not records:
            return
        last = run.position + records - 1
        self.world.properties.content.applied(self, last, run.begun_ns, records)
        self.world.properties.producers.applied(self, last)
        if self.records.write(run, records, replica.content):
            self._syncs.covered(last)
