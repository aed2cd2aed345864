"""Two cores of one slot, a user's and ours, that take the same events, and how they differ.

The user's core drives the run.  Ours takes what it takes, and no host sees what ours answers.
Neither gets an argument that the other could change.

A run sends a core few of the events that it could get, so both may take walks as well.  The user's
core is then made once more and takes all events from its beginning again.  That copies every pure
core, also one that keeps its state in a closure or in another process.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ckptsim.models.barriers.handler.events import FailTask
from ckptsim.models.core import ProtocolError
from ckptsim.sim.kernel import Stream
from ckptsim.sim.rules.beside import Proxy, copied
from ckptsim.sim.rules.ours.walker import Walker
from ckptsim.sim.rules.words import (
    STORY,
    Answer,
    Refused,
    answer_words,
    event_words,
    given,
    value_words,
)
from ckptsim.sim.slots.process.codec import DOORS, encoder


@dataclass(frozen=True, slots=True)
class Departure:
    """Where a user's core does not do as ours, and the events before. reordered: only in order."""

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
        """Let ours take an answered event. Return the difference and our answer, or raise."""
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
        """Send both events that some host could send, drawn by `walker`, until they differ."""
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
    def put(self, value: object) -> Any:
        return value

    def get(self, number: int) -> object:
        return number


def _plainly_same(gives: Any, answer: Any, ours: Any) -> bool:
    try:
        return bool(encoder(gives)(answer, _AsItIs()) == encoder(gives)(ours, _AsItIs()))
    except (AttributeError, TypeError, ValueError):  # it is not what the door declares
        return False


# Of how many events one is followed by a walk of so many.  A core that has taken more than the last
# number walks no more: it would begin by taking all of them again.  (Assumptions: with them a run
# takes some twice as long.)
WALK_EVERY = 12
WALK_EVENTS = 30
_WALKS_UNTIL = 240


@dataclass(frozen=True, slots=True)
class Walks:
    """What walks need. make: makes a first core. walker: draws, and has taken the same events."""

    make: Callable[[], Any]
    walker: Walker
    stream: Stream
    now_ns: Callable[[], int]


class Alongside(Proxy):
    """The user's core as its host sees it.

    questions: what hosts ask of such a core. None for one without steps, for which all methods are
    compared.  depart: gets every difference.  The comparison ends with the first that is not of the
    order of effects alone, or with any if `exact` is set.
    """

    __slots__ = ("_depart", "_exact", "_pair", "_questions", "_taken", "_walks")

    def __init__(
        self,
        pair: Pair,
        *,
        questions: Collection[str] | None,
        walks: Walks | None,
        depart: Callable[[Departure], None],
        exact: bool,
    ) -> None:
        self._core = pair.theirs
        self._pair: Pair | None = pair
        self._questions = questions
        self._walks = walks
        self._depart = depart
        self._exact = exact
        self._taken: list[tuple[Any, Answer | None]] = []

    def __getattr__(self, name: str) -> Any:
        """Return what the core has under the name. A host's question is asked of ours as well."""
        found = getattr(self._core, name)
        if self._pair is None or (self._questions is not None and name not in self._questions):
            return found
        if name == "clock":
            return _Clock(found, self)
        if not callable(found):
            if self._questions is not None:
                self._asked(name, found)
            return found

        def ask(*positional: Any, **named: Any) -> Any:
            answer = found(*positional, **named)
            self._asked(name, answer, *positional, **named)
            return answer

        return ask

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute of both cores. The ones of this class begin with an underscore."""
        if name.startswith("_"):
            object.__setattr__(self, name, value)
            return
        setattr(self._core, name, value)
        if self._pair is not None:
            setattr(self._pair.ours, name, value)

    def __len__(self) -> int:
        """Return the length of a core that has one, a channel."""
        return len(self._core)

    def __bool__(self) -> bool:
        """Return whether the core counts as true."""
        return bool(self._core)

    def step(self, event: Any) -> Any:
        """Have the core take an event, and compare what it answers."""
        if self._pair is None:
            return self._core.step(event)
        try:
            effects = self._core.step(event)
        except ProtocolError as error:
            self._compare(event, Refused.of(error))
            raise
        if isinstance(effects, list | tuple):  # anything else is its host's to complain of
            self._compare(event, tuple(effects))
        return effects

    def count(self, clock: Any, size: int) -> None:
        """Count bytes on the clock of the user's handler, and on the one of ours."""
        clock.add_bytes(size)
        if self._pair is not None:
            self._pair.ours.clock.add_bytes(size)
            self._taken.append((size, None))

    def _asked(self, name: str, answer: Any, *positional: Any, **named: Any) -> None:
        assert self._pair is not None
        try:
            found = self._pair.asked(name, answer, *positional, **named)
        except (AttributeError, ProtocolError):  # ours cannot be asked that, here or now
            return
        if found is not None:
            self._end(found)

    def _compare(self, event: Any, answer: Answer) -> None:
        assert self._pair is not None
        try:
            found, ours = self._pair.compare(event, answer)
        except Exception:  # noqa: BLE001 - ours cannot take what only this core lets happen
            self._pair = None
            return
        if found is not None:
            self._end(found)
        if self._pair is not None and self._walks is not None:
            self._walk(self._walks, event, answer, ours)

    def _end(self, found: Departure) -> None:
        self._depart(found)
        if self._exact or not found.reordered:
            self._pair = None

    def _walk(self, walks: Walks, event: Any, answer: Answer, ours: Answer) -> None:
        assert self._pair is not None
        self._taken.append((event, answer))
        if isinstance(ours, Refused):
            return
        if not walks.walker.take(walks.now_ns(), event, ours) or len(self._taken) > _WALKS_UNTIL:
            self._walks = None
            return
        if not walks.stream.chance(1 / WALK_EVERY):
            return
        remade = walks.make()
        for taken, before in self._taken:
            if before is None:
                remade.clock.add_bytes(taken)
            elif given(remade, taken) != before:
                self._walks = None  # the core keeps something outside: its copies say nothing
                return
        pair = self._pair.copied(remade)
        found = pair.walk(walks.walker.copied(), WALK_EVENTS)
        if found is not None:
            says = f"with events that did not come and could, {found.says}"
            self._end(replace(found, says=says))


class _Clock:
    """The alignment clock of a handler, as hosts use it. Its bytes count twice."""

    __slots__ = ("_clock", "_owner")

    def __init__(self, clock: Any, owner: Alongside) -> None:
        self._clock = clock
        self._owner = owner

    @property
    def running(self) -> Any:
        return self._clock.running

    def add_bytes(self, size: int) -> None:
        self._owner.count(self._clock, size)
