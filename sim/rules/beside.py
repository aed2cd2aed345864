"""Judges beside a core in a run, by the exchange between the core and its host.

Duties of hosts are judged here: a host of ours must carry out what its core asked for.

Barrier handler, subtask and lifecycle are judged one by one by `duties.py`.  Between them is their
host, which passes decisions on: it can forget one, pass it on twice, or make one up.  Here the same
account is kept over all cores of one task.

A handler's effects after a refused StartInput are not carried out. No one owes them any more.
"""

from __future__ import annotations

import copy
import pickle
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.subtask import events as subtask_events
from ckptsim.models.lifecycle import effects as lifecycle_effects
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.sim.kernel import Environment
from ckptsim.sim.rows import ViolationRow
from ckptsim.sim.rules.duties import DUTIES, Duties, Key
from ckptsim.sim.rules.words import STORY, Answer, answer_words, event_words
from ckptsim.sim.run_spec import RunSpec, Watch
from ckptsim.sim.slots import Factory, ProtocolCores

# Effect of one core -> what another has to hear at once.
_AT_ONCE: Mapping[type, Callable[[Any], Key]] = {
    handler_events.InitializeInput: lambda effect: ("the beginning of", effect.barrier),
    handler_events.AllBarriersReceived: lambda effect: ("the whole input of", effect.checkpoint),
    handler_events.AbortCheckpoint: lambda effect: (
        "the abort of",
        effect.checkpoint,
        effect.reason,
    ),
    subtask_events.SnapshotOperators: lambda effect: ("the snapshot of", effect.barrier.checkpoint),
}
# Effect or event of one core -> what another learns at some time. A trigger comes by remote call,
# from the handler, or both.
_LATER: Mapping[type, Callable[[Any], Key]] = {
    handler_events.TriggerCheckpoint: lambda effect: ("the trigger of", effect.barrier.checkpoint),
    handler_events.ChannelEnded: lambda event: ("the end of channel", event.channel),
    lifecycle_events.CheckpointTriggered: lambda event: ("the trigger of", event.checkpoint_id),
    lifecycle_events.StopWithSavepointTriggered: lambda event: (
        "the trigger of",
        event.checkpoint_id,
    ),
}
_BY_REMOTE_CALL = (
    lifecycle_events.CheckpointTriggered,
    lifecycle_events.StopWithSavepointTriggered,
)
# Event -> what it is heard of.
_HEARD: Mapping[type, Callable[[Any], Key]] = {
    subtask_events.InputReceived: lambda event: ("the whole input of", event.checkpoint),
    subtask_events.CheckpointAborted: lambda event: (
        "the abort of",
        event.checkpoint,
        event.reason,
    ),
    subtask_events.AbortNotified: lambda event: ("the notified abort of", event.checkpoint),
    subtask_events.CheckpointTriggered: lambda event: ("the trigger of", event.barrier.checkpoint),
    lifecycle_events.CheckpointPerformed: lambda event: ("the snapshot of", event.checkpoint_id),
}


class JointDuties(Duties):
    """Of the host of one task. Its cores' own timers and answers are not looked at here.

    channels: that are open at the beginning. None at a source, which has no handler and is notified
    of checkpoints by its host alone.  over: one of the cores is left alone, so that what it is
    reported is not known any more.
    """

    def __init__(self, *, channels: int | None) -> None:
        super().__init__(exact=False)
        self.over = False
        self._channels = channels
        self._aborting: int | None = None  # from the last news to the lifecycle

    def event(self, now_ns: int, event: Any) -> str | None:
        """Take an event that comes to one of the cores. Return the problems of it."""
        return None if self.over else super().event(now_ns, event)

    def effects(self, now_ns: int, effects: Iterable[Any]) -> None:
        """Take what a core asks for. A task that fails at a notification passes it on no more."""
        effects = list(effects)
        aborting, self._aborting = self._aborting, None
        fails = any(isinstance(effect, lifecycle_effects.FailTask) for effect in effects)
        if aborting is not None and not fails:
            self.want(now_ns, "the notified abort of", aborting, at_once=True)
        super().effects(now_ns, effects)

    def _come(self, now_ns: int, event: Any) -> str | None:
        if isinstance(event, handler_events.ChannelEnded) and self._channels is not None:
            self._channels -= 1
        # While channels are open a trigger represents their barriers: their handler passes it on.
        if type(event) in _LATER and not (self._channels and type(event) in _BY_REMOTE_CALL):
            self.want(now_ns, *_LATER[type(event)](event))
        if type(event) in _HEARD:
            return self.answer(*_HEARD[type(event)](event))
        match event:
            case handler_events.InputRefused():
                self._at_once.clear()
            case lifecycle_events.CheckpointAborted():
                self._aborting = event.checkpoint_id
            case subtask_events.CheckpointInitialized() if not event.all_received:
                return self.answer("the beginning of", event.barrier)
            case lifecycle_events.EndOfPartitionReceived() if self._channels is not None:
                return self.answer("the end of channel", event.channel)
        return None

    def _ask(self, now_ns: int, effect: Any) -> None:
        if type(effect) in _AT_ONCE:
            self.want(now_ns, *_AT_ONCE[type(effect)](effect), at_once=True)
        elif type(effect) in _LATER:
            self.want(now_ns, *_LATER[type(effect)](effect))


