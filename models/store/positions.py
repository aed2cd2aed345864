"""The two positions of one partition: in the local log, and in the remote log that it is copied of.

A replica consumes the local log, or, as the leader, the remote one: then it produces each record to
the local log as well.  Its checkpoint has a position for each log, and the next subscription to a
log begins after the position there.  The two number the same records differently.

A switch takes effect at once, while records that were consumed before it are still being applied.
Such a record itself decides, never the log that is consumed now: where it was produced is its
position in the local log, and then the one at which it was consumed is the remote one.

Promised: each slot holds positions of its own log alone, and a subscription begins after the last
record that was applied.  Not promised: a record is not read twice.

Source: linkedin/venice, `LeaderFollowerStoreIngestionTask`: pull requests 2927 and 2809 (a live
flag decided, so a remote position went into the local slot), 1627 (a local one into the remote).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

NOTHING = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionsRestored:
    """The partition was opened, with the positions of its checkpoint, -1 for nothing."""

    local: int
    remote: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsApplied:
    """Records up to this one were applied.

    consumed: its position in the log that it was consumed from.
    produced: its position in the local log, of one that this replica has produced there.
    carried: its position in the remote log, which a record of the local log carries.
    is_remote: whether the replica consumes the remote log now.
    """

    consumed: int
    produced: int | None
    carried: int | None
    is_remote: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSwitched:
    """The replica consumes the other log from now on."""

    is_remote: bool


PositionsEvent = PositionsRestored | RecordsApplied | SourceSwitched


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvanceLocal:
    """Keep this position of the local log in the checkpoint."""

    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvanceRemote:
    """Keep this position of the remote log in the checkpoint."""

    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscribe:
    """Consume a log after this position of it."""

    is_remote: bool
    position: int


PositionsEffect = AdvanceLocal | AdvanceRemote | Subscribe


class Positions:
    """The two slots of one incarnation of a partition."""

    def __init__(self) -> None:
        self.local = NOTHING
        self.remote = NOTHING

    def step(self, event: PositionsEvent) -> list[PositionsEffect]:
        """Take one event and return its effects."""
        match event:
            case PositionsRestored():
                self.local, self.remote = event.local, event.remote
                return []
            case RecordsApplied():
                return self._on_applied(event)
            case SourceSwitched():
                position = self.remote if event.is_remote else self.local
                return [Subscribe(is_remote=event.is_remote, position=position)]
            case _:
                assert_never(event)

    def _on_applied(self, event: RecordsApplied) -> list[PositionsEffect]:
        produced = event.produced is not None
        local = event.consumed if event.produced is None else event.produced
        remote = event.consumed if produced else event.carried
        self.local = local
        effects: list[PositionsEffect] = [AdvanceLocal(position=local)]
        if remote is not None:
            self.remote = remote
            effects.append(AdvanceRemote(position=remote))
        return effects
