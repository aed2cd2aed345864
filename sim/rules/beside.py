"""The differential oracle: a second, naive statement of a core's rules runs beside the core.

At each event the core answers and its rules say what it was to answer; the first difference of a
core is a violation, and from then on that core is left alone, since everything behind a difference
differs.  Its host is judged in the same way, by its duties (`duties.py`).  Rules know facts (lists
of what happened) and work out everything else from them anew each time: slow, and hard to get wrong
in the way in which a core with state does.

A host of ours sends a core less than others might.  So from time to time a copy of the core, and
one of its rules, takes a walk: some dozens of events that some host could send from here, strays,
repetitions and refusals among them.  At the beginning of each run cores of other settings take one
as well.  The run itself does not notice: neither draws nor order nor trace change.
"""

from __future__ import annotations

import copy
import pickle
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ckptsim.models.core import ProtocolError
from ckptsim.sim.kernel import Environment, Streams
from ckptsim.sim.rows import ViolationRow
from ckptsim.sim.rules.answers import (
    STORY,
    Answer,
    Pick,
    Refused,
    Rules,
    difference,
    disagreement,
    told,
    walked,
)
from ckptsim.sim.rules.duties import DUTIES, Duties
from ckptsim.sim.rules.joint import JointDuties
from ckptsim.sim.run_spec import RunSpec
from ckptsim.sim.slots import Factory, ProtocolCores

FOLLOWS_RULES = "a_core_follows_its_rules"
DOES_ITS_DUTY = "a_host_does_its_duty"
# Of how many events one is followed by questions, and one by a walk of a copy (assumptions: with
# them the oracle takes about as long as the run).
ASK_EVERY = 8
WALK_EVERY = 48
WALK_EVENTS = 30
# How much less often copies walk in a run at whose beginning no core walks; an assumption.
_SELDOM = 8
_TEXT_MAX = 600

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


@dataclass(frozen=True, slots=True)
class Parting:
    """Where a core and its rules part; the story has the events before, oldest first.

    breaks: the property that says so.
    """

    at_ns: int
    says: str
    story: tuple[str, ...]
    breaks: str = FOLLOWS_RULES


class Differential:
    """The rules that run beside the cores of one run.

    rules: slot -> makes the rules of a core from the arguments with which the core is made.
    walks: slot, or name of a core without one -> how it walks at the beginning, `each` times or a
    multiple of it.
    walk_every: of how many events of a core one is followed by a walk of a copy.
    """

    def __init__(
        self,
        rules: Mapping[str, Callable[..., Rules]],
        walks: Mapping[str, Walk],
        *,
        each: int,
        seed: int,
    ) -> None:
        self.partings: list[Parting] = []
        self._rules = rules
        self._walks = walks
        self._each = each
        self.walk_every = WALK_EVERY if walks else WALK_EVERY * _SELDOM
        self._walking: list[tuple[str, Walk, Factory]] = []
        self._streams = Streams(seed)
        self._env: Environment | None = None
        self._made = 0

    def beside(self, cores: ProtocolCores, foreign: Collection[str]) -> ProtocolCores:
        """Return factories that make each core with its rules beside it.

        foreign: slots whose cores are the user's; they may promise the same by other effects.
        """
        judged = dict.fromkeys([*self._rules, *DUTIES])
        slots = [slot for slot in judged if hasattr(cores, slot) and slot not in foreign]
        made = {slot: self._factory(slot, getattr(cores, slot)) for slot in slots}
        if hasattr(cores, "store") and "store" not in foreign:
            made["store"] = self._store(cores.store)
        for name, walk in self._walks.items():
            make = walk.make if name in foreign else walk.make or getattr(cores, name, None)
            if make is not None:
                self._walking.append((name, walk, make))
        return replace(cores, **made)

    def begin(self, env: Environment) -> None:
        """Take the environment of the run, for the times of violations, and let cores walk."""
        self.follow(env)
        for name, walk, make in self._walking:
            for number in range(self._each * walk.times):
                pick = Pick(self._streams.stream(f"walk {name}", number))
                found = walk.walked(make, pick)
                if found is not None:
                    self.part(f"core {name}, on a walk of its own: {found[0]}", found[1])
                    break

    def follow(self, env: Environment) -> None:
        """Take the environment in which the run, or a part of it, goes on."""
        self._env = env
        env.witness = self._witnessed

    def rows(self, spec: RunSpec) -> list[ViolationRow]:
        """Return a violation for each core that did not follow its rules."""
        return [
            spec.violation(each.breaks, each.at_ns, each.says, story=each.story)
            for each in self.partings
        ]

    @property
    def now_ns(self) -> int:
        """The present instant of the run; 0 before it has begun."""
        return 0 if self._env is None else self._env.now

    def part(self, says: str, story: Sequence[str], breaks: str = FOLLOWS_RULES) -> None:
        """Note that a core and its rules differ, or that its host does not do its duty."""
        lines = tuple(line[:_TEXT_MAX] for line in story[-STORY:])
        self.partings.append(Parting(self.now_ns, says[: 3 * _TEXT_MAX], lines, breaks))

    def _store(self, factory: Factory) -> Factory:
        """Return what makes a store whose ingestion cores have their rules beside them."""

        def make(*arguments: Any) -> Any:
            versions = factory(*arguments)
            client = versions.client
            ingestion = self._factory("ingestion", client.parts.ingestion)
            client.parts = replace(client.parts, ingestion=ingestion)
            return versions

        return make

    def _factory(self, slot: str, factory: Factory) -> Factory:
        def make(*arguments: Any, **named: Any) -> Any:
            core = factory(*arguments, **named)
            if slot not in self._rules and slot not in DUTIES:
                return core
            rules = self._rules[slot](*arguments, **named) if slot in self._rules else None
            self._made += 1
            pick = Pick(self._streams.stream(f"beside {slot}", self._made))
            duties = DUTIES[slot]() if slot in DUTIES else None
            name = f"{slot} {self._made}"
            return Beside(core, rules, duties, name=name, pick=pick, watch=self)

        make.__wrapped__ = factory  # type: ignore[attr-defined]  # for hosts that ask whose it is
        return make

    def _witnessed(self, name: str, core: Any, *made_of: Any) -> Any:
        """Return what a host has made itself with its rules beside it, a task's cores joined."""
        if name == "task":
            made = [one for one in (core.handler, core.subtask, core.lifecycle) if one is not None]
            # One that is not heard, a user's, would leave what the others wait for unexplained.
            if all(isinstance(each, Beside) for each in made):
                joint = JointDuties(channels=core.handler and core.handler.open_channels)
                for each in made:
                    each.belongs_to(joint)
            return core
        return self._factory(name, lambda *_: core)(*made_of)


