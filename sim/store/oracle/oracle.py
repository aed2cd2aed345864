"""The properties of a checkpoint store, checked against the world's own account as things happen.

A broken promise does not end the run: what a loss amounts to shows only when everything has caught
up.  Of each property the first violation is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.store import (
    Area,
    PartitionState,
    StepContent,
    StoreError,
    TopicPartition,
    decode_state,
)
from ckptsim.models.store.ingestion.events import IngestionState
from ckptsim.models.store.state import NOTHING
from ckptsim.scenarios.store import PROPERTIES, StepOrder, Upsert
from ckptsim.sim.store.oracle.content import ContentOracle
from ckptsim.sim.store.oracle.ends import check_end, left_of_version
from ckptsim.sim.store.oracle.probe import probe
from ckptsim.sim.store.oracle.producers import ProducerOracle
from ckptsim.sim.store.oracle.syncs import SyncOracle
from ckptsim.sim.store.oracle.versions import VersionOracle
from ckptsim.sim.story import instant
from ckptsim.sim.violations import ViolationLog, record_violation

if TYPE_CHECKING:
    from ckptsim.models.store import Slot, Step
    from ckptsim.models.store.ingestion.events import MakeDurable
    from ckptsim.sim.rows import ViolationRow
    from ckptsim.sim.store.process import Drainer
    from ckptsim.sim.store.process.owners import LateStep
    from ckptsim.sim.store.truth import SyncAccount
    from ckptsim.sim.store.world import StoreWorld

# A partition is errored for at least so many times what another one takes for a record before that
# one has to have moved. An assumption.
_STEPS = 4


class StoreProperties:
    """All properties of one run. `violations` has the first of each that did not hold."""

    def __init__(self, world: StoreWorld) -> None:
        self.violations: list[ViolationRow] = []
        self.commit_failed = False
        self._world = world
        self.violation_log = ViolationLog(world.spec.ignore)
        self._reports: dict[tuple[TopicPartition, int], int] = {}
        self._positions_at_freeze: dict[TopicPartition, dict[TopicPartition, int]] = {}
        self._foreign: dict[TopicPartition, bool] = {}  # its checkpoint is another party's
        self.syncs = SyncOracle(world, self.violate)
        self.content = ContentOracle(world, self.violate)
        self.producers = ProducerOracle(world, self.violate)
        self._odd: dict[TopicPartition, None] = {}
        self._slot = world.settings.slot  # which the release of the moment names
        self.swapped_to = 0  # the version that was made the current one last
        self.versions = VersionOracle(world, self.violate)

    def violate(self, name: str, says: str, key: TopicPartition | None = None) -> None:
        """Note that a property does not hold. The first violation of each is reported."""
        if name not in PROPERTIES:
            raise KeyError(name)
        if not self.violation_log.is_first(name):
            return
        world = self._world
        story = [] if key is None else _story(world, key)
        drainer = None if key is None else world.drainers.get(key)
        why = world.owners.written.get(key) or (drainer and drainer.subscription.wrong)
        if why:
            says += f": {why}"
        scope = None if key is None else str(key)
        index = None
        if key is not None and key in world.truths and world.truths[key].syncs:
            index = world.truths[key].syncs[-1].number
        row = world.spec.violation(name, world.env.now, says, story=story, scope=scope, index=index)
        self.violations.append(row)
        record_violation(world.env, world.entity, name, says)

    def on_begin(self) -> None:
        """Probe the interface before anything else happens."""
        for name, says in probe(self._world):
            self.violate(name, says)

    def on_release(self, slot: Slot) -> None:
        """Note where the release that begins has its checkpoints."""
        self._slot = slot

    def before_step(self, step: Step, acting: tuple[TopicPartition, ...]) -> None:
        """Check what a durable step touches."""
        touched = [write.key for write in step.rows] + [write.key for write in step.slots]
        for key in touched:
            if key not in acting and not self._is_own_slot(key, acting):
                allowed = ", ".join(map(str, acting)) or "nothing"
                self.violate(
                    "other_partitions_untouched", f"a step for {allowed} changes {key}", key
                )
        # A delete may reach the other store: a reset forgets what an earlier release left there.
        if any(write.slot is not self._slot and write.stored is not None for write in step.slots):
            self.violate("fallback_uses_one_store", "a step writes the store that is not in use")

    def _is_own_slot(self, key: TopicPartition, acting: tuple[TopicPartition, ...]) -> bool:
        """Return whether a slot of another name belongs to acting partitions only."""
        known = (*acting, *self._world.partitions())
        owners = [each for each in known if self._world.client.store.slot_key(each) == key]
        return bool(owners) and all(each in acting for each in owners)

    def after_checkpoint(self, drainer: Drainer, wanted: MakeDurable) -> None:
        """Take over a checkpoint that has just become durable, and check it."""
        key, truth = drainer.key, drainer.truth
        state = self._read_back(key, wanted)
        before, truth.checkpoint = truth.checkpoint, None if state is None else state.position
        position = NOTHING if truth.checkpoint is None else truth.checkpoint
        is_foreign = self._foreign.pop(key, False)
        if before is not None and position < before and not is_foreign:
            self.violate("checkpoint_never_goes_back", f"{key}: from {before} to {position}", key)
        durable = truth.durable_prefix()
        if self._world.client.mirrored:
            durable = max(durable, _prefix(truth.covered[Area.MIRROR]))
        feed = drainer.feed
        if feed.index_of(position + 1) > feed.index_of(durable + 1):
            self.violate(
                "no_checkpoint_ahead_of_data",
                f"{key}: the checkpoint is at {position}, data is durable up to {durable}",
                key,
            )
        if truth.frozen:
            self.violate(
                "errored_partition_is_frozen", f"{key}: errored, and a checkpoint is written", key
            )
        self._check_blob(drainer, wanted.checkpoint or b"", state, position)
        self.producers.checkpointed(key, state)

    def on_late_step(self, late: LateStep) -> None:
        """Take over what an owner that was replaced has made durable, and check the checkpoint."""
        world, key, truth = self._world, late.key, self._world.truths[late.key]
        if late.part is not StepContent.CHECKPOINT and late.position >= truth.flushed_to:
            truth.cover(Area.DATA, late.first, late.position)
            truth.flushed_to = truth.flushed_high = late.position
            truth.generation += 1
        if late.part is StepContent.DATA:
            return
        before = truth.checkpoint
        self.resync_checkpoint(key)
        truth.claims_these(world.client.settings.slot)
        if before is not None and late.position < before:
            says = f"{key}: an owner that was replaced moves it from {before} to {late.position}"
            self.violate("checkpoint_never_goes_back", says, key)

    def after_commit(self, drainer: Drainer, *, failed: bool) -> None:
        """Check that a commit that failed left the checkpoint as it was."""
        if not failed:
            return
        self.commit_failed = True
        key = drainer.key
        state = self._world.client.checkpoint(key)
        found = None if state is None else state.position
        if found != drainer.truth.checkpoint:
            self.violate("outage_only_delays", f"{key}: a failed commit moved it to {found}", key)

    def on_abort(self, drainer: Drainer, account: SyncAccount | None) -> None:
        """Check that a sync that failed did not count the bytes anew."""
        replica = drainer.replica
        if replica is None or account is None:
            return
        if replica.ingestion.bytes_since_sync < account.size_bytes:
            self.violate(
                "outage_only_delays", f"{drainer.key}: a failed sync reset the counter", drainer.key
            )

    def on_frozen(self, drainer: Drainer) -> None:
        """Remember where the others are while a partition is errored."""
        world = self._world
        drainer.truth.frozen = True
        self._positions_at_freeze[drainer.key] = {
            key: world.drainers[key].position
            for key, replica in world.client.replicas.items()
            if key != drainer.key and replica.state is not IngestionState.ERRORED
        }
        replica = drainer.replica
        truth = drainer.truth
        failed_at = drainer.feed.next_after(max(truth.applied_to, truth.skipped_to))
        if replica is not None and replica.position >= failed_at:
            self.violate(
                "errored_partition_is_frozen",
                f"{drainer.key}: at {replica.position}, beyond the record that failed",
                drainer.key,
            )

    def on_reopen(self, drainer: Drainer) -> None:
        """Check that it is errored, and that the others continued meanwhile."""
        world = self._world
        if drainer.replica is None or drainer.replica.state is not IngestionState.ERRORED:
            says = f"{drainer.key} is opened anew, though nothing has failed there"
            self.violate("errored_partition_blocks_nobody", says, drainer.key)
        positions = self._positions_at_freeze.pop(drainer.key, {})
        reopen_ns, costs = world.model.process.reopen_ns, world.model.costs
        # Reopened sooner, the others may still be at the record that they applied then.
        if reopen_ns < _STEPS * (world.model.process.apply_ns + costs.autocommit_ns):
            return
        since = world.env.now - reopen_ns // 2
        for key, before in positions.items():
            replica, feed = world.client.replicas.get(key), world.book[key]
            following = feed.next_after(before)
            waits = following <= feed.last and feed.available_ns(following) < since
            still = replica is not None and world.drainers[key].position <= before
            syncs = world.truths[key].step_until_ns > since  # however long what it flushes takes
            if still and waits and not syncs and not world.faults.has_failed(key):
                self.violate(
                    "errored_partition_blocks_nobody",
                    f"{key} made no progress while {drainer.key} was errored",
                    key,
                )

    def on_open(self, key: TopicPartition) -> None:
        """Check what a partition starts from."""
        world = self._world
        truth, replica = world.truths[key], world.client.replicas[key]
        position = replica.position
        for positions in self._positions_at_freeze.values():
            positions.pop(key, None)  # it begins anew, perhaps from before
        self.syncs.opened(key, position)
        self.content.opened(key, position)
        self.versions.opened(key)
        truth.frozen = False
        if world.client.mirrored:
            for first, last in truth.covered[Area.MIRROR]:
                truth.cover(Area.DATA, first, last)
        state = world.client.checkpoint(key)
        self.producers.opened(key, state)
        truth.checkpoint = None if state is None else state.position
        if (
            truth.was_reset
            and position == NOTHING
            and (rows := len(world.client.medium.rows(Area.DATA, key)))
        ):
            self.violate("reset_wipes_first", f"{key}: starts from scratch over {rows} rows", key)
        truth.was_reset = False
        if truth.data_lost and position > NOTHING:
            self.violate("loss_is_noticed", f"{key}: resumes at {position} without its data", key)
        truth.data_lost = False
        claim = truth.claim(world.client.settings.slot)
        other = world.model.sync.deferred_write and truth.generation != claim.generation
        if other and state is not None and position > NOTHING and not state.end_of_push:
            says = f"{key}: resumes at {position} over files of before the end of push that are new"
            self.violate("loss_is_noticed", says, key)
        if truth.promised > position:
            self.violate(
                "acknowledged_sync_survives",
                f"{key}: synced up to {truth.promised}, resumes at {position}",
                key,
            )
        if replica.ingestion.checkpoint.end_of_push != (position >= world.book[key].end_of_push):
            self._odd[key] = None
        self._check_rows(key, position)
        self._reach_goals(key, position, checkpointed=state is not None)
        if position == NOTHING and truth.skipped_to > NOTHING:
            # From here on nothing is left out any more. Rows are no prefix before the next flush.
            truth.skipped_to = truth.flushed_to = NOTHING

    def on_down(self) -> None:
        """Excuse a restart from its bound when commits failed before it."""
        self.versions.over()
        if self.commit_failed:
            self._world.process.recoveries[-1].bounded = False
        self.commit_failed = False

    def on_report(self, drainer: Drainer, position: int) -> None:
        """Count how often a completion is reported."""
        place = (drainer.key, position)
        self._reports[place] = self._reports.get(place, 0) + 1
        if self._reports[place] == 2:
            self._world.env.goals.reach("completion_reported_twice")

    def on_swap(self, version: int) -> None:
        """Check that the push of a version has ended in every partition, and that it is newer."""
        world = self._world
        if version <= self.swapped_to:
            says = f"version {version} is current behind version {self.swapped_to}"
            self.violate("swap_only_to_complete_versions", says)
        self.swapped_to = max(self.swapped_to, version)
        for key in world.client.topics.of_topic(world.topics_of(version)[0]):
            if world.truths[key].applied_to < world.book[key].end_of_push:
                self.violate(
                    "swap_only_to_complete_versions", f"{key}: its push has not ended", key
                )

    def on_drop(self, version: int) -> None:
        """Check that nothing is left of a version that was dropped."""
        for name, says, key in left_of_version(self._world, version):
            self.violate(name, says, key)

    def on_foreign_commit(self, key: TopicPartition) -> None:
        """Take over a checkpoint that another party has put there."""
        self.resync_checkpoint(key)
        self._foreign[key] = True

    def resync_checkpoint(self, key: TopicPartition) -> None:
        """Take over the checkpoint after someone else has changed it."""
        state = self._world.client.checkpoint(key)
        self._world.truths[key].checkpoint = None if state is None else state.position

    def resync_account(self, key: TopicPartition) -> None:
        """Take over the durable data after a reset or a loss."""
        world, truth = self._world, self._world.truths[key]
        self.resync_checkpoint(key)
        if not world.contents.has_rows(Area.DATA, key):
            truth.rows_are_gone()
        if not world.contents.has_rows(Area.MIRROR, key):
            truth.covered[Area.MIRROR] = []

    def on_end(self) -> None:
        """Check what the run leaves."""
        self.versions.over()
        for name, says, key in check_end(self._world):
            self.violate(name, says, key)

    def _read_back(self, key: TopicPartition, wanted: MakeDurable) -> PartitionState | None:
        """Return what the store has of a checkpoint that was just written."""
        try:
            stored = self._world.client.store.get(key)
        except StoreError as error:
            self.violate("checkpoint_reads_back", f"{key}: {error}", key)
            return None
        if stored != wanted.checkpoint:
            self.violate("checkpoint_reads_back", f"{key}: get returns other bytes", key)
        return None if stored is None else decode_state(stored)

    def _check_blob(
        self, drainer: Drainer, wanted: bytes, state: PartitionState | None, position: int
    ) -> None:
        key = drainer.key
        ended = position >= drainer.feed.end_of_push
        if state is not None and state.end_of_push != ended and key not in self._odd:
            self.violate(
                "checkpoint_is_of_one_instant",
                f"{key}: at {position}, end of push {'not ' if ended else ''}noted",
                key,
            )
        if b"dictionary of" in wanted and not self._world.settings.copies_dictionary:
            self.violate("version_state_agrees", f"{key}: a dictionary is in the checkpoint", key)

    def _check_rows(self, key: TopicPartition, position: int) -> None:
        """Compare the rows that a start finds with the log."""
        world, truth, feed = self._world, self._world.truths[key], self._world.book[key]
        if position < feed.compacted_to:
            return  # part of what the log implied up to here is no longer in it
        if world.atomic:
            found = world.contents.loss(key, position)
            if found.missing or found.stale or found.ghost:
                self.violate("rows_and_checkpoint_agree", f"{key}: {found.text()}", key)
            return
        ordered = world.model.sync.order is StepOrder.DATA_FIRST and world.hooked
        plain = not world.client.mirrored and world.model.sync.upsert is Upsert.LAST_WINS
        whole = ordered and plain and truth.flushed_to >= truth.flushed_high
        if whole and world.contents.has_rows(Area.DATA, key):
            found = world.contents.loss(key, truth.flushed_to)
            if found.missing or found.stale or found.ghost:
                self.violate("data_is_a_prefix", f"{key}: {found.text()}", key)

    def _reach_goals(self, key: TopicPartition, position: int, *, checkpointed: bool) -> None:
        world, truth, goals = self._world, self._world.truths[key], self._world.env.goals
        if truth.flushed_to > position:
            goals.reach("data_ahead_of_checkpoint")
        if position > NOTHING and not checkpointed:
            goals.reach("started_at_latest")
        if not world.client.mirrored or world.process.starts < 2:
            return
        rows = world.client.medium.rows(Area.DATA, key)
        if rows:
            goals.reach("mirror_replayed")
        implied = world.book[key].fold(truth.applied_to, truth.skipped_to)
        if any(name not in implied for name in rows):
            goals.reach("deleted_key_resurrected")


def _prefix(spans: list[tuple[int, int]]) -> int:
    return spans[0][1] if spans and spans[0][0] == 0 else NOTHING


def _story(world: StoreWorld, key: TopicPartition) -> list[str]:
    """Tell the last syncs of a partition, oldest first."""
    truth = world.truths.get(key)
    if truth is None:
        return []
    lines = [
        f"{instant(each.begun_ns):>14}  {key}: begins sync {each.number} "
        f"({each.cause.name.lower()}) up to {each.position}: {each.status}"
        + (f" ({each.reason})" if each.reason else "")
        for each in truth.syncs[-4:]
    ]
    lines += [
        f"{instant(each.failed_ns):>14}  process: start {each.start} ends: {each.reason}"
        for each in world.process.recoveries[-3:]
    ]
    return lines
