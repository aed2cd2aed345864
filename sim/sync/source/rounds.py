"""A source's core as its host drives it, and what it has decided of the rounds of each feed."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, assert_never

from ckptsim.models.ordering import Medium
from ckptsim.models.ordering.source import (
    CancelReaders,
    EmitState,
    EndRound,
    FailFeed,
    Feed,
    RoundStarted,
    SourceEffect,
    SourceEvent,
    SourceParameters,
)
from ckptsim.scenarios.sync import StateKind

if TYPE_CHECKING:
    from simpy import Event

    from ckptsim.sim.sync.attempt import Attempt


@dataclass(slots=True, eq=False)
class Round:
    """A feed's round: whether the core has ended it, and which readers it has cancelled.

    awaited: succeeds with the end, where a feed waits for that.
    """

    over: bool = False
    awaited: Event | None = None
    cancelled: dict[int, None] = field(default_factory=dict)


class Rounds:
    """The core of one attempt and the rounds of its feeds."""

    def __init__(self, attempt: Attempt) -> None:
        self._env = attempt.env
        self._core = attempt.world.spec.cores.source(_parameters(attempt))
        self._of: dict[Feed, Round] = {}

    def begin(self, feed: Feed, readers: int, *, generating: bool = False) -> Round:
        """Begin a feed's next round."""
        current = self._of[feed] = Round()
        self.step(RoundStarted(feed=feed, readers=readers, generating=generating))
        return current

    def step(self, event: SourceEvent) -> list[SourceEffect]:
        """Have the core take an event, and note what it decides of rounds."""
        effects = self._core.step(event)
        for effect in effects:
            match effect:
                case CancelReaders():
                    self._of[effect.feed].cancelled.update(dict.fromkeys(effect.readers))
                case EndRound():
                    current = self._of[effect.feed]
                    if current.awaited is not None and not current.over:
                        current.awaited.succeed()
                    current.over = True
                case EmitState() | FailFeed():
                    pass
                case _:
                    assert_never(effect)
        return effects

    def is_cancelled(self, feed: Feed, reader: int) -> bool:
        """Return whether the core has cancelled a reader of a feed's round."""
        return reader in self._of[feed].cancelled

    def wait_over(self, feed: Feed) -> Generator[Any, Any, None]:
        """Wait until the core has ended a feed's round."""
        current = self._of[feed]
        if not current.over:
            current.awaited = self._env.event()
            yield current.awaited

    @property
    def awaited(self) -> list[str]:
        """The feeds that wait for the core to end their round."""
        return [
            "*" if feed is None else str(feed)
            for feed, current in self._of.items()
            if current.awaited is not None and not current.over
        ]


def _parameters(attempt: Attempt) -> SourceParameters:
    """Return what the core of an attempt is made from.

    Token 0 of a feed is what the attempt resumes from.  A global state repeats it until the feed
    has a newer one, else a restart would take what the platform holds back.
    """
    truth, resume = attempt.world.truth, attempt.world.platform.resume
    known = [feed for feed, claims in zip(truth.feeds, resume, strict=True) if claims is not None]
    return SourceParameters(
        medium=Medium.SOCKET if truth.on_sockets else Medium.STDIO,
        streams=truth.descriptors,
        is_global=attempt.model.state_kind is not StateKind.STREAM,
        initial=tuple((truth.descriptors[f.stream], 0) for f in known if f.stream is not None),
        initial_shared=0 if any(feed.stream is None for feed in known) else None,
    )