class Proxy:
    """A core as its host sees it; whatever is asked of it, but for what is here, goes to the core.

    Hosts that ask what kind of core they have get its answer.
    """

    __slots__ = ("_core",)
    _core: Any

    @property  # type: ignore[misc]  # as mock objects with a spec do
    def __class__(self) -> Any:
        """Return the core's class."""
        return type(self._core)

    def __getattr__(self, name: str) -> Any:
        """Return what the core has under the name."""
        return getattr(self._core, name)


class Beside(Proxy):
    """A core with its rules; whatever is asked of it, but for `step`, goes to the core.

    rules: None where the host alone is judged.  duties: what its host owes it; None for nothing, or
    once the host has failed to do it.
    """

    __slots__ = (
        "_duties",
        "_events",
        "_joint",
        "_name",
        "_pick",
        "_rules",
        "_story",
        "_together",
        "_watch",
    )

    def __init__(
        self,
        core: Any,
        rules: Rules | None,
        duties: Duties | None,
        *,
        name: str,
        pick: Pick,
        watch: Differential,
    ) -> None:
        self._core = core
        self._rules = rules
        self._duties = duties
        self._joint: JointDuties | None = None
        self._name = name
        self._pick = pick
        self._watch = watch
        self._story: deque[tuple[Any, Answer]] = deque(maxlen=STORY)
        self._events = 0
        self._together = True

    def belongs_to(self, joint: JointDuties) -> None:
        """Judge its host by what it owes this and other cores together, too."""
        self._joint = joint

    def step(self, event: Any) -> list[Any]:
        """Have the core take an event, and compare what it answers."""
        if not self._together:
            effects: list[Any] = self._core.step(event)
            return effects
        self._judge_host(event)
        if self._rules is None:
            effects = self._core.step(event)
            self._story.append((event, tuple(effects)))
            self._ask_host(effects)
            return effects
        expected = self._rules.answer(event)
        try:
            effects = self._core.step(event)
        except ProtocolError as error:
            self._compare(self._rules, event, (Refused.of(error), expected))
            raise
        self._compare(self._rules, event, (tuple(effects), expected))
        self._ask_host(effects)
        if self._together and self._pick.one_in(ASK_EVERY):
            self._part(disagreement(self._core, self._rules), "")
        if self._together and self._pick.one_in(self._watch.walk_every):
            self._walk(self._rules)
        return effects

    def _judge_host(self, event: object) -> None:
        """Compare what the host sends with what it owes; a core left alone judges it no more."""
        for duties in (self._duties, self._joint):
            wrong = None if duties is None else duties.event(self._watch.now_ns, event)
            if wrong is not None:
                self._duties = None
                self._leave_host()
                says = f"the host of core {self._name}: {wrong}"
                self._watch.part(says, told(self._story), DOES_ITS_DUTY)
                return

    def _leave_host(self) -> None:
        if self._joint is not None:
            self._joint.over = True

    def _ask_host(self, effects: Sequence[Any]) -> None:
        for duties in (self._duties, self._joint):
            if duties is not None:
                duties.effects(self._watch.now_ns, effects)

    def _compare(self, rules: Rules, event: object, both: tuple[Answer, Answer | None]) -> None:
        answer, expected = both
        if expected is None:
            self._together = False  # the rules leave open what follows
            self._leave_host()
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
            self._together = False
            self._leave_host()
            story = [*told(self._story), *alone]
            self._watch.part(f"core {self._name}: {where}{says}", story)


def copied(core: Any) -> Any:
    """Return a copy; one that holds functions of its host is made in the slower way."""
    try:
        return pickle.loads(pickle.dumps(core, pickle.HIGHEST_PROTOCOL))  # noqa: S301 - ours
    except (pickle.PicklingError, AttributeError, TypeError):
        return copy.deepcopy(core)
