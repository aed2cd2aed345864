"""The differential oracle: a second, naive statement of a core's rules runs beside the core.

At each event the core answers and its rules say what it was to answer.  The first difference of a
core is a violation.  From then on that core is left alone, since all that follows a difference
differs.  Rules know facts (lists of what happened) and work out everything else from them anew each
time: slow, and hard to get wrong in the way in which a core with state does.

A host of ours sends a core less than others might.  So from time to time a copy of the core, and
one of its rules, takes a walk: some dozens of events that some host could send from here, strays,
repetitions and refusals among them.  At the beginning of each run cores of other settings take one
as well.  The run itself does not notice: neither draws nor order nor trace change.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ckptsim.models.core import ProtocolError
from ckptsim.sim.kernel import Environment, Streams
from ckptsim.sim.rules.answers import STORY, Answer, Pick, Refused, told
from ckptsim.sim.rules.beside import Beside, Proxy, copied
from ckptsim.sim.slots import Factory, ProtocolCores
from tests.rules.naive.naive import Rules, difference, disagreement, walked

FOLLOWS_RULES = "a_core_follows_its_rules"
# Of how many events one is followed by questions, and one by a walk of a copy (assumptions: with
# them the oracle takes about as long as the run).
ASK_EVERY = 8
WALK_EVERY = 48
WALK_EVENTS = 30
# How much less often copies walk in a run at whose beginning no core walks; an assumption.
_SELDOM = 8

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Walk:
    """How a core walks alone: drawn arguments to make it and its rules with.

    make: of a core that has no slot; the others are made as the run makes its own.  adapt: what
    makes a core that is stepped by events of one that is called in another way.  events: of a walk.
    times: how many times as many walks it takes as others: where much depends on what came before,
    more of them meet what is rare.
    """

    draw: Callable[[Pick], Arguments]
    rules: Callable[..., Rules]
    make: Factory | None = None
    adapt: Callable[[Factory], Factory] | None = None
    events: int = WALK_EVENTS
    times: int = 1

    def walked(self, make: Factory, pick: Pick) -> tuple[str, list[str]] | None:
        """Let a new core walk; return its first difference from the rules, if any."""
        positional, named = self.draw(pick)
        make = make if self.adapt is None else self.adapt(make)
        core, rules = make(*positional, **named), self.rules(*positional, **named)
        return walked(core, rules, pick, self.events)


class Differential(Beside):
    """The rules that run beside the cores of one run.

    rules: slot -> makes the rules of a core from the arguments with which the core is made.
    walks: slot, or name of a core without one -> how it walks at the beginning, `each` times or a
    multiple of it.
    mutants: whether mutants have the rules of our cores beside them, too.
    """

    def __init__(
        self,
        rules: Mapping[str, Callable[..., Rules]],
        walks: Mapping[str, Walk],
        *,
        each: int,
        seed: int,
        mutants: bool = False,
    ) -> None:
        super().__init__()
        self.walk_every = WALK_EVERY if walks else WALK_EVERY * _SELDOM
        self._rules = rules
        self._walks = walks
        self._each = each
        self._mutants = mutants
        self._walking: list[tuple[str, Walk, Factory]] = []
        self._streams = Streams(seed)
        self._count = 0

    def beside(self, cores: ProtocolCores, foreign: Collection[str]) -> ProtocolCores:
        """Return factories that make each core with its rules beside it."""
        foreign = () if self._mutants else foreign
        for name, walk in self._walks.items():
            make = walk.make if name in foreign else walk.make or getattr(cores, name, None)
            if make is not None:
                self._walking.append((name, walk, make))
        return super().beside(cores, foreign)

    def begin(self, env: Environment) -> None:
        """Take the environment of the run, for the times of violations, and let cores walk."""
        super().begin(env)
        for name, walk, make in self._walking:
            for number in range(self._each * walk.times):
                pick = Pick(self._streams.stream(f"walk {name}", number))
                found = walk.walked(make, pick)
                if found is not None:
                    says = f"core {name}, on a walk of its own: {found[0]}"
                    self.part(FOLLOWS_RULES, says, found[1])
                    break

    def slots(self) -> Collection[str]:
        """Return the slots and names of cores with rules."""
        return self._rules

    def made(self, slot: str, core: Any, *positional: Any, **named: Any) -> Any:
        """Return a core with its rules."""
        self._count += 1
        pick = Pick(self._streams.stream(f"beside {slot}", self._count))
        rules = self._rules[slot](*positional, **named)
        return Ruled(core, rules, name=f"{slot} {self._count}", pick=pick, watch=self)


class Ruled(Proxy):
    """A core with its rules; whatever is asked of it, besides `step`, goes to the core."""

    __slots__ = ("_events", "_name", "_pick", "_rules", "_story", "_watch")

    def __init__(
        self, core: Any, rules: Rules, *, name: str, pick: Pick, watch: Differential
    ) -> None:
        self._core = core
        self._rules: Rules | None = rules
        self._name = name
        self._pick = pick
        self._watch = watch
        self._story: deque[tuple[Any, Answer]] = deque(maxlen=STORY)
        self._events = 0

    def step(self, event: Any) -> Any:
        """Have the core take an event, and compare what it answers."""
        rules = self._rules
        if rules is None:
            return self._core.step(event)
        expected = rules.answer(event)
        try:
            effects = self._core.step(event)
        except ProtocolError as error:
            self._compare(rules, event, Refused.of(error), expected)
            raise
        self._compare(rules, event, tuple(effects), expected)
        if self._rules is not None and self._pick.one_in(ASK_EVERY):
            self._part(disagreement(self._core, rules), "")
        if self._rules is not None and self._pick.one_in(self._watch.walk_every):
            self._walk(rules)
        return effects

    def _compare(
        self, rules: Rules, event: object, answer: Answer, expected: Answer | None
    ) -> None:
        if expected is None:
            self._rules = None  # the rules leave open what follows
            return
        self._events += 1
        found = difference(rules, event, answer, expected)
        self._part(found, f"at event {self._events}: ")
        self._story.append((event, answer))

    def _walk(self, rules: Rules) -> None:
        """Let a copy of the core take events that did not come."""
        found = walked(copied(self._core), rules.copied(), self._pick, WALK_EVENTS)
        if found is not None:
            alone = [f"a copy: {line}" for line in found[1]]
            self._part(found[0], "with events that did not come and could, ", alone)

    def _part(self, says: str | None, where: str, alone: Sequence[str] = ()) -> None:
        if says is not None:
            self._rules = None
            story = [*told(self._story), *alone]
            self._watch.part(FOLLOWS_RULES, f"core {self._name}: {where}{says}", story)
