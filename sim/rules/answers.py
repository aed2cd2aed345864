"""What cores answer, what rules expect of them, and how both are compared."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ckptsim.models.core import ProtocolError
from ckptsim.sim.kernel import Stream

_TEXT_MAX = 600
# Of how many events of a walk one is followed by questions; an assumption: they take about as
# long as the events then.
WALKER_ASKED_EVERY = 8
STORY = 8
_FACTOR, _SUMMAND = 6364136223846793005, 1442695040888963407
_WORD = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Refused:
    """The core is to refuse the event, with one of these kinds; none named: with any.

    flaw: what is wrong with the text of a core's refusal, if anything.
    """

    kinds: frozenset[str] = frozenset()
    flaw: str | None = field(default=None, compare=False)

    @classmethod
    def by(cls, *kinds: str) -> Refused:
        """Return the refusal with one of some kinds."""
        return cls(frozenset(str(kind) for kind in kinds))

    @classmethod
    def of(cls, error: ProtocolError) -> Refused:
        """Return the refusal that a core gave, with a look at its text."""
        return cls(frozenset((str(error.kind),)), _flaw(error))


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


class Rules(Protocol):
    """A naive statement of the rules of one core."""

    def answer(self, event: Any) -> Answer | None:
        """Note the event, and return what the core is to answer; None where that is open."""
        ...

    def normal(self, answer: Answer) -> Answer:
        """Return an answer without what is not compared."""
        ...

    def copied(self) -> Rules:
        """Return rules with the same facts, to which others can be added."""
        ...

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield questions to the core: a name, what it says, and what it is to say."""
        ...

    def stray(self, pick: Pick) -> Any:
        """Return an event that some host could send now, a careless one too; None for no event."""
        ...


def given(core: Any, event: Any) -> Answer:
    """Return what a core answers; a refusal is an answer."""
    try:
        return tuple(core.step(event))
    except ProtocolError as error:
        return Refused.of(error)


def asked(question: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a core says to a question; a refusal is an answer."""
    try:
        return question(*arguments)
    except ProtocolError as error:
        return Refused.of(error)


def _flaw(error: ProtocolError) -> str | None:
    """Return why the text of a refusal is not one line with its kind and what was refused."""
    says = str(error)
    if not one_line(says, str(error.kind)):
        return f"its text is not one line with its kind: {says!r}"
    return None if len(says) > len(error.kind) else "its text names nothing that was refused"


def one_line(says: str, *names: object) -> bool:
    """Return whether a text for people is one line, and names all of these."""
    return "\n" not in says and all(str(name) in says for name in names)


def agree(answer: Answer, expected: Answer) -> bool:
    """Return whether what a core gave is what its rules say."""
    if isinstance(expected, Refused):
        refused = isinstance(answer, Refused)
        return refused and (not expected.kinds or answer.kinds <= expected.kinds)  # type: ignore[union-attr]
    return answer == expected


def difference(rules: Rules, event: Any, answer: Answer, expected: Answer) -> str | None:
    """Return in what an answer differs from the rules, or None."""
    if agree(rules.normal(answer), rules.normal(expected)):
        flaw = answer.flaw if isinstance(answer, Refused) else None
        return None if flaw is None else f"at {event!r} it refused, and {flaw}"
    return f"at {event!r} it gave {text(answer)}, by its rules it is to give {text(expected)}"


def disagreement(core: Any, rules: Rules) -> str | None:
    """Return what a core says of itself and its rules do not, or None."""
    for name, found, expected in rules.says(core):
        if found != expected:
            return f"it says {name} is {found!r}, by its rules it is {expected!r}"
    return None


def text(answer: Answer) -> str:
    """Return an answer in one line."""
    if isinstance(answer, Refused):
        kinds = ", ".join(sorted(answer.kinds))
        return f"a refusal ({kinds})" if kinds else "a refusal"
    return ("[" + ", ".join(repr(effect) for effect in answer) + "]")[:_TEXT_MAX]


def told(story: Iterable[tuple[Any, Answer]]) -> list[str]:
    """Return events and their answers in a line each."""
    return [f"{event!r} -> {text(answer)}" for event, answer in story]


def walked(core: Any, rules: Rules, pick: Pick, steps: int) -> tuple[str, list[str]] | None:
    """Send a core so many events that some host could send, with its rules beside it.

    Returns the first difference and the last events before it, or None.  What a core raises that is
    no refusal is a difference, too.
    """
    # Texts are made where they are needed: they would take as long as all the rest.
    story: deque[tuple[Any, Answer]] = deque(maxlen=STORY)
    for step in range(steps):
        event = rules.stray(pick)
        if event is None:
            return None
        expected = rules.answer(event)
        if expected is None:
            return None
        try:
            answer = given(core, event)
        except Exception as error:  # noqa: BLE001 - whatever a core raises is what is looked for
            return f"at {event!r} it raised {type(error).__name__}: {error}", told(story)
        found = difference(rules, event, answer, expected)
        # A refusal is to leave all as it was; what else an event leaves wrong mostly stays.
        asked = isinstance(answer, Refused) or step + 1 == steps
        if found is None and (asked or pick.one_in(WALKER_ASKED_EVERY)):
            found = disagreement(core, rules)
        if found is not None:
            return found, told(story)
        story.append((event, answer))
    return None
