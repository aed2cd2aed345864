"""Explore every order of simultaneous events: a tie policy that takes decisions, and its search.

At each instant the entities that have something to do are put into an order; each order that is
possible is tried once.  That is feasible for small worlds: an instant with n entities has n!
orders, and the orders of several instants multiply.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from ckptsim.sim.kernel.entity import Entity
from ckptsim.sim.kernel.ties import TieKey

Outcome = TypeVar("Outcome")

# Keys of one instant are placed halfway between their neighbours; so many halvings are possible.
_SPAN = 1 << 4096


class Exhaustive:
    """Takes the given decisions, then the first choice each time, and notes what it could take.

    A decision is made when an entity is scheduled at an instant at which others are: 0 puts it
    behind them, n before the last n.  Kinds do not matter: what an entity does at an instant stays
    together.
    """

    def __init__(self, decisions: tuple[int, ...] = ()) -> None:
        self.name = "exhaustive" + (":" + ".".join(map(str, decisions)) if decisions else "")
        self.taken: list[tuple[int, int]] = []  # (decision, number of choices)
        self._given = decisions
        self._keys: dict[int, dict[int, int]] = {}  # instant -> entity's key -> tie key
        self._places: dict[int, list[int]] = {}  # instant -> tie keys in order

    def tie(self, time: int, kind: int, entity: Entity) -> TieKey:
        """Return the entity's key at this instant, deciding its place when it has none."""
        keys = self._keys.setdefault(time, {})
        if entity.key not in keys:
            places = self._places.setdefault(time, [])
            keys[entity.key] = key = self._place(places)
            insort(places, key)
        return keys[entity.key]

    def _place(self, places: list[int]) -> int:
        """Return a key behind, between or before those that are there."""
        decision = self._decide(len(places) + 1) if places else 0
        place = len(places) - decision
        low = places[place - 1] if place > 0 else -_SPAN
        high = places[place] if place < len(places) else _SPAN
        return (low + high) // 2

    def _decide(self, choices: int) -> int:
        number = len(self.taken)
        decision = min(self._given[number], choices - 1) if number < len(self._given) else 0
        self.taken.append((decision, choices))
        return decision


class Exploration(Generic[Outcome]):
    """Runs again and again until every order of ties was taken, or `limit` runs are done.

    First the order of no decision, then those that depart from it at one decision, then at two, and
    so on: a search that is cut short has seen every small departure, wherever in the run it lies.
    Early and late decisions take turns.  Each order is taken once: it is reached from the one
    without its last departure.

    run: builds its environment with the policy that it is given, and does the same under the same
    policy.  `complete` says afterwards whether there was nothing left to try.

    Source: Musuvathi and Qadeer, Iterative context bounding for systematic testing of
    multithreaded programs, PLDI 2007; Emmi, Qadeer and Rakamaric, Delay-bounded scheduling,
    POPL 2011: most defects take few departures from one order.
    """

    def __init__(self, run: Callable[[Exhaustive], Outcome], *, limit: int) -> None:
        self._run = run
        self._limit = limit
        self.complete = False

    def __iter__(self) -> Iterator[Outcome]:
        waiting: deque[Iterator[tuple[int, ...]]] = deque([iter([()])])
        runs = 0
        while waiting:
            for decisions in waiting[0]:
                if runs == self._limit:
                    return
                runs += 1
                ties = Exhaustive(decisions)
                yield self._run(ties)
                waiting.append(_departures(ties.taken, len(decisions)))
            waiting.popleft()
        self.complete = True


def _departures(taken: list[tuple[int, int]], given: int) -> Iterator[tuple[int, ...]]:
    """Yield the decisions that depart once more, behind the `given` ones, from both ends in turn.

    taken: each decision and how many choices it had; behind the given ones the first was taken.
    """
    before = tuple(decision for decision, _ in taken)
    early, late = given, len(taken) - 1
    while early <= late:
        for number in (early, late) if early < late else (early,):
            for decision in range(1, taken[number][1]):
                yield (*before[:number], decision)
        early, late = early + 1, late - 1
