"""The threads of a process, and the durable steps of one partition's syncs with their account.

The ingestion core decides which steps there are and when. The drainer's thread waits for each.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, NoReturn

from ckptsim.models.store import Area, Placement, Refusal, StepContent
from ckptsim.models.store.ingestion.events import (
    Effect,
    IngestionState,
    MakeDurable,
    StepDurable,
    StepRefused,
    SyncRequested,
)
from ckptsim.sim.mishaps import tear
from ckptsim.sim.store.costs import each_durable
from ckptsim.sim.store.faults import ProcessDied
from ckptsim.sim.store.process.owners import LateStep
from ckptsim.sim.store.truth import SyncAccount
from ckptsim.sim.store.vocabulary import KIND_DURABLE, KIND_TIMER

if TYPE_CHECKING:
    from ckptsim.models.store.medium import RowsWrite
    from ckptsim.models.store.replica import Replica
    from ckptsim.sim.kernel import Entity, Environment, Process
    from ckptsim.sim.store.process.drainer import Drainer


class SyncSteps:
    """The syncs of one partition. At most one is under way."""

    def __init__(self, drainer: Drainer) -> None:
        self._drainer = drainer
        self._world = drainer.world
        self._truth = drainer.truth
        self._unflushed_from = 0
        self._account: SyncAccount | None = None
        # Of the step under way: itself, the position to which it flushes, and, where records are
        # taken meanwhile, the rows that it took when it began.
        self._flushes_to = -1
        self._wanted: MakeDurable | None = None
        self._rows: tuple[RowsWrite, ...] | None = None

    @property
    def bytes_in_sync(self) -> int:
        """Return how many bytes the sync under way holds. 0 where there is none."""
        return 0 if self._account is None else self._account.size_bytes

    def incarnation_begins(self, position: int) -> None:
        """Begin with the durable data up to a position."""
        self._unflushed_from = position + 1

    def begin_step(self, replica: Replica, wanted: MakeDurable) -> SyncAccount:
        """Begin a durable step, a sync with its first. What it flushes is the present state now."""
        world, account = self._world, self._account_of(replica, wanted)
        self._wanted = wanted
        self._truth.step_until_ns = self._end_of_step(replica, wanted, account)
        self._rows = None
        if wanted.part is not StepContent.CHECKPOINT:
            self._flushes_to = replica.position
            if world.model.sync.ingest_while_syncing:
                self._rows = replica.take_rows()
        return account

    def make_durable(
        self, replica: Replica, wanted: MakeDurable, account: SyncAccount
    ) -> Generator[Any, Any, StepDurable | StepRefused]:
        """Carry out a durable step that begins now. Return what to tell the core.

        Raises ProcessDied where the plan lets the process die in this sync.
        """
        world, begun_ns = self._world, self._world.env.now
        yield world.env.timeout(self._truth.step_until_ns - begun_ns, kind=KIND_DURABLE)
        account.steps_ns.append(world.env.now - begun_ns)
        doomed = world.faults.dies_in_sync(account.number) and len(account.steps_ns) == 1
        world.act(self._drainer.key)
        if doomed and wanted.part is StepContent.BOTH:
            replica.begin_step(wanted)
            raise ProcessDied("within a sync")
        in_place = wanted.part is StepContent.CHECKPOINT and world.placement is Placement.EXTERNAL
        kept_bytes = world.faults.torn_bytes(account.number)
        if in_place and kept_bytes is not None:
            self._tear(wanted, kept_bytes)
        if not world.owners.permits(self._drainer.key, wanted.part, account.position):
            raise ProcessDied("it is not the owner any more", bounded=False)
        world.prepare_commit(self._drainer.key, wanted.part)
        outcome, failure = replica.make_durable(wanted, self._rows)
        if failure is None:
            self._durable(wanted, self._flushes_to)
        elif self._rows is not None and world.hooked:
            self._drainer.records.apply_again(
                replica.content, self._unflushed_from, replica.position
            )
        if doomed:
            raise ProcessDied("between the steps of a sync")
        world.properties.after_commit(self._drainer, failed=failure is not None)
        return outcome

    def late_steps(self, replica: Replica, *, begun: bool) -> tuple[LateStep, ...]:
        """Take the steps that are left of the sync under way, or of one that is wanted now.

        begun: the first one is carried out at once, unless it is the only one.
        """
        key, first, late = self._drainer.key, self._unflushed_from, []
        if self._account is not None and replica.state is IngestionState.SYNCING:
            wanted, position = self._wanted, self._account.position
        else:
            wanted, position = (
                _durable_step(replica.ingestion.step(SyncRequested())),
                replica.position,
            )
            self._flushes_to, self._rows = position, None
        while wanted is not None:
            rows = None if wanted.part is StepContent.CHECKPOINT else self._rows
            if begun and wanted.part is StepContent.DATA:
                self._world.act(key)
                replica.make_durable(wanted, rows)
                self._durable(wanted, self._flushes_to)
            else:
                step, part = replica.step_of(wanted, rows), wanted.part
                late.append(LateStep(key=key, part=part, first=first, position=position, step=step))
            wanted = _durable_step(replica.ingestion.step(StepDurable()))
        return tuple(late)

    def _tear(self, wanted: MakeDurable, kept_bytes: int) -> NoReturn:
        """Die while a checkpoint is written, where the one before it was."""
        key, world = self._drainer.key, self._world
        self._truth.excuse()
        tear(world.client, key, wanted.checkpoint or b"", kept_bytes)
        world.properties.resync_checkpoint(key)
        raise ProcessDied("within a write", bounded=False)

    def covered(self, position: int) -> None:
        """Note that the rows up to a position are durable."""
        self._truth.cover(Area.DATA, self._unflushed_from, position)
        self._truth.flushed_to = position
        self._truth.flushed_high = max(self._truth.flushed_high, position)
        self._unflushed_from = position + 1

    def give_up(self, refusal: Refusal) -> None:
        """Close the account of a sync that was refused."""
        self._world.properties.on_abort(self._drainer, self._account)
        self.close("failed", refusal.value)

    def close(self, status: str, reason: str | None) -> None:
        """Close the account of the sync under way, if there is one."""
        account, self._account = self._account, None
        if account is not None:
            account.ended_ns, account.status, account.reason = self._world.env.now, status, reason
            self._truth.syncing_ns += account.ended_ns - account.begun_ns
            self._world.sync_ended(self._drainer, account)

    def _account_of(self, replica: Replica, wanted: MakeDurable) -> SyncAccount:
        """Return the account of the sync that a step is part of. Its first one opens it."""
        core, account = replica.ingestion, self._account
        if account is None:
            account = self._world.sync_begun(self._drainer, core.cause, core.bytes_since_sync)
            self._account = account
        if wanted.checkpoint is not None:
            copied = self._world.endpoint.copied_bytes(wanted.checkpoint)
            account.blob_bytes = len(wanted.checkpoint) + copied
        return account

    def _end_of_step(self, replica: Replica, wanted: MakeDurable, account: SyncAccount) -> int:
        """Return the instant at which a step that begins now is durable."""
        world, part = self._world, wanted.part
        rows = len(replica.content.changes()) if part is not StepContent.CHECKPOINT else 0
        account.rows = max(account.rows, rows)
        if part is StepContent.DATA and each_durable(world.model) and not world.client.mirrored:
            return world.env.now
        size_bytes = replica.ingestion.bytes_since_sync
        copy_ns = world.endpoint.copy_ns(wanted.checkpoint)
        return world.costs.end_of_step(part, rows=rows, size_bytes=size_bytes, copy_ns=copy_ns)

    def _durable(self, wanted: MakeDurable, position: int) -> None:
        truth, world = self._truth, self._world
        if wanted.part is not StepContent.CHECKPOINT:
            if world.client.mirrored:
                truth.covered[Area.MIRROR] = list(truth.covered[Area.DATA])
                truth.cover(Area.MIRROR, self._unflushed_from, position)
            if world.hooked or world.client.mirrored:
                world.properties.content.flushed(self._drainer, position)
            if world.hooked:
                self.covered(position)
            truth.generation += 1
        if wanted.part is not StepContent.DATA:
            truth.claims_these(world.client.settings.slot)
            world.properties.after_checkpoint(self._drainer, wanted)


def _durable_step(effects: list[Effect]) -> MakeDurable | None:
    return next((effect for effect in effects if isinstance(effect, MakeDurable)), None)


class PeriodicSyncer:
    """Says that a sync is due: `due` is set, then `rouse` is called."""

    def __init__(self, env: Environment, entity: Entity, rouse: Callable[[], None]) -> None:
        self.due = False
        self._env = env
        self._entity = entity
        self._rouse = rouse
        self._threads: Threads | None = None
        self._thread: Process | None = None

    def call_in(self, delay_ns: int, threads: Threads) -> None:
        """Call for a sync after a while."""
        self._threads = threads
        self._thread = threads.start(self._wait(delay_ns), self._entity)

    def cancel(self) -> None:
        """Call for none: there was a sync for another reason, or there is nothing to sync."""
        self.due = False
        if self._threads is not None and self._thread is not None:
            self._threads.stop(self._thread)

    def _wait(self, delay_ns: int) -> Steps:
        yield self._env.timeout(delay_ns, kind=KIND_TIMER)
        self.due = True
        self._rouse()


Steps = Generator[Any, Any, None]


class Threads:
    """Runs the threads of one start. One that raises ProcessDied takes all others with it.

    on_death: told of what a thread died of. It has to call `end`.
    """

    def __init__(self, env: Environment, on_death: Callable[[ProcessDied], None]) -> None:
        self._env = env
        self._on_death = on_death
        self._running: dict[int, Process] = {}  # by number, so in the order of their start

    def start(self, steps: Steps, entity: Entity) -> Process:
        """Start a thread that acts as an entity."""
        thread = self._env.process(self._guarded(steps), entity=entity)
        self._running[thread.number] = thread
        thread.callbacks.append(self._has_ended)
        return thread

    def stop(self, thread: Process) -> None:
        """End a thread where it waits. The active one is left alone, because it is unwinding."""
        if thread is not self._env.active_process:
            self._running.pop(thread.number, None)
            thread.stop()

    def end(self) -> None:
        """End all threads: nothing of this start acts any more."""
        for thread in list(self._running.values()):
            self.stop(thread)

    @property
    def running(self) -> list[Process]:
        """Return the threads that have not ended."""
        return [thread for thread in self._running.values() if thread.is_alive]

    def _guarded(self, steps: Steps) -> Steps:
        try:
            yield from steps
        except ProcessDied as died:
            self._on_death(died)

    def _has_ended(self, thread: Any) -> None:
        self._running.pop(thread.number, None)
