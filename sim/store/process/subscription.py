"""Which log a partition consumes, and the positions in both that its core keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from ckptsim.models.store.positions import (
    NOTHING,
    AdvanceLocal,
    AdvanceRemote,
    PositionsEvent,
    PositionsRestored,
    RecordsApplied,
    SourceSwitched,
    Subscribe,
)

if TYPE_CHECKING:
    from ckptsim.sim.kernel import Entity
    from ckptsim.sim.slots.protocols import PositionsDoor
    from ckptsim.sim.store.world import StoreWorld


class Subscription:
    """The logs of one partition.  Without a remote one there is nothing to keep.

    The remote log has the entry of local position p at p + `ahead`.
    is_remote: which log is consumed now.  switching: that has changed, and a subscription is due.
    """

    def __init__(self, world: StoreWorld, entity: Entity) -> None:
        self._world = world
        self._env = world.env
        self._entity = entity
        self._ahead = world.model.input.remote_ahead
        self._core: PositionsDoor | None = None
        self._local = NOTHING
        self.is_remote = False
        self.switching = False
        self.wrong: str | None = None

    def begin(self, position: int) -> None:
        """Begin an incarnation, which consumes the local log after a position."""
        self.is_remote = self.switching = False
        if self._ahead is None:
            return
        self._core = self._world.spec.cores.positions()
        remote = NOTHING if position == NOTHING else position + self._ahead
        self._step(PositionsRestored(local=position, remote=remote))

    def switch(self) -> bool:
        """Consume the other log from now on, and return whether there is one."""
        if self._core is None:
            return False
        self.is_remote, self.switching = not self.is_remote, True
        self._env.trace.record("source_switched", self._entity, self._name)
        self._env.goals.reach("source_switched")
        return True

    def subscribe(self, applied: int) -> int:
        """Return the local position after which the log is consumed that was switched to.

        applied: up to where records were applied.  Those that come again are recognised by their
        producers' sequence numbers and skipped.
        """
        self.switching = False
        found = self._step(SourceSwitched(is_remote=self.is_remote))
        ahead = self._ahead or 0
        # Before the first record of either log there is nothing to translate.
        begins = not self.is_remote or found == NOTHING
        local = max(NOTHING, found if begins else found - ahead)
        self._env.trace.record("source_subscribed", self._entity, self._name, found)
        if local > applied and self.wrong is None:
            self.wrong = f"it subscribes to the {self._name} log {local - applied} entries too late"
        return max(local, applied)

    def applied(self, position: int, *, is_remote: bool) -> int:
        """Return the local position to keep, of an entry that was consumed from one of the logs."""
        if self._core is None or self._ahead is None:
            return position
        other = position + self._ahead
        if is_remote is not self.is_remote:
            self._env.goals.reach("record_applied_after_switch")
        event = RecordsApplied(
            consumed=other if is_remote else position,
            produced=position if is_remote else None,
            carried=None if is_remote else other,
            is_remote=self.is_remote,
        )
        kept = self._step(event)
        if kept != position and self.wrong is None:
            self.wrong = f"position {other} of the remote log is kept as {kept} of the local one"
        return kept

    @property
    def _name(self) -> str:
        return "remote" if self.is_remote else "local"

    def _step(self, event: PositionsEvent) -> int:
        """Hand an event to the core, and return where it subscribes, or its local position."""
        assert self._core is not None
        for effect in self._core.step(event):
            match effect:
                case AdvanceLocal() | Subscribe():
                    self._local = effect.position
                case AdvanceRemote():
                    pass  # the core keeps it, for the next subscription
                case _:
                    assert_never(effect)
        return self._local
