"""What makes our cores beside a user's in one run, and keeps the first difference of each slot."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Any

from ckptsim.scenarios.dialect import exact_text
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.kernel import Environment, Streams
from ckptsim.sim.rows import ViolationRow
from ckptsim.sim.rules.answers import Pick
from ckptsim.sim.rules.beside import Walk
from ckptsim.sim.rules.ours.alongside import Alongside, Walks
from ckptsim.sim.rules.ours.pair import Departure, Pair, walked
from ckptsim.sim.rules.table import WALKS, walks_each
from ckptsim.sim.run_spec import RunSpec
from ckptsim.sim.slots import OURS, SLOTS, Factory, ProtocolCores
from ckptsim.sim.slots.process.doors import DOORS

DOES_AS_OURS = "a_core_does_as_ours"


def compared(link: str) -> list[str]:
    """Return the slots of a link with cores that can be compared with ours."""
    return [slot for slot in WALKS.get(link, {}) if slot in SLOTS]


class LikeOurs:
    """Looks on at the user's cores of one run.

    judges: a difference is a violation, and cores walk; else it is a hint.
    Raises UserError where it is to judge a core that cannot be compared.
    """

    def __init__(self, link: str, seed: int, *, judges: bool) -> None:
        self.judges = judges
        self.found: list[tuple[str, int, Departure]] = []
        self._walks = WALKS.get(link, {})
        self._each = walks_each(link)
        self._streams = Streams(seed)
        self._walking: list[tuple[str, Factory]] = []
        self._env: Environment | None = None
        self._made: dict[str, int] = {}

    def beside(self, cores: ProtocolCores, foreign: Collection[str]) -> ProtocolCores:
        """Return factories that make each core of the user's with ours beside it."""
        made: dict[str, Factory] = {}
        for slot in foreign:
            walk = self._walks.get(slot)
            theirs = getattr(cores, slot)
            if slot == "store":
                made[slot] = self._store(theirs)
            elif walk is not None and walk.adapt is None:
                made[slot] = self._factory(slot, walk, theirs, getattr(OURS, slot))
            if walk is not None and self.judges:
                self._walking.append((slot, theirs))
        return replace(cores, **made)

    def begin(self, env: Environment) -> None:
        """Take the environment of the run, and let cores walk that no run has."""
        self.follow(env)
        walking, self._walking = self._walking, []
        for slot, theirs in walking:
            walk = self._walks[slot]
            for number in range(self._each * walk.times):
                pick = Pick(self._streams.stream(f"walk {slot}", number))
                found = walked(slot, walk, theirs, pick)
                if found is not None:
                    self._depart(slot, f"core {slot}, on a walk of its own", found)
                    break

    def follow(self, env: Environment) -> None:
        """Take the environment in which a part of the run continues."""
        self._env = env

    def rows(self, spec: RunSpec) -> list[ViolationRow]:
        """Return a violation for each slot with a difference, where this judges."""
        if not self.judges:
            return []
        return [
            spec.violation(DOES_AS_OURS, at_ns, one.says, story=one.story)
            for at_ns, one in self._firsts()
        ]

    def hints(self, until_ns: int) -> list[str]:
        """Return a line for each slot with a difference up to an instant."""
        return [
            f"first difference from ours, at {exact_text(at_ns)}: {one.says}"
            for at_ns, one in self._firsts()
            if at_ns <= until_ns
        ]

    def _firsts(self) -> Iterable[tuple[int, Departure]]:
        """Return the first difference of each slot; one of order only where there is no other."""
        firsts: dict[str, tuple[int, Departure]] = {}
        for slot, at_ns, one in sorted(self.found, key=lambda each: each[2].reordered):
            firsts.setdefault(slot, (at_ns, one))
        return firsts.values()

    def _depart(self, slot: str, name: str, found: Departure) -> None:
        now_ns = 0 if self._env is None else self._env.now
        self.found.append((slot, now_ns, replace(found, says=f"{name}: {found.says}")))

    def _store(self, factory: Factory) -> Factory:
        """Return what makes a store with our ingestion core beside each of the user's."""
        walk = self._walks["ingestion"]

        def make(*arguments: Any) -> Any:
            versions = factory(*arguments)
            parts = versions.client.parts
            ingestion = self._factory("store", walk, parts.ingestion, walk.make or parts.ingestion)
            versions.client.parts = replace(parts, ingestion=ingestion)
            return versions

        return make

    def _factory(self, slot: str, walk: Walk, theirs: Factory, ours: Factory) -> Factory:
        asked = DOORS[slot].questions if slot in DOORS else SLOTS[slot].offers
        questions = frozenset(("clock", *asked)) - {"step"}

        def make(*positional: Any, **named: Any) -> Any:
            # A list that a factory takes may become part of its core: each gets its own.
            given = [copy.copy(each) if isinstance(each, list) else each for each in positional]

            def anew(factory: Factory) -> Callable[[], Any]:
                own = [copy.copy(each) if isinstance(each, list) else each for each in given]
                return lambda: factory(*own, **named)

            number = self._made[slot] = self._made.get(slot, 0) + 1
            pair = Pair(slot, theirs(*positional, **named), anew(ours)())
            pick = Pick(self._streams.stream(f"beside {slot}", number))
            walks = Walks(anew(theirs), walk.rules(*given, **named), pick) if self.judges else None

            def depart(found: Departure) -> None:
                self._depart(slot, f"core {slot} {number}", found)

            return Alongside(
                pair, questions=questions, walks=walks, depart=depart, exact=self.judges
            )

        make.__wrapped__ = theirs  # type: ignore[attr-defined]  # for hosts that ask whose it is
        return make


def refuse_uncompared(link: str, slots: Collection[str]) -> None:
    """Raise UserError for a slot with cores that cannot be compared with ours."""
    known = compared(link)
    if not slots:
        raise UserError(f"--like-ours: found no core, expected --core with {', '.join(known)}")
    for slot in slots:
        if slot not in known:
            raise UserError(f"--like-ours: found slot {slot!r}, expected {', '.join(known)}")
