"""The calendar: the one place where the order of events is decided.

It is a heap of `(time, priority, tie key, sequence, item)`, compared from left to right:

* time: simulated ns, a plain `int`.
* priority: SimPy's URGENT before NORMAL at one instant.  URGENT is what starts and interrupts a
  process. A policy must not put anything before that.  `BEHIND` comes last, whatever the policy:
  for what no one can see unless something else happens at that instant.
* tie key: what the tie policy says of (time, kind, entity), a pure function.  All keys of one
  calendar and priority are of one type, `bytes` of the structural policy or `int` of any other.
  `BEHIND` has structural ones always, since no policy is asked.
* sequence: a number that no other entry has, so the item after it is never compared.  It decides
  inside one entity only, where it is causal order: first scheduled, first served.  Two entities
  never have one tie key at one instant (where keys are hashes: except for a collision of 64 bits),
  so how many entries of others were made in between shifts nothing.

An item is a SimPy event, or a `Timer`, which is called without an event around it.  Nothing is ever
taken out of the middle of the heap: a timer that is cancelled or armed anew leaves its entry after
as stale, and the loop skips that when it comes up (`Environment._loop`).
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappush
from typing import TYPE_CHECKING, Any

from simpy.events import NORMAL

from ckptsim.sim.kernel.entity import Entity, refused_time
from ckptsim.sim.kernel.ties import STRUCTURAL, TiePolicy

if TYPE_CHECKING:
    from ckptsim.sim.kernel.environment import Environment

BEHIND = NORMAL + 1

# (time, priority, kind, entity, item) -> the entry's sequence number
Push = Callable[[int, int, int, Entity, Any], int]


def calendar_push(queue: list[Any], ties: TiePolicy, number: Callable[[], int]) -> Push:
    """Return the function that enters an event into the calendar. `number` gives sequences."""
    # Closures over local names: an attribute less to look up for each event makes this as cheap as
    # SimPy's own `schedule`.  The two differ in nothing but the call of a policy, which the
    # structural one can do without, because its keys are the same at all times.
    tie = ties.tie

    def push_structural(time: int, priority: int, kind: int, entity: Entity, item: Any) -> int:
        count = number()
        heappush(queue, (time, priority, entity.ranks[kind], count, item))
        return count

    def push(time: int, priority: int, kind: int, entity: Entity, item: Any) -> int:
        count = number()
        heappush(queue, (time, priority, tie(time, kind, entity), count, item))
        return count

    return push_structural if ties is STRUCTURAL else push


class Timer:
    """A callback with one calendar entry that can be armed again and again."""

    # At most one entry of a timer counts: the one with the sequence in the timer.  So arming anew
    # and cancelling are one assignment each, and the entry that was made before is stale from then
    # on.  The loop clears the sequence before it calls the function, which may arm the timer again.
    __slots__ = ("_rank", "arguments", "entity", "env", "function", "kind", "sequence")

    def __init__(
        self,
        env: Environment,
        kind: int,
        entity: Entity,
        function: Callable[..., object],
        arguments: tuple[Any, ...] = (),
        *,
        due: int | None = None,
    ) -> None:
        self.env = env
        self.kind = kind
        self.entity = entity
        self.function = function
        self.arguments = arguments
        # Its tie key, where that is the same at all times. Never empty, so `or` may ask for it.
        self._rank = entity.ranks[kind] if env.ties is STRUCTURAL else None
        self.sequence = 0  # of the entry that counts. Numbers begin at 1, so 0 is the one of none
        if due is not None:  # as `arm_at`, spelt out: every buffer on its way is one such call
            tie = self._rank or env.ties.tie(due, kind, entity)
            self.sequence = number = env.number()
            heappush(env._queue, (due, NORMAL, tie, number, self))  # noqa: SLF001

    @property
    def armed(self) -> bool:
        """Whether the timer will fire."""
        return self.sequence != 0

    def arm_at(self, time: int) -> None:
        """Fire at `time` (ns). An earlier arming is forgotten."""
        env = self.env
        if time.__class__ is not int or time < env._now:  # noqa: SLF001
            raise refused_time("time", time, env.now)
        tie = self._rank or env.ties.tie(time, self.kind, self.entity)
        self.sequence = number = env.number()
        heappush(env._queue, (time, NORMAL, tie, number, self))  # noqa: SLF001

    def arm_behind(self, time: int) -> None:
        """Fire at `time` (ns), after all else that happens then. An earlier arming is forgotten.

        It makes no tie.  Anyone who finds that it can be seen, because something else happened at
        that instant or before, arms the timer anew, at its place among ties.
        """
        env = self.env
        self.sequence = number = env.number()
        entry = (time, BEHIND, self.entity.ranks[self.kind], number, self)
        heappush(env._queue, entry)  # noqa: SLF001

    def arm_in(self, delay: int) -> None:
        """Fire after `delay` ns. An earlier arming is forgotten."""
        if delay.__class__ is not int or delay < 0:
            raise refused_time("delay", delay, 0)
        self.arm_at(self.env._now + delay)  # noqa: SLF001

    def cancel(self) -> None:
        """Do not fire. The entry in the calendar is skipped when its time comes."""
        self.sequence = 0