DOES_ITS_DUTY = "a_host_does_its_duty"


class HostDuties(Watch):
    """The duties of the hosts of one run (link, seed). A host is left alone after it failed."""

    def __init__(self, link: str, seed: int) -> None:
        del link, seed
        self._failed: list[tuple[int, str, tuple[str, ...]]] = []
        self._count = 0

    def beside(self, cores: ProtocolCores, foreign: Collection[str]) -> ProtocolCores:
        """Return factories that make each core of ours with the duties of its host beside it."""
        slots = [slot for slot in DUTIES if hasattr(cores, slot) and slot not in foreign]
        made = {slot: self._factory(slot, getattr(cores, slot)) for slot in slots}
        if hasattr(cores, "store") and "store" not in foreign:
            made["store"] = with_ingestion(cores.store, partial(self._factory, "ingestion"))
        return replace(cores, **made)

    def follow(self, env: Environment) -> None:
        """Take the environment in which the run, or a part of it, continues."""
        super().follow(env)
        env.witness = self._witnessed

    def rows(self, spec: RunSpec) -> list[ViolationRow]:
        """Return a violation for each host that failed in a duty, with the events before it."""
        return [
            spec.violation(DOES_ITS_DUTY, at_ns, says, story=story)
            for at_ns, says, story in self._failed
        ]

    def fails(self, says: str, story: Sequence[str]) -> None:
        """Note that a host has failed in a duty."""
        self._failed.append((self.now_ns, says, tuple(story)))

    def _factory(self, slot: str, factory: Factory) -> Factory:
        def make(*positional: Any, **named: Any) -> Any:
            return self._made(slot, factory(*positional, **named))

        return instead_of(factory, make)

    def _made(self, slot: str, core: Any) -> Any:
        self._count += 1
        return Owed(core, DUTIES[slot](), f"{slot} {self._count}", self)

    def _witnessed(self, name: str, core: Any, *made_of: Any) -> Any:
        del made_of
        if name != "task":
            return self._made(name, core) if name in DUTIES else core
        made = [one for one in (core.handler, core.subtask, core.lifecycle) if one is not None]
        # One that is not heard, a user's, would leave what the others wait for unexplained.
        if all(isinstance(each, Owed) for each in made):
            joint = JointDuties(channels=core.handler and core.handler.open_channels)
            for each in made:
                each.belongs_to(joint)
        return core


def instead_of(factory: Factory, make: Factory) -> Factory:
    """Return what makes cores in the place of a factory, for hosts that ask for their owner."""
    make.__wrapped__ = factory  # type: ignore[attr-defined]
    return make


def with_ingestion(factory: Factory, beside: Callable[[Factory], Factory]) -> Factory:
    """Return what makes a store with ingestion cores that have something beside them."""

    def make(*arguments: Any) -> Any:
        versions = factory(*arguments)
        parts = versions.client.parts
        versions.client.parts = replace(parts, ingestion=beside(parts.ingestion))
        return versions

    return make


class Proxy:
    """A core as its host sees it. All that its host asks and that is not here goes to the core."""

    __slots__ = ("_core",)
    _core: Any

    @property  # type: ignore[misc]  # as mock objects with a spec do
    def __class__(self) -> Any:
        """Return the core's class."""
        return self._core.__class__

    def __getattr__(self, name: str) -> Any:
        """Return the attribute of the core."""
        return getattr(self._core, name)


class Owed(Proxy):
    """A core with the duties of its host, alone and with the other cores of its task."""

    __slots__ = ("_duties", "_joint", "_name", "_story", "_watch")

    def __init__(self, core: Any, duties: Duties, name: str, watch: HostDuties) -> None:
        self._core = core
        self._duties: Duties | None = duties
        self._joint: JointDuties | None = None
        self._name = name
        self._watch = watch
        self._story: deque[tuple[Any, Answer]] = deque(maxlen=STORY)

    def belongs_to(self, joint: JointDuties) -> None:
        """Judge its host by what it owes this and other cores together, too."""
        self._joint = joint

    def step(self, event: Any) -> Any:
        """Judge what the host sends, and note what the core asks for."""
        if self._duties is None:
            return self._core.step(event)
        now_ns = self._watch.now_ns
        for duties in (self._duties, self._joint):
            wrong = None if duties is None else duties.event(now_ns, event)
            if wrong is not None:
                self._fails(wrong)
                return self._core.step(event)
        effects = self._core.step(event)
        self._story.append((event, tuple(effects)))
        self._duties.effects(now_ns, effects)
        if self._joint is not None:
            self._joint.effects(now_ns, effects)
        return effects

    def _fails(self, wrong: str) -> None:
        self._duties = None
        if self._joint is not None:
            self._joint.over = True
        says = f"the host of core {self._name}: {wrong}"
        story = [f"{event_words(one)}: {answer_words(what)}" for one, what in self._story]
        self._watch.fails(says, story)


def copied(core: Any) -> Any:
    """Return a copy. One that holds functions of its host is made in the slower way."""
    try:
        return pickle.loads(pickle.dumps(core, pickle.HIGHEST_PROTOCOL))  # noqa: S301 - ours
    except (pickle.PicklingError, AttributeError, TypeError):
        return copy.deepcopy(core)
