"""Who owns the store: the process that runs, and those before it that live on.

A process that is taken over is paused, with a sync of each partition that it would write next.  It
wakes some time after its successor has begun, and writes.  Whether the store lets it is decided by
the core in slot `fence`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from ckptsim.models.store import Step, StepContent, TopicPartition
from ckptsim.models.store.fence import (
    AcceptWrite,
    FenceEvent,
    GrantEpoch,
    OwnerStarted,
    RefuseWrite,
    WriteRequested,
)
from ckptsim.sim.store.vocabulary import KIND_OUTSIDE

if TYPE_CHECKING:
    from ckptsim.scenarios.store import Takeover
    from ckptsim.sim.store.world import StoreWorld


@dataclass(frozen=True, slots=True, kw_only=True)
class LateStep:
    """A step of a sync that an owner has not carried out: its rows are of `first` to `position`."""

    key: TopicPartition
    part: StepContent
    first: int
    position: int
    step: Step


@dataclass(frozen=True, slots=True)
class _Owner:
    number: int
    epoch: int


@dataclass(frozen=True, slots=True)
class _Paused:
    """An owner that was taken over: how long it lives on, and what it will write."""

    owner: _Owner
    lives_on_ns: int
    steps: tuple[tuple[LateStep, ...], ...]


class Owners:
    """The owners of the store of one run.

    written: of each partition, what an owner wrote last after another one had begun.
    """

    def __init__(self, world: StoreWorld) -> None:
        self._world = world
        self._env = world.env
        self._fence = world.spec.cores.fence()
        self._entity = world.env.entity("old owner")
        self._owner = _Owner(0, 0)
        self._paused: list[_Paused] = []
        self._awake = 0
        self.written: dict[TopicPartition | None, str] = {}

    @property
    def over(self) -> bool:
        """Return whether no old owner is still to write."""
        return not self._paused and not self._awake

    def begin(self, number: int) -> None:
        """Let a process own the store from now on."""
        self._owner = _Owner(number, 0)
        self._ask(OwnerStarted(owner=number))

    def permits(self, key: TopicPartition, part: StepContent, position: int) -> bool:
        """Return whether the process that runs may make a step durable."""
        return self._accepts(self._owner, key, part, position)

    def take_over(self, fault: Takeover) -> None:
        """Let the process be taken for dead, and replaced.  It lives on."""
        process = self._world.process
        if not process.up or process.paused or process.stopping:
            return
        drainers = list(self._world.drainers.values())
        steps = (drainer.pause(begun=fault.begun) for drainer in drainers)
        paused = _Paused(self._owner, fault.lives_on_ns, tuple(each for each in steps if each))
        self._env.trace.record("taken_over", process.entity, self._owner.number)
        self._env.goals.reach("taken_over")
        self._paused.append(paused)
        process.crash("its successor takes over")

    def successor_begins(self) -> None:
        """Let those that were taken over wake some time after their successor has begun."""
        for paused in self._paused:
            self._awake += 1
            self._env.call_in(
                paused.lives_on_ns, KIND_OUTSIDE, self._entity, self._write_late, paused
            )
        self._paused = []

    def _write_late(self, paused: _Paused) -> None:
        self._awake -= 1
        for steps in paused.steps:
            for late in steps:
                if not self._write(paused.owner, late):
                    break  # an owner that is refused stops
        self._world.caught_up()

    def _write(self, owner: _Owner, late: LateStep) -> bool:
        """Let an old owner write a step, and return whether the store accepts it."""
        world, key = self._world, late.key
        if key.topic in world.dropped or not world.client.topics.knows(key.topic):
            return False
        what = late.part.name.lower()
        accepted = self._accepts(owner, key, late.part, late.position)
        outcome = "accepts" if accepted else "refuses"
        fields = (owner.number, what, str(key), late.position, outcome)
        self._env.trace.record("late_write", self._entity, *fields)
        self._env.goals.reach("late_write_accepted" if accepted else "late_write_refused")
        if accepted:
            says = f"owner {owner.number}, replaced before, writes {what} up to {late.position}"
            self.written[key] = says
            world.act(key)
            world.client.medium.commit(late.step)
            world.properties.on_late_step(late)
        return accepted

    def _accepts(
        self, owner: _Owner, key: TopicPartition, part: StepContent, position: int
    ) -> bool:
        return self._ask(
            WriteRequested(
                owner=owner.number,
                epoch=owner.epoch,
                partition=str(key),
                part=part,
                position=position,
            )
        )

    def _ask(self, event: FenceEvent) -> bool:
        """Hand an event to the core, and return whether it has accepted a write."""
        accepted = False
        for effect in self._fence.step(event):
            match effect:
                case GrantEpoch():
                    self._owner = _Owner(effect.owner, effect.epoch)
                case AcceptWrite():
                    accepted = True
                case RefuseWrite():
                    pass
                case _:
                    assert_never(effect)
        return accepted
