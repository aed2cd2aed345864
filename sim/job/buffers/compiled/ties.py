"""Ties inside the kernel: keys in one word, in the order of the ones of Python's calendar.

A structural key is a name of any length, one of `pct` has 80 bits and more.  Keys are only compared
with each other, so a place among the kernel's own entities does for the name, or the priority: they
have the odd numbers, in their order, and whatever else Python has between two of them the even one
in the middle.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.compiled.columns import clock
from ckptsim.sim.job.buffers.compiled.random_streams import signed
from ckptsim.sim.kernel.entity import key_of
from ckptsim.sim.kernel.ties import STRUCTURAL, Pct, SeededRandom, TieKey, TiePolicy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory

_SIGN = 1 << 63
_WORD = (1 << 64) - 1
_KIND = 0xFFFF
# A word holds the number of a fall above 40 bits of the place and 16 of the kind.
_CHANGES_MAX = 62


def has_ties(policy: TiePolicy) -> bool:
    """Return whether the kernel has a tie policy."""
    if isinstance(policy, Pct):
        return len(policy.change_instants) <= _CHANGES_MAX
    return policy is STRUCTURAL or isinstance(policy, SeededRandom)


class KernelTies:
    """The tie policy of a run, as the kernel has it.

    entities: the ranks of the kernel's own.  ranks: of each its place. drawn: of each what the
    policy draws for it. changes: the change instants with their numbers, the latest first.
    """

    def __init__(self, policy: TiePolicy, entities: Sequence[bytes]) -> None:
        self._policy = policy
        self.changes: list[tuple[int, int]] = []
        self.drawn = [0] * len(entities)
        names: Sequence[bytes] | Sequence[int] = entities
        if isinstance(policy, SeededRandom):
            self.drawn = [signed(key_of(rank)) for rank in entities]
        elif isinstance(policy, Pct):
            instants = enumerate(policy.change_instants, 1)
            self.changes = sorted(((at, number) for number, at in instants), reverse=True)
            plans = [policy.plan(key_of(rank)) for rank in entities]
            self.drawn = [sum(1 << number for _, number in falls) for falls, _ in plans]
            names = [priority for _, priority in plans]
        self._order: list[bytes | int] = sorted(names)
        of_name = {name: 2 * place + 1 for place, name in enumerate(self._order)}
        self.ranks = [of_name[name] for name in names]
        self._keys: dict[TieKey, int] = {}

    def fill(self, m: Memory, changes: int) -> None:
        """Say what the policy is. changes: where there is room for its change instants."""
        end = changes + 2 * len(self.changes)
        m[clock.CHANGES], m[clock.END_CHANGES] = changes, end
        m[changes:end] = [word for change in self.changes for word in change]
        if isinstance(self._policy, SeededRandom):
            m[clock.TIES], m[clock.TIES_KEY] = clock.RANDOM, signed(self._policy.key)
        elif isinstance(self._policy, Pct):
            m[clock.TIES] = clock.PCT

    def key(self, tie: TieKey) -> int:
        """Return a key of Python's calendar as the kernel has it."""
        if isinstance(self._policy, SeededRandom):
            return tie - _SIGN  # type: ignore[operator]
        found = self._keys.get(tie)
        if found is None:
            found = self._keys[tie] = self._key(tie)
        return found

    def _key(self, tie: TieKey) -> int:
        if isinstance(tie, bytes):
            return (int.from_bytes(tie[:2]) << 40) | self._place(tie[2:])
        place = self._place((tie >> 16) & _WORD)
        return (tie >> 80 << 56) | (place << 16) | (tie & _KIND)

    def _place(self, name: bytes | int) -> int:
        place = bisect_left(self._order, name)
        mine = place < len(self._order) and self._order[place] == name
        return 2 * place + mine
