"""The one door of every protocol core, and the error that it raises.

A core is a deterministic state machine.  It takes one event at a time and answers with the list of
effects that its host has to carry out, in that order.  It knows no clock (times arrive in events,
timers are effects), draws no random numbers and keeps no reference to the outside.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

EventT_contra = TypeVar("EventT_contra", contravariant=True)
EffectT = TypeVar("EffectT")


class Core(Protocol[EventT_contra, EffectT]):
    """A protocol core: `step` takes an event and returns the effects that it causes."""

    def step(self, event: EventT_contra) -> list[EffectT]:
        """Take one event and return its effects in the order in which the host carries them out.

        Raises ProtocolError when the event is not allowed in the present state. The observable
        state is then as before.
        """


class ProtocolError(Exception):
    """A core got an input that its rules refuse, or broke an invariant of its own.

    kind: the rule's short name, such as `duplicate_index`. One of a closed set per protocol.
    state: the state (or the part of it that matters) in words.
    event: the refused event.
    story: what led here, oldest first, one short sentence each. May be empty.
    """

    def __init__(
        self, kind: str, *, state: str = "", event: object = None, story: tuple[str, ...] = ()
    ) -> None:
        self.kind = kind
        self.state = state
        self.event = event
        self.story = story
        super().__init__(kind, state, event, story)

    def __str__(self) -> str:
        parts = [self.kind]
        if self.state:
            parts.append(f"state: {self.state}")
        if self.event is not None:
            parts.append(f"event: {self.event!r}")
        if self.story:
            parts.append("story: " + "; ".join(self.story))
        return " | ".join(parts)
