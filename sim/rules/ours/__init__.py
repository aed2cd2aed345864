"""Our own core beside one that is not ours: the same events, and the first difference."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ckptsim.models.store.ingestion import PartitionIngestion
from ckptsim.scenarios.dialect import exact_text
from ckptsim.sim.kernel import Streams
from ckptsim.sim.rows import ViolationRow
from ckptsim.sim.rules.beside import instead_of, with_ingestion
from ckptsim.sim.rules.ours.pair import Alongside, Departure, Pair, Walks
from ckptsim.sim.rules.ours.walker import Memory, Walker, events_of
from ckptsim.sim.rules.words import value_words
from ckptsim.sim.run_spec import RunSpec, Watch
from ckptsim.sim.slots import OURS, SLOTS, Factory, ProtocolCores
from ckptsim.sim.slots.process.codec import DOORS

DOES_AS_OURS = "a_core_does_as_ours"


class LikeOurs(Watch):
    """Looks on at the user's cores of one run. judges: a difference is a violation, else a hint."""

    def __init__(self, seed: int, *, judges: bool) -> None:
        self.judges = judges
        self.found: list[tuple[str, int, Departure]] = []
        self._streams = Streams(seed)
        self._memories: dict[str, Memory] = {}
        self._made: dict[str, int] = {}

    def beside(self, cores: ProtocolCores, foreign: Collection[str]) -> ProtocolCores:
        """Return factories that make each core of the user's with ours beside it."""
        made: dict[str, Factory] = {}
        for slot in foreign:
            theirs = getattr(cores, slot)
            if slot == "store":
                ingestion = partial(
                    self._factory, "ingestion", ours=PartitionIngestion, slot="store"
                )
                made[slot] = with_ingestion(theirs, ingestion)
            elif hasattr(OURS, slot):
                make = self._rule if SLOTS[slot].is_rule else self._factory
                made[slot] = make(slot, theirs, getattr(OURS, slot))
        return replace(cores, **made)

    def rows(self, spec: RunSpec) -> list[ViolationRow]:
        """Return a violation for each slot with a difference, where this judges."""
        if not self.judges:
            return []
        return [
            spec.violation(DOES_AS_OURS, at_ns, one.says, story=one.story)
            for at_ns, one in self._firsts()
        ]

    def hints(self, row: ViolationRow) -> list[str]:
        """Return a line for each slot with a difference up to a violation of another property."""
        return [
            f"first difference from ours, at {exact_text(at_ns)}: {one.says}"
            for at_ns, one in self._firsts()
            if at_ns <= row.at_ns and row.property != DOES_AS_OURS
        ]

    def _firsts(self) -> Iterable[tuple[int, Departure]]:
        """Return the first difference of each slot. One of order only where there is no other."""
        firsts: dict[str, tuple[int, Departure]] = {}
        for slot, at_ns, one in sorted(self.found, key=lambda each: each[2].reordered):
            firsts.setdefault(slot, (at_ns, one))
        return firsts.values()

    def _depart(self, slot: str, name: str, found: Departure) -> None:
        self.found.append((slot, self.now_ns, replace(found, says=f"{name}: {found.says}")))

    def _factory(self, core: str, theirs: Factory, ours: Factory, slot: str = "") -> Factory:
        """Return what makes a user's core with ours beside it. slot: if it has another name."""
        slot = slot or core
        memory = self._memories.setdefault(core, Memory())

        def make(*positional: Any, **named: Any) -> Any:
            # A list that a factory takes may become part of its core: each gets its own.
            given = [copy.copy(each) if isinstance(each, list) else each for each in positional]

            def anew(factory: Factory) -> Callable[[], Any]:
                own = [copy.copy(each) if isinstance(each, list) else each for each in given]
                return lambda: factory(*own, **named)

            number = self._made[slot] = self._made.get(slot, 0) + 1
            beside = anew(ours)()
            pair = Pair(slot, theirs(*positional, **named), beside)
            events, walks = events_of(beside), None
            if events is not None and self.judges:
                for name, value in _arguments(slot, given, named):
                    memory.value(name, value)
                stream = self._streams.stream(f"beside {slot}", number)
                walker = Walker(core, events, memory, stream)
                walks = Walks(anew(theirs), walker, stream, lambda: self.now_ns)
            questions = None if events is None else _questions(slot)

            def depart(found: Departure) -> None:
                self._depart(slot, f"core {slot} {number}", found)

            return Alongside(
                pair, questions=questions, walks=walks, depart=depart, exact=self.judges
            )

        return instead_of(theirs, make)

    def _rule(self, slot: str, theirs: Factory, ours: Factory) -> Factory:

        def decide(*positional: Any, **named: Any) -> Any:
            answer, ours_answers = theirs(*positional, **named), ours(*positional, **named)
            if answer != ours_answers:
                says, instead = value_words(answer), value_words(ours_answers)
                self._depart(slot, f"core {slot}", Departure(f"it answers {says}; ours: {instead}"))
            return answer

        return decide


def _questions(slot: str) -> frozenset[str]:
    asked = DOORS[slot].questions if slot in DOORS else SLOTS[slot].offers
    return frozenset(("clock", *asked)) - {"step"}


def _arguments(
    slot: str, positional: Sequence[Any], named: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    names = DOORS[slot].arguments if slot in DOORS else {}
    yield from zip(names, positional, strict=False)
    yield from named.items()
