"""What a start of the process finds durable: all that is gone, and what does not fit together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.store import (
    Area,
    Placement,
    Refusal,
    Slot,
    SlotWrite,
    Step,
    StoreError,
    TopicPartition,
)
from ckptsim.models.store.state import NOTHING
from ckptsim.scenarios.store import Lost
from ckptsim.sim.mishaps import Loss, lose

if TYPE_CHECKING:
    from ckptsim.sim.store.process.process import ProcessHost
    from ckptsim.sim.store.world import StoreWorld


class DurableState:
    """The durable state of all partitions, as a start meets it."""

    def __init__(self, world: StoreWorld, process: ProcessHost) -> None:
        self._world = world
        self._env = world.env
        self._process = process
        self._loses: list[Lost] = []

    def will_lose(self, what: Lost) -> None:
        """Let something durable be gone at the next start."""
        self._loses.append(what)

    def losses_strike(self) -> None:
        """Let be gone what a start does not find any more: expired offsets, lost disks."""
        self._expire()
        for what in self._loses:
            self._lose(what)
        self._loses = []

    def check(self, key: TopicPartition) -> None:
        """Start a partition from scratch after data that does not fit its checkpoint."""
        world, truth = self._world, self._world.truths[key]
        state = world.client.checkpoint(key)
        if state is None or state.position == NOTHING:
            return
        sync, claim = world.model.sync, truth.claim(world.client.settings.slot)
        if sync.identity and claim.identity != truth.data_identity:
            self._env.goals.reach("identity_restart")
        elif sync.deferred_write and not state.end_of_push and claim.generation != truth.generation:
            self._env.goals.reach("integrity_restart")
        else:
            return
        self._process.unbounded()
        self._process.reset(key, wipe=True)

    def opened_after(self, key: TopicPartition, error: StoreError) -> bool:
        """Return whether a partition is open in spite of an error at its start."""
        world = self._world
        match error.refusal:
            case Refusal.CORRUPT_CHECKPOINT | Refusal.UNREADABLE_CHECKPOINT:
                self._env.goals.reach(error.refusal.value.lower())
                self._process.unbounded()
                truth = world.truths[key]
                truth.excuse()
                truth.was_reset = True
                world.properties.resync_account(key)
                return True
            case Refusal.CHECKPOINT_AHEAD_OF_LOG:
                self._env.goals.reach("checkpoint_ahead_of_log")
                self._env.trace.record("refused", self._process.entity, str(key), error.state)
                self._process.refused[key] = error.state
                return False
            case _:
                raise error

    def _expire(self) -> None:
        world = self._world
        remote = world.placement is Placement.CONSUMER_GROUP_BLOB
        idle_ns = self._env.now - self._process.down_since
        if remote and self._process.starts > 1 and idle_ns >= world.model.sync.offset_expiry_ns:
            self._env.goals.reach("offset_expired")
            self._lose(Lost.CHECKPOINT)

    def _lose(self, what: Lost) -> None:
        world = self._world
        if what is Lost.NOTHING:
            return
        self._env.trace.record("lost", self._process.entity, what.value)
        self._process.unbounded()
        if what is Lost.BUILT_IN:  # the built-in store alone: the user's own is elsewhere
            gone = (SlotWrite(slot=Slot.BUILT_IN, key=key, stored=None) for key in world.truths)
            world.act(*world.truths)
            world.client.medium.commit(Step(slots=tuple(gone)))
            for key, truth in world.truths.items():
                if world.client.settings.slot is Slot.BUILT_IN:
                    truth.excuse()
                world.properties.resync_checkpoint(key)
            return
        lose(world.client, Loss(what.value))
        both = world.placement is Placement.COLOCATED
        for key, truth in world.truths.items():
            if both or what is not Lost.CHECKPOINT:
                truth.data_identity += 1
                truth.data_lost = world.client.checkpoint(key) is not None
                truth.covered[Area.DATA] = []
                if both or what is Lost.LOCAL:
                    truth.covered[Area.MIRROR] = []
            if both or what is Lost.CHECKPOINT:
                truth.excuse()
            world.properties.resync_account(key)
