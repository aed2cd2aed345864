"""Two cores of one slot, a user's and ours, that take the same events, and how they differ."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ckptsim.models.barriers.handler.events import FailTask
from ckptsim.sim.rules.answers import STORY, Answer, Refused, given
from ckptsim.sim.rules.beside import copied
from ckptsim.sim.rules.ours.walker import Walker
from ckptsim.sim.rules.words import answer_words, event_words, value_words
from ckptsim.sim.slots.process.codec import encoder
from ckptsim.sim.slots.process.doors import DOORS


@dataclass(frozen=True, slots=True)
class Departure:
    """Where a user's core does not do as ours: one sentence, and the events before it.

    reordered: both have the same effects, in other orders.
    """

    says: str
    story: tuple[str, ...] = ()
    reordered: bool = False


class Pair:
    """A user's core and ours, which take the same events."""

    def __init__(self, slot: str, theirs: Any, ours: Any) -> None:
        self.theirs = theirs
        self.ours = ours
        self._questions = DOORS[slot].questions if slot in DOORS else {}
        self._events = 0
        self._story: deque[tuple[Any, Answer]] = deque(maxlen=STORY)

    def compare(self, event: Any, answer: Answer) -> tuple[Departure | None, Answer]:
        """Let ours take an event that the other has answered.

        Returns how they differ, and what ours answers.  Raises what ours raises, if that is no
        refusal.
        """
        ours = given(self.ours, event)
        return self._compare(event, answer, ours), ours

    def asked(self, name: str, answer: Any, *positional: Any, **named: Any) -> Departure | None:
        """Compare what the user's core has answered to a question of the host's."""
        ours = getattr(self.ours, name)
        if callable(ours):
            ours = ours(*positional, **named)
        question = self._questions.get(name)
        if answer == ours or (question and _plainly_same(question.gives, answer, ours)):
            return None
        about = [name.replace("_", " "), *map(value_words, [*positional, *named.values()])]
        return self._says(" ".join(about), answer, ours)

    def walk(self, walker: Walker, steps: int) -> Departure | None:
        """Send both so many events that some host could send. walker: draws them.

        What ours refuses is sent to neither.  What the user's core raises is a difference, too.
        """
        for _ in range(steps):
            try:
                drawn = self._allowed(walker)
            except Exception:  # noqa: BLE001 - ours cannot take what no host sends
                return None
            if drawn is None:
                return None
            now_ns, event, ours = drawn
            try:
                answer = given(self.theirs, event)
            except Exception as error:  # noqa: BLE001 - whatever a core raises is looked for
                where = f"at {event_words(event)} it raises {type(error).__name__}"
                return self._departure(where, str(error), "takes it")
            found = self._compare(event, answer, ours)
            if found is not None:
                return found
            if not walker.take(now_ns, event, ours):
                return None
        return self._asked_all()

    def copied(self, theirs: Any) -> Pair:
        """Return a pair in the same state. theirs: the copy of the user's core."""
        other = copy.copy(self)
        other.theirs, other.ours = theirs, copied(self.ours)
        other._story = copy.copy(self._story)  # noqa: SLF001 - of the same class
        return other

    def _compare(self, event: Any, answer: Answer, ours: Answer) -> Departure | None:
        self._events += 1
        found = _apart(_plain(answer), _plain(ours))
        departure = None
        if found is not None:
            where = f"at its event {self._events}, {event_words(event)}, it answers"
            theirs, by_ours, reordered = found
            departure = replace(self._departure(where, theirs, by_ours), reordered=reordered)
        self._story.append((event, answer))
        return departure

    def _allowed(self, walker: Walker) -> tuple[int, Any, tuple[Any, ...]] | None:
        """Return the next event that ours takes, its instant, and what ours answers."""
        for now_ns, event in walker.drawn():
            ours = given(self.ours, event)
            if not isinstance(ours, Refused):
                return now_ns, event, ours
        return None

    def _asked_all(self) -> Departure | None:
        """Compare what both answer to the questions of hosts that take no arguments."""
        for name, question in self._questions.items():
            if question.is_property and hasattr(self.ours, name):
                found = self.asked(name, getattr(self.theirs, name))
                if found is not None:
                    return found
        return None

    def _says(self, name: str, answer: Any, ours: Any) -> Departure:
        after = f"after {event_words(self._story[-1][0])}" if self._story else "at its beginning"
        where = f"{after}, asked for {name}, it answers"
        return self._departure(where, value_words(answer), value_words(ours))

    def _departure(self, where: str, theirs: str, ours: str) -> Departure:
        story = tuple(f"{event_words(one)}: {answer_words(what)}" for one, what in self._story)
        return Departure(f"{where}: {theirs}; ours: {ours}", story)


def _plain(answer: Answer) -> Answer:
    """Return an answer without the texts for people in it."""
    if isinstance(answer, Refused):
        return answer
    return tuple(
        replace(effect, story="") if isinstance(effect, FailTask) else effect for effect in answer
    )


def _apart(theirs: Answer, ours: Answer) -> tuple[str, str, bool] | None:
    """Return in words what only the one answers and only the other, or None.

    The third value says whether both have the same effects in other orders.

    Refusals are the same whatever kind they name: hosts do not look at it.
    """
    if isinstance(theirs, Refused) or isinstance(ours, Refused):
        both = isinstance(theirs, Refused) and isinstance(ours, Refused)
        return None if both else (answer_words(theirs), answer_words(ours), False)
    if theirs == ours:
        return None
    extra, missing = _without(theirs, ours), _without(ours, theirs)
    if not extra and not missing:
        return answer_words(theirs), answer_words(ours), True
    nothing = "nothing" if len(extra) == len(theirs) and len(missing) == len(ours) else "no more"
    texts = [answer_words(only) if only else nothing for only in (extra, missing)]
    return texts[0], texts[1], False


def _without(answer: Sequence[Any], other: Sequence[Any]) -> tuple[Any, ...]:
    left = list(other)
    only: list[Any] = []
    for effect in answer:
        if effect in left:
            left.remove(effect)
        else:
            only.append(effect)
    return tuple(only)


class _AsItIs:
    """Leaves what a host has given to a core as it is."""

    def put(self, value: object) -> Any:
        return value

    def get(self, number: int) -> object:
        return number


def _plainly_same(gives: Any, answer: Any, ours: Any) -> bool:
    """Return whether two answers are the same in all that their door declares."""
    try:
        return bool(encoder(gives)(answer, _AsItIs()) == encoder(gives)(ours, _AsItIs()))
    except (AttributeError, TypeError, ValueError):  # it is not what the door declares
        return False
