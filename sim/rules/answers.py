"""What cores answer, and draws for the events that they are asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ckptsim.models.core import ProtocolError
from ckptsim.sim.kernel import Stream

_TEXT_MAX = 600
STORY = 8
_FACTOR, _SUMMAND = 6364136223846793005, 1442695040888963407
_WORD = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Refused:
    """A refused event, with one of these kinds, or of any kind where none is named.

    says: the text of a core's refusal.
    """

    kinds: frozenset[str] = frozenset()
    says: str = field(default="", compare=False)

    @classmethod
    def by(cls, *kinds: str) -> Refused:
        """Return the refusal with one of some kinds."""
        return cls(frozenset(str(kind) for kind in kinds))

    @classmethod
    def of(cls, error: ProtocolError) -> Refused:
        """Return the refusal that a core gave."""
        return cls(frozenset((str(error.kind),)), str(error))


Answer = tuple[Any, ...] | Refused
"""What a core gave: its effects, or `Refused` with the one kind."""


class Pick:
    """Draws for events and parameters; the stream gives no more than where they begin.

    A walk draws ten times for each event, so its numbers come from a linear congruence: a sixth of
    the time of a stream, and quite random enough to choose events by.
    Source: Knuth, The Art of Computer Programming, volume 2, 3.3.4 (the constants of MMIX).
    """

    def __init__(self, stream: Stream) -> None:
        self._state = stream.bits()

    def of(self, options: Sequence[Any]) -> Any:
        """Return one of the options."""
        return options[self.integer(0, len(options) - 1)]

    def integer(self, low: int, high: int) -> int:
        """Return a whole number between two bounds, both included."""
        self._state = (self._state * _FACTOR + _SUMMAND) & _WORD
        # The low bits of a congruence repeat soon: the high ones, scaled to the range.
        return low + ((self._state >> 16) * (high - low + 1) >> 48)

    def one_in(self, count: int) -> bool:
        """Return True once in so many times."""
        return self.integer(1, count) == 1


def given(core: Any, event: Any) -> Answer:
    """Return what a core answers; a refusal is an answer."""
    try:
        return tuple(core.step(event))
    except ProtocolError as error:
        return Refused.of(error)


def text(answer: Answer) -> str:
    """Return an answer in one line."""
    if isinstance(answer, Refused):
        kinds = ", ".join(sorted(answer.kinds))
        return f"a refusal ({kinds})" if kinds else "a refusal"
    return ("[" + ", ".join(repr(effect) for effect in answer) + "]")[:_TEXT_MAX]


def told(story: Iterable[tuple[Any, Answer]]) -> list[str]:
    """Return events and their answers in a line each."""
    return [f"{event!r} -> {text(answer)}" for event, answer in story]
