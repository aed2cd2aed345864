"""Liveness: run until nothing is pending, or say in one sentence who waits for whom.

The liveness phase begins when faults have stopped: whatever is pending has to complete or be
aborted within a bound.  Where it is not, the waits of that moment form a graph from each party to
the one that it waits for. A circle in it is a deadlock, else the longest chain is the explanation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ckptsim.sim.kernel.entity import KernelError
from ckptsim.sim.kernel.environment import Environment


@dataclass(frozen=True, slots=True)
class Wait:
    """One party that cannot continue.

    who: the waiting party. what: what it waits for, as it follows "waits for". whom: the party that
    could bring it about, or None when that is no one in particular.
    """

    who: str
    what: str
    whom: str | None = None

    def __str__(self) -> str:
        return f"{self.who} waits for {self.what}" + (f" from {self.whom}" if self.whom else "")


class SimulationStalled(KernelError):  # noqa: N818 - named after what happened
    """Work remains and nothing will do it. `waits` are the parties that cannot continue."""

    def __init__(self, sentence: str, waits: tuple[Wait, ...] = ()) -> None:
        super().__init__(sentence)
        self.waits = waits


def settle(
    env: Environment,
    *,
    pending: Callable[[], bool],
    waits: Callable[[], Iterable[Wait]],
    bound_ns: int,
) -> None:
    """Run on until nothing is pending any more, at most `bound_ns` from now.

    pending: whether work remains that has to complete or be aborted. waits: who waits for whom at
    that moment, asked only when the run has stalled. Raises SimulationStalled with one sentence
    when the calendar is empty or the bound has passed while work remains.
    """
    end = env.now + bound_ns
    while pending():
        following = env.peek()
        if following > end:
            found = tuple(waits())
            why = (
                "nothing is scheduled"
                if following == float("inf")
                else f"{bound_ns / 1e6:g} ms passed"
            )
            raise SimulationStalled(f"{why}, but work remains: {explain_waits(found)}", found)
        env.step()


def explain_waits(waits: Iterable[Wait]) -> str:
    """Return one sentence: the circle of waits if there is one, else the longest chain."""
    edges: dict[str, list[Wait]] = {}
    for wait in sorted(dict.fromkeys(waits), key=lambda w: (w.who, w.whom or "", w.what)):
        edges.setdefault(wait.who, []).append(wait)
    if not edges:
        return "Nothing waits."
    circle = _circle(edges)
    if circle is not None:
        return f"{_chain(circle)}: they wait for each other in a circle."
    chain = _longest(edges)
    whom = chain[-1].whom
    end = f"; {whom} itself waits for nothing, and does not act" if whom else ""
    rest = sum(map(len, edges.values())) - len(chain)
    more = f" ({rest} more {'wait' if rest > 1 else 'waits'} besides)" if rest else ""
    return f"{_chain(chain)}{end}{more}."


def _chain(waits: list[Wait]) -> str:
    first = waits[0]
    text = str(first)
    for wait in waits[1:]:
        text += f", which waits for {wait.what}" + (f" from {wait.whom}" if wait.whom else "")
    return text


def _circle(edges: dict[str, list[Wait]]) -> list[Wait] | None:
    """Return the shortest circle of waits, the alphabetically first among equals."""
    best: list[Wait] | None = None
    for start in _bound(edges):
        found = _path_back(edges, start)
        if found is not None and (best is None or len(found) < len(best)):
            best = found
    return best


def _bound(edges: dict[str, list[Wait]]) -> list[str]:
    """Return, in order, the parties that wait for a circle or are in one."""
    blocked = {who: sum(w.whom in edges for w in waits) for who, waits in edges.items()}
    waiters: dict[str, list[str]] = {}
    for who, waits in edges.items():
        for wait in waits:
            waiters.setdefault(wait.whom or "", []).append(who)
    free = [who for who, count in blocked.items() if count == 0]
    for gone in free:  # grows as it is read
        for who in waiters.get(gone, ()):
            blocked[who] -= 1
            if blocked[who] == 0:
                free.append(who)
    return [who for who, count in blocked.items() if count > 0]


def _path_back(edges: dict[str, list[Wait]], start: str) -> list[Wait] | None:
    """Return the shortest path of waits from a party back to itself, by breadth first."""
    paths: list[list[Wait]] = [[wait] for wait in edges[start]]
    seen: dict[str, None] = {}
    while paths:
        longer: list[list[Wait]] = []
        for path in paths:
            whom = path[-1].whom
            if whom == start:
                return path
            if whom is None or whom in seen:
                continue
            seen[whom] = None
            longer.extend([*path, wait] for wait in edges.get(whom, ()))
        paths = longer
    return None


def _longest(edges: dict[str, list[Wait]]) -> list[Wait]:
    """Return the longest chain of waits of a graph without circles."""
    # Per party: the length of its longest chain and that chain's first wait.  A party is settled
    # after all whom it waits for, with an explicit stack: a chain may be long.
    known: dict[str, tuple[int, Wait | None]] = {}
    for start in edges:
        stack = [start]
        while stack:
            who = stack[-1]
            waits = edges.get(who, [])
            open_ends = [w.whom for w in waits if w.whom is not None and w.whom not in known]
            if open_ends:
                stack.extend(open_ends)
                continue
            stack.pop()
            lengths = [(1 + known[w.whom][0] if w.whom is not None else 1) for w in waits]
            longest = max(lengths, default=0)
            known[who] = (longest, waits[lengths.index(longest)] if waits else None)
    chain: list[Wait] = []
    who = max(edges, key=lambda party: known[party][0])
    while who in known and (first := known[who][1]) is not None:
        chain.append(first)
        who = first.whom or ""
    return chain
