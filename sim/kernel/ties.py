"""Tie policies: in which order things happen that happen at the same instant.

A tie key is a pure function of (seed, time, kind, entity).  It never depends on earlier events. So
two programs of one model agree on every tie, even when one leaves out unobservable events.  Inside
one entity and kind the order is the causal one: first scheduled, first served.  The one exception
is `Exhaustive`, with keys from the order in which entities come to an instant. What it explores is
one program.

A time is that at which the entry is due, so a key can be asked for when the entry is made.

At each instant the entities that have something to do are put into an order. Each order that is
possible is tried once.  That is feasible for small worlds: an instant with n entities has n!
orders, and the orders of several instants multiply.
"""

from __future__ import annotations

import re
from bisect import insort
from collections import deque
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Generic, Protocol, TypeVar

from ckptsim.sim.kernel.entity import Entity

TieKey = bytes | int

_MASK = (1 << 64) - 1
# Keys of one instant under `Exhaustive` are placed halfway between their neighbours, which leaves
# room for 4096 halvings.
_SPAN = 1 << 4096
_INSTANTS = re.compile(r"\d{1,20}(?:\.\d{1,20})*", re.ASCII)
_DECISIONS = re.compile(r"\d{1,6}(?:\.\d{1,6})*", re.ASCII)


class TiePolicy(Protocol):
    """Orders simultaneous events. The smaller key goes first."""

    @property
    def name(self) -> str:
        """The text that `parse_ties` turns into this policy."""

    def tie(self, time: int, kind: int, entity: Entity) -> TieKey:
        """Return the key of an event of `kind` of `entity` at `time` (ns)."""


class Structural:
    """Orders by kind, then component, then index: what figures and reports use."""

    name = "structural"

    def tie(self, time: int, kind: int, entity: Entity) -> TieKey:
        """Return the structural rank, whatever the time."""
        return entity.ranks[kind]


class SeededRandom:
    """Orders the entities of every instant anew, at random: for finding bugs."""

    name = "random"

    def __init__(self, seed: int) -> None:
        self.key = derive_key(seed, "ties", "random")

    def tie(self, time: int, kind: int, entity: Entity) -> TieKey:
        """Return a 64-bit keyed hash of (time, kind, entity)."""
        # Multiply, fold, multiply, fold: each round carries every bit of the input into the upper
        # half and brings that half down again.  blake2b would be as random and ten times as slow,
        # and this is asked for every entry of the calendar.
        mixed = (self.key + time * 0x9E3779B97F4A7C15 + kind * 0xD1B54A32D192ED03) & _MASK
        mixed = ((mixed ^ (mixed >> 32) ^ entity.key) * 0xD6E8FEB86659FD93) & _MASK
        mixed = ((mixed ^ (mixed >> 32)) * 0xD6E8FEB86659FD93) & _MASK
        return mixed ^ (mixed >> 32)


class Pct:
    """Gives each entity one priority for the whole run and lowers some at a few random instants.

    Where `random` forgets at every instant, this keeps one entity after another for long, which is
    what bugs of a small depth need.  At each of the `depth - 1` change instants one entity in four
    falls after all others for the rest of the run.

    Source: Burckhardt, Kothari, Musuvathi, Nagarakatte, A Randomized Scheduler with Probabilistic
    Guarantees of Finding Bugs, ASPLOS 2010.  There change points are counted in steps. Here they
    are instants, because steps differ between two drivers of one model. They lie between 1 us and
    about 1 h, with even odds per power of two (an assumption).  So the paper's bound does not carry
    over.
    """

    _EXPONENT_MIN = 10
    _EXPONENT_COUNT = 32

    def __init__(self, seed: int, depth: int = 3) -> None:
        if depth < 1:
            raise ValueError(f"depth: found {depth}, expected 1 or more")
        self.name = "pct" if depth == 3 else f"pct:{depth}"
        self._seed = seed
        self.change_instants = tuple(self._instant(number) for number in range(depth - 1))
        self._plans: dict[int, tuple[tuple[tuple[int, int], ...], int]] = {}

    def tie(self, time: int, kind: int, entity: Entity) -> TieKey:
        """Return the entity's priority at `time`, then the kind."""
        # From the top: the number of its last fall up to `time`, 0 before any, which puts it after
        # all that have not fallen. 64 bits of the entity's own priority. 16 bits of the kind.
        plan = self._plans.get(entity.key)
        if plan is None:
            plan = self._plans[entity.key] = self.plan(entity.key)
        falls, priority = plan
        band = 0
        for instant, number in falls:
            if time >= instant:
                band = number
                break
        return (band << 80) | (priority << 16) | kind

    def _instant(self, number: int) -> int:
        bits = derive_key(self._seed, "ties", "pct", "instant", number)
        exponent = self._EXPONENT_MIN + bits % self._EXPONENT_COUNT
        return (1 << exponent) + (bits >> 8) % (1 << exponent)

    def plan(self, key: int) -> tuple[tuple[tuple[int, int], ...], int]:
        """Return an entity's falls (instant, number), latest first, and its first priority."""
        falls = [
            (instant, number + 1)
            for number, instant in enumerate(self.change_instants)
            if derive_key(self._seed, "ties", "pct", "fall", number, key) % 4 == 0
        ]
        priority = derive_key(self._seed, "ties", "pct", "priority", key)
        return tuple(sorted(falls, reverse=True)), priority


