"""Explore every order of simultaneous events: a search over the decisions of a tie policy.

At each instant the entities that have something to do are put into an order. Each order that is
possible is tried once.  That is feasible for small worlds: an instant with n entities has n!
orders, and the orders of several instants multiply.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from ckptsim.sim.kernel.ties import Exhaustive

Outcome = TypeVar("Outcome")


class Exploration(Generic[Outcome]):
    """Runs again and again until every order of ties was taken, or `limit` runs are done.

    First the order of no decision, then those that depart from it at one decision, then at two, and
    so on: a search that is cut short has seen every small departure, wherever in the run it lies.
    Early and late decisions take turns.  Each order is taken once: it is reached from the one
    without its last departure.

    run: builds its environment with the policy that it is given, and does the same under the same
    policy.  `complete` says afterwards whether there was nothing left to try.

    Source: Musuvathi and Qadeer, Iterative context bounding for systematic testing of multithreaded
    programs, PLDI 2007. Emmi, Qadeer and Rakamaric, Delay-bounded scheduling, POPL 2011: most
    defects take few departures from one order.
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
    """Yield the decisions that depart once more, after the `given` ones, from both ends in turn.

    taken: each decision and how many choices it had. After the given ones the first was taken.
    """
    before = tuple(decision for decision, _ in taken)
    early, late = given, len(taken) - 1
    while early <= late:
        for number in (early, late) if early < late else (early,):
            for decision in range(1, taken[number][1]):
                yield (*before[:number], decision)
        early, late = early + 1, late - 1
