"""A user's core in a run, with ours alongside until the first difference.

The user's core drives the run.  Ours takes what it takes, and no host sees what ours answers.
Neither gets an argument that the other could change.

A run sends a core few of the events that it could get, so both may take walks as well.  The user's
core is then made once more and takes all events from its beginning again.  That copies every pure
core, also one that keeps its state in a closure or in another process.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

from ckptsim.models.core import ProtocolError
from ckptsim.sim.kernel import Stream
from ckptsim.sim.rules.answers import Answer, Refused, given
from ckptsim.sim.rules.beside import Proxy
from ckptsim.sim.rules.ours.pair import Departure, Pair
from ckptsim.sim.rules.ours.walker import Walker

# Of how many events one is followed by a walk of so many.  A core that has taken more than the last
# number walks no more: it would begin by taking all of them again.  (Assumptions: with them a run
# takes some twice as long.)
WALK_EVERY = 12
WALK_EVENTS = 30
_WALKS_UNTIL = 240


@dataclass(frozen=True, slots=True)
class Walks:
    """What walks need: another core as the user's was, what draws events, when, and the time.

    make: makes a core in its first state.  walker: has taken what the cores have taken.
    """

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
        """Let copies of both take events that did not come."""
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
        """Whether bytes count at present."""
        return self._clock.running

    def add_bytes(self, size: int) -> None:
        """Count a buffer that was handed to the task."""
        self._owner.count(self._clock, size)
