"""Tie policies: in which order things happen that happen at the same instant.

A tie key is a pure function of (seed, time, kind, entity).  It never depends on how many events
were scheduled before, so two programs of one model agree on every tie even when one of them leaves
out events that cannot be observed.  Inside one entity and kind the order is the causal one: first
scheduled, first served.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Protocol

from ckptsim.sim.kernel.entity import Entity

TieKey = bytes | int

_MASK = (1 << 64) - 1


class TiePolicy(Protocol):
    """Orders simultaneous events; the smaller key goes first."""

    @property
    def name(self) -> str:
        """The text that `parse_ties` turns into this policy."""
        ...

    def tie(self, time: int, kind: int, entity: Entity) -> TieKey:
        """Return the key of an event of `kind` of `entity` at `time` (ns)."""
        ...


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
        self._key = derive_key(seed, "ties", "random")

    def tie(self, time: int, kind: int, entity: Entity) -> TieKey:
        """Return a 64-bit keyed hash of (time, kind, entity)."""
        mixed = (self._key + time * 0x9E3779B97F4A7C15 + kind * 0xD1B54A32D192ED03) & _MASK
        mixed = ((mixed ^ (mixed >> 32) ^ entity.key) * 0xD6E8FEB86659FD93) & _MASK
        mixed = ((mixed ^ (mixed >> 32)) * 0xD6E8FEB86659FD93) & _MASK
        return mixed ^ (mixed >> 32)


class Pct:
    """Gives each entity one priority for the whole run and lowers some at a few random instants.

    Where `random` forgets at every instant, this keeps one entity behind another for long, which
    is what bugs of a small depth need.  At each of the `depth - 1` change instants one entity in
    four falls behind all others for the rest of the run.

    Source: Burckhardt, Kothari, Musuvathi, Nagarakatte, A Randomized Scheduler with Probabilistic
    Guarantees of Finding Bugs, ASPLOS 2010.  There change points are counted in steps; here they
    are instants, from 1 us to about 1 h with even odds per power of two (an assumption), because
    steps are not the same in two drivers of one model.  So the paper's bound does not carry over.
    """

    _EXPONENT_MIN = 10
    _EXPONENT_COUNT = 32

    def __init__(self, seed: int, depth: int = 3) -> None:
        if depth < 1:
            raise ValueError(f"depth: found {depth}, expected 1 or more")
        self.name = "pct" if depth == 3 else f"pct:{depth}"
        self._seed = seed
        self.change_instants = tuple(self._instant(number) for number in range(depth - 1))
        # Per entity: (fall instants with their number, latest first; base priority).
        self._falls: dict[int, tuple[tuple[tuple[int, int], ...], int]] = {}

    def tie(self, time: int, kind: int, entity: Entity) -> TieKey:
        """Return the entity's priority at `time`, then the kind."""
        plan = self._falls.get(entity.key)
        if plan is None:
            plan = self._falls[entity.key] = self._plan(entity)
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

    def _plan(self, entity: Entity) -> tuple[tuple[tuple[int, int], ...], int]:
        falls = [
            (instant, number + 1)
            for number, instant in enumerate(self.change_instants)
            if derive_key(self._seed, "ties", "pct", "fall", number, entity.key) % 4 == 0
        ]
        priority = derive_key(self._seed, "ties", "pct", "priority", entity.key)
        return tuple(sorted(falls, reverse=True)), priority


STRUCTURAL = Structural()


def derive_key(*parts: int | str) -> int:
    """Return a 64-bit hash of the parts; different parts give independent-looking keys."""
    text = "\0".join(f"{type(part).__name__}:{part}" for part in parts)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
