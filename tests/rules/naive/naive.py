"""What naive rules have in common: facts in lists, asked on a copy and noted for good."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, Self

from ckptsim.models.core import ProtocolError
from ckptsim.sim.rules.answers import STORY, Answer, Pick, Refused, given, text, told

# Of how many events of a walk one is followed by questions; an assumption: they take about as
# long as the events then.
ASKED_EVERY = 8


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


class Naive:
    """Rules as facts: `refusals` says why an event is refused, `take` notes it and answers."""

    def refusals(self, event: Any) -> list[str]:
        """Return why the event breaks a rule; the core may name any of these."""
        del event
        return []

    def take(self, event: Any) -> Sequence[Any]:
        """Note an event that breaks no rule, and return the effects that it has."""
        raise NotImplementedError

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield questions to the core: a name, what it says, and what it is to say."""
        del core
        return iter(())

    def stray(self, pick: Pick) -> Any:
        """Return an event that could come from a careless or unlucky host, or None."""
        del pick

    def answer(self, event: Any) -> Answer | None:
        """Note the event, unless it breaks a rule, and return what the core is to answer."""
        refusals = self.refusals(event)
        return Refused.by(*refusals) if refusals else tuple(self.take(event))

    def normal(self, answer: Answer) -> Answer:
        """Return an answer without what is not compared; by default all is."""
        return answer

    def copied(self) -> Self:
        """Return rules with the same facts, to which others can be added."""
        copied = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, list | dict | set):
                setattr(copied, name, copy.copy(value))
        return copied


def asked(question: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a core says to a question; a refusal is an answer."""
    try:
        return question(*arguments)
    except ProtocolError as error:
        return Refused.of(error)


def one_line(says: str, *names: object) -> bool:
    """Return whether a text for people is one line, and names all of these."""
    return "\n" not in says and all(str(name) in says for name in names)


def _flaw(refused: Refused) -> str | None:
    """Return why the text of a refusal is not one line with its kind and what was refused."""
    (kind,) = refused.kinds
    if not one_line(refused.says, kind):
        return f"its text is not one line with its kind: {refused.says!r}"
    return None if len(refused.says) > len(kind) else "its text names nothing that was refused"


def agree(answer: Answer, expected: Answer) -> bool:
    """Return whether what a core gave is what its rules say."""
    if isinstance(expected, Refused):
        refused = isinstance(answer, Refused)
        return refused and (not expected.kinds or answer.kinds <= expected.kinds)  # type: ignore[union-attr]
    return answer == expected


def difference(rules: Rules, event: Any, answer: Answer, expected: Answer) -> str | None:
    """Return in what an answer differs from the rules, or None."""
    if agree(rules.normal(answer), rules.normal(expected)):
        flaw = _flaw(answer) if isinstance(answer, Refused) else None
        return None if flaw is None else f"at {event!r} it refused, and {flaw}"
    return f"at {event!r} it gave {text(answer)}, by its rules it is to give {text(expected)}"


def disagreement(core: Any, rules: Rules) -> str | None:
    """Return what a core says of itself and its rules do not, or None."""
    for name, found, expected in rules.says(core):
        if found != expected:
            return f"it says {name} is {found!r}, by its rules it is {expected!r}"
    return None


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
        if found is None and (asked or pick.one_in(ASKED_EVERY)):
            found = disagreement(core, rules)
        if found is not None:
            return found, told(story)
        story.append((event, answer))
    return None
