"""The durable steps of one partition's syncs: how long each takes, what it makes true, its account.

The ingestion core decides which steps there are and when; the drainer hands them on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.store import Area, Part, Refusal
from ckptsim.models.store.ingestion_events import MakeDurable, StepDurable, StepRefused
from ckptsim.sim.store.costs import each_durable
from ckptsim.sim.store.truth import SyncAccount

if TYPE_CHECKING:
    from ckptsim.models.store.replica import Replica
    from ckptsim.sim.store.drainer import Drainer


class SyncSteps:
    """The syncs of one partition; at most one is under way."""

    def __init__(self, drainer: Drainer) -> None:
        self._drainer = drainer
        self._world = drainer.world
        self._truth = drainer.truth
        self._unflushed_from = 0
        self._account: SyncAccount | None = None

    def incarnation_begins(self, position: int) -> None:
        """Begin with what is durable up to a position."""
        self._unflushed_from = position + 1

    def begin_step(self, replica: Replica, wanted: MakeDurable) -> int:
        """Begin a durable step, a sync with its first, and return when it ends."""
        core = replica.ingestion
        if self._account is None:
            self._account = self._world.sync_begun(self._drainer, core.cause, core.bytes_since_sync)
        rows = len(replica.content.changes()) if wanted.part is not Part.CHECKPOINT else 0
        self._account.rows = max(self._account.rows, rows)
        if wanted.checkpoint is not None:
            self._account.blob_bytes = len(wanted.checkpoint)
        world = self._world
        if wanted.part is Part.DATA and each_durable(world.model) and not world.client.mirrored:
            return world.env.now
        return world.costs.end_of_step(wanted.part, rows=rows, size_bytes=core.bytes_since_sync)

    def end_step(
        self, replica: Replica, wanted: MakeDurable, begun_ns: int
    ) -> StepDurable | StepRefused | None:
        """End a durable step; return what to tell the core, None where the process dies in it."""
        account, world = self._account, self._world
        if account is None:
            return None
        account.steps_ns.append(world.env.now - begun_ns)
        doomed = world.dies_in_sync(account.number) and len(account.steps_ns) == 1
        world.act(self._drainer.key)
        if doomed and wanted.part is Part.BOTH:
            replica.begin_step(wanted)
            world.crash("within a sync")
            return None
        world.prepare_commit(self._drainer.key, wanted.part)
        outcome, failure = replica.make_durable(wanted)
        if failure is None:
            self._durable(wanted, account.position)
        if doomed:
            world.crash("between the steps of a sync")
            return None
        world.properties.after_commit(self._drainer, failed=failure is not None)
        return outcome

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

    def _durable(self, wanted: MakeDurable, position: int) -> None:
        truth, world = self._truth, self._world
        if wanted.part is not Part.CHECKPOINT:
            if world.client.mirrored:
                truth.covered[Area.MIRROR] = list(truth.covered[Area.DATA])
                truth.cover(Area.MIRROR, self._unflushed_from, position)
            if world.hooked:
                self.covered(position)
            truth.generation += 1
        if wanted.part is not Part.DATA:
            truth.claimed_generation = truth.generation
            truth.claimed_identity = truth.data_identity
            world.properties.after_checkpoint(self._drainer, wanted)