class AtInstants:
    """Orders some instants as another policy does, and all others structurally."""

    def __init__(self, inner: TiePolicy, instants: tuple[int, ...]) -> None:
        self.name = f"{inner.name}@{'.'.join(map(str, instants))}"
        self._inner = inner
        self._instants = frozenset(instants)

    def tie(self, time: int, kind: int, entity: Entity) -> TieKey:
        """Return the other policy's key at its instants, the structural rank at all others."""
        if time in self._instants:
            return self._inner.tie(time, kind, entity)
        return entity.ranks[kind]


class Noting:
    """Orders as another policy does, and notes the instants that several entities share."""

    def __init__(self, inner: TiePolicy) -> None:
        self.name = inner.name
        self._inner = inner
        self._first: dict[int, int] = {}  # instant -> key of the entity that came first
        self.shared: dict[int, None] = {}

    def tie(self, time: int, kind: int, entity: Entity) -> TieKey:
        """Return the other policy's key."""
        if self._first.setdefault(time, entity.key) != entity.key:
            self.shared[time] = None
        return self._inner.tie(time, kind, entity)


class Exhaustive:
    """Takes the given decisions, then the first choice each time, and notes what it could take.

    A decision is made when an entity is scheduled at an instant at which others are: 0 puts it
    after them, n before the last n.  Kinds do not matter: what an entity does at an instant stays
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
        """Return a key after, between or before those that are there."""
        # The middle of the gap that was chosen, so that keys that were given out stay as they are:
        # entries with them are in the calendar already.
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


STRUCTURAL = Structural()


def parse_ties(text: str, seed: int) -> TiePolicy:
    """Return the policy that `structural`, `random`, `pct`, `pct:DEPTH` or `exhaustive` names.

    `exhaustive:0.2.1` takes these decisions and then the first choice each time. `random@5.9` and
    `pct@5.9` order the instants 5 ns and 9 ns alone.  Raises ValueError for any other text.
    """
    policy, at, instants = text.partition("@")
    if at and policy.startswith(("random", "pct")) and _INSTANTS.fullmatch(instants):
        return AtInstants(parse_ties(policy, seed), tuple(map(int, instants.split("."))))
    name, colon, rest = text.partition(":")
    if text == "structural":
        return STRUCTURAL
    if text == "random":
        return SeededRandom(seed)
    if name == "pct" and (not colon or (rest.isascii() and rest.isdigit() and int(rest) > 0)):
        return Pct(seed, int(rest) if colon else 3)
    if name == "exhaustive" and (not colon or _DECISIONS.fullmatch(rest)):
        return Exhaustive(tuple(map(int, rest.split("."))) if colon else ())
    raise ValueError(
        f"ties: found {text!r}, expected structural, random, pct, pct:DEPTH or exhaustive"
    )


def derive_key(*parts: int | str) -> int:
    """Return a 64-bit hash of the parts. Different parts give independent-looking keys."""
    text = "\0".join(f"{type(part).__name__}:{part}" for part in parts)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


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
