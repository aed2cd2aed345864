"""A source's core as its host drives it, and what it has decided of the rounds of each feed.

Partition ids are a few random characters, new for each reader, unique by luck only.
Source: airbytehq/airbyte, bulk extract CDK: four characters of [A-Za-z0-9].  Among n partitions of
a sync two share an id with probability about n * n / (2 * 62**4): half at 4500.
"""

from __future__ import annotations

from collections import deque
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

    from ckptsim.sim.kernel import Environment
    from ckptsim.sim.sync.attempt import Attempt
    from ckptsim.sim.sync.socket import Socket


@dataclass(slots=True, eq=False)
class Round:
    """A feed's round: its end, awaited by an event, and the readers that the core cancelled."""

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


class Resources:
    """Connections and sockets, first come first served. shared: one channel for all (STDIO)."""

    def __init__(
        self, env: Environment, sockets: list[Socket], *, connections: int, shared: bool
    ) -> None:
        self._env = env
        self._connections = connections
        self._shared = sockets[0] if shared else None
        self._free = deque(sockets)
        self._waiting: deque[Event] = deque()

    @property
    def waiting_count(self) -> int:
        """How many wait for a connection and a socket."""
        return len(self._waiting)

    def try_acquire(self) -> Socket | None:
        """Take a connection and a socket if both are free and no one waits."""
        return None if self._waiting else self._take()

    def wait(self) -> Event:
        """Return the event with the socket to use as value."""
        event = self._env.event()
        self._waiting.append(event)
        return event

    def release(self, socket: Socket) -> None:
        """Give a connection and its socket back, to the one who waits longest."""
        self._connections += 1
        if self._shared is None:
            self._free.append(socket)
        while self._waiting:
            taken = self._take()
            if taken is None:
                return
            self._waiting.popleft().succeed(taken)

    def _take(self) -> Socket | None:
        if not self._connections or not (self._shared or self._free):
            return None
        self._connections -= 1
        return self._shared or self._free.popleft()


class PartitionIds:
    """Draws partition ids of one attempt. A fault plan may have a reader draw another one's."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._characters = attempt.model.source.partition_id_characters
        self._seen: dict[str, None] = {}

    def draw(self, feed: int, reader: int) -> str:
        """Return the id of a reader of a feed."""
        world = self._attempt.world
        planned = self._attempt.faults.collision(feed, reader)
        drawn = world.drawn_ids.get(planned) if planned is not None else None
        if drawn is None:
            where = ("source.partition_id", feed, reader)
            drawn = world.draws.identifier(where, self._characters)
        if drawn in self._seen:
            self._attempt.env.goals.reach("id_collision")
            self._attempt.faults.note_strike()  # by plan or by chance: ids are short
        self._seen[drawn] = None
        world.drawn_ids[(feed, reader)] = drawn
        return drawn
