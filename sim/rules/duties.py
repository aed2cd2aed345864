"""What a host owes the core that it drives: answers, each once and to the request, and timers.

A host is judged here by nothing but the effects that its core has given and the events that have
come since.  Three things can be asked of a host:

* an answer: it comes at most once, and not after the core has taken back what it asked for.
* an answer at once: it comes before simulated time advances.
* a timer: it fires once, at its instant where nothing is between it and the core, else no earlier,
  and not after it was cancelled.  A timer that has run out has posted a mail, and cancelling does
  not take that back: one that is cancelled at or after its instant may still fire.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from operator import attrgetter
from typing import Any, Self

from ckptsim.models.barriers import channel_state as writer_events
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.subtask import events as subtask_events
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.models.ordering import events as ordering_events
from ckptsim.models.ordering.source import FailFeed
from ckptsim.models.recovery import detection, failover
from ckptsim.models.store.ingestion import events as ingestion_events
from ckptsim.scenarios.dialect import duration_text
from ckptsim.sim.rules.words import event_words

Key = tuple[object, ...]
"""What was asked for, in words and numbers."""


class Duties:
    """What one host owes the core of a slot. exact: timers fire at their instant."""

    def __init__(self, slot: str = "", *, exact: bool = True) -> None:
        self.exact = exact
        self._table = _TABLES.get(slot, {})
        self._asked: dict[Key, int] = {}  # how many answers may come
        self._at_once: dict[Key, int] = {}  # answers that have to come at the instant
        self._timers: dict[Key, int] = {}  # when they run out
        self._posted: dict[Key, int] = {}  # cancelled too late to be taken back
        self._once: dict[Key, None] = {}

    def event(self, now_ns: int, event: Any) -> str | None:
        """Take an event that comes to the core. Return the problems of it, if anything is."""
        for key, asked_ns in self._at_once.items():
            if asked_ns < now_ns:
                return f"{_words(key)} is not answered at once, but {event_words(event)} comes"
        wrong = self._come(now_ns, event)
        late = [key for key, due_ns in self._timers.items() if due_ns < now_ns]
        if wrong is None and late and self.exact:
            wrong = f"{_words(late[0])} has not fired in time"
        return wrong

    def effects(self, now_ns: int, effects: Iterable[Any]) -> None:
        """Take what the core asks for."""
        for effect in effects:
            self._ask(now_ns, effect)

    @property
    def next_due_ns(self) -> int | None:
        """When the next timer runs out, if one is set."""
        return min(self._timers.values(), default=None)

    def copied(self) -> Self:
        """Return the same duties, for a host that goes another way from here."""
        other = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, list | dict):
                setattr(other, name, copy.copy(value))
        return other

    def _come(self, now_ns: int, event: Any) -> str | None:
        return self._apply(now_ns, event)

    def _ask(self, now_ns: int, effect: Any) -> None:
        self._apply(now_ns, effect)

    def _apply(self, now_ns: int, thing: Any) -> str | None:
        verb, words, *names = self._table.get(type(thing), ("", ""))
        key = (words, *(attrgetter(name)(thing) for name in names))
        match verb:
            case "answer":
                return self.answer(*key)
            case "once":
                return self.once(*key)
            case "fired":
                return self.fired(now_ns, *key)
            case "want" | "want at once":
                self.want(now_ns, *key, at_once=verb == "want at once")
            case "set":
                self.set_timer(_due_ns(now_ns, thing), *key)
            case "cancel":
                self.cancel(now_ns, *key)
            case "drop":
                self.drop(*key)
        return None

    # Requests and answers --------------------------------------------------------------------

    def want(self, now_ns: int, *key: object, at_once: bool = False) -> None:
        """Ask for one more answer."""
        self._asked[key] = self._asked.get(key, 0) + 1
        if at_once:
            self._at_once[key] = now_ns

    def drop(self, *key: object) -> None:
        """Take back the request for."""
        self._asked.pop(key, None)
        self._at_once.pop(key, None)

    def answer(self, *key: object) -> str | None:
        """Take an answer."""
        left = self._asked.get(key, 0) - 1
        self._at_once.pop(key, None)
        if left < 0:
            return f"{_words(key)} has an unexpected answer"
        self._asked[key] = left
        return None

    def once(self, *key: object) -> str | None:
        """Take what comes only once."""
        if key in self._once:
            return f"{_words(key)} comes a second time"
        self._once[key] = None
        return None

    def has_come(self, *key: object) -> bool:
        """Return whether what comes only once has come."""
        return key in self._once

    def set_timer(self, due_ns: int, *key: object) -> None:
        """Set a timer, in place of one of the same name."""
        self._timers[key] = due_ns
        self._posted.pop(key, None)

    def cancel(self, now_ns: int, *key: object) -> None:
        """Cancel a timer."""
        due_ns = self._timers.pop(key, None)
        if due_ns is not None and due_ns <= now_ns:
            self._posted[key] = due_ns

    def fired(self, now_ns: int, *key: object) -> str | None:
        """Take the end of a timer."""
        due_ns = self._timers.pop(key, self._posted.pop(key, None))
        if due_ns is None:
            return f"{_words(key)} fires, which is not set"
        if now_ns < due_ns:
            return f"{_words(key)} fires {duration_text(due_ns - now_ns)} too early"
        return None


class CoordinatorDuties(Duties):
    """Of the host of a coordinator. After a stop that has failed it triggers again, at once."""

    def __init__(self) -> None:
        super().__init__("coordinator")
        self._stops: list[int] = []  # savepoints of stops

    def _ask(self, now_ns: int, effect: Any) -> None:
        super()._ask(now_ns, effect)
        match effect:
            case coordinator_events.TriggerTasks() if effect.request.synchronous:
                self._stops.append(effect.barrier.checkpoint)
            case coordinator_events.RefuseRequest() if effect.request.synchronous:
                self.want(now_ns, _STOP_FAILED, at_once=True)
            case coordinator_events.CheckpointFailed() if effect.checkpoint in self._stops:
                self.want(now_ns, _STOP_FAILED, at_once=True)


class HandlerDuties(Duties):
    """Of the host of a barrier handler. Its timers go through the mailbox.  Channels end once."""

    def __init__(self) -> None:
        super().__init__("handler", exact=False)
        self._checkpoints: dict[int, int] = {}  # timer -> checkpoint

    def _come(self, now_ns: int, event: Any) -> str | None:
        ends = isinstance(event, handler_events.ChannelEnded)
        channel = None if ends else getattr(event, "channel", None)
        if self.has_come("the end of channel", channel):
            return f"channel {channel} has ended, but {event_words(event)} comes"
        return super()._come(now_ns, event)

    def _ask(self, now_ns: int, effect: Any) -> None:
        match effect:
            case handler_events.SetTimer():
                checkpoint = self._checkpoints[effect.timer] = effect.barrier.checkpoint
                self.set_timer(now_ns + effect.delay_ns, _ALIGNMENT, checkpoint)
            case handler_events.CancelTimer():
                self.cancel(now_ns, _ALIGNMENT, self._checkpoints.get(effect.timer, -1))


class SourceDuties(Duties):
    """Of the host of a source core: it ends at once with the first feed that fails."""

    def __init__(self) -> None:
        super().__init__("source")

    def _come(self, now_ns: int, event: Any) -> str | None:
        if self.has_come("a failed feed"):
            return "a feed has failed, and the source continues"
        return super()._come(now_ns, event)


_STOP_FAILED, _ALIGNMENT = "a stop that has failed", "the alignment timer of"
_TIMER = ("timer", "kind.name", "number")
# Slot -> event or effect -> what it does to the duties, of what: words, then fields of the event.
_TABLES: Mapping[str, Mapping[type, tuple[str, ...]]] = {
    "coordinator": {
        coordinator_events.Planned: ("answer", "a plan"),
        coordinator_events.PlanRefused: ("answer", "a plan"),
        coordinator_events.Stored: ("answer", "the store of", "checkpoint"),
        coordinator_events.TimerFired: ("fired", *_TIMER),
        coordinator_events.SchedulerStopped: ("drop", "a plan"),
        coordinator_events.SchedulerStarted: ("drop", _STOP_FAILED),
        coordinator_events.PlanCheckpoint: ("want at once", "a plan"),
        coordinator_events.StoreCheckpoint: ("want", "the store of", "checkpoint"),
        coordinator_events.SetTimer: ("set", *_TIMER),
        coordinator_events.CancelTimer: ("cancel", *_TIMER),
    },
    "handler": {
        handler_events.TimerFired: ("fired", _ALIGNMENT, "barrier.checkpoint"),
        handler_events.ChannelEnded: ("once", "the end of channel", "channel"),
    },
    "subtask": {
        subtask_events.BarrierSent: ("answer", "the barrier of", "checkpoint"),
        subtask_events.SyncPartDone: ("answer", "the snapshot of", "checkpoint"),
        subtask_events.AsyncPartDone: ("answer", "the state of", "checkpoint"),
        subtask_events.AsyncPartFailed: ("answer", "the state of", "checkpoint"),
        subtask_events.ChannelStateWritten: ("answer", "the channel state of", "checkpoint"),
        subtask_events.ChannelStateFailed: ("answer", "the channel state of", "checkpoint"),
        subtask_events.OutputTimerFired: ("fired", "the output timer of", "checkpoint"),
        subtask_events.BroadcastBarrier: ("want at once", "the barrier of", "barrier.checkpoint"),
        subtask_events.SnapshotOperators: ("want", "the snapshot of", "barrier.checkpoint"),
        subtask_events.StartAsyncPart: ("want", "the state of", "checkpoint"),
        subtask_events.CancelAsyncPart: ("drop", "the state of", "checkpoint"),
        subtask_events.StartWriter: ("want", "the channel state of", "checkpoint"),
        subtask_events.SetOutputTimer: ("set", "the output timer of", "checkpoint"),
        subtask_events.CancelOutputTimer: ("cancel", "the output timer of", "checkpoint"),
    },
    "channel_state": {  # a dropped file is stored perhaps
        writer_events.StreamStored: ("answer", "the file of", "checkpoint"),
        writer_events.StreamFailed: ("answer", "the file of", "checkpoint"),
        writer_events.SubtaskReleased: ("once", "the release of subtask", "subtask"),
        writer_events.StoreStream: ("want", "the file of", "checkpoint"),
    },
    "lifecycle": {
        lifecycle_events.Started: ("once", "the start"),
        lifecycle_events.StateRestored: ("once", "the restored state"),
        lifecycle_events.EndOfDataReceived: ("once", "the end of the data of channel", "channel"),
        lifecycle_events.EndOfPartitionReceived: ("once", "the end of channel", "channel"),
        lifecycle_events.EndOfDataAcknowledged: (
            "once",
            "the acknowledgement of output",
            "channel",
        ),
        lifecycle_events.CheckpointPerformed: ("once", "the snapshot of", "checkpoint_id"),
    },
    "ordering": {
        ordering_events.FinishRequested: ("once", "the request of the end"),
        ordering_events.StateSent: ("answer", "the send of", "scope", "index"),
        ordering_events.SendFailed: ("answer", "the send of", "scope", "index"),
        ordering_events.FinishTimerFired: ("fired", "the timer of the end"),
        ordering_events.SendState: ("want", "the send of", "scope", "key.index"),
        ordering_events.SetFinishTimer: ("set", "the timer of the end"),
        ordering_events.CancelFinishTimer: ("cancel", "the timer of the end"),
    },
    "source": {FailFeed: ("once", "a failed feed")},
    "ingestion": {  # the timer wakes the thread at once
        ingestion_events.StepDurable: ("answer", "a durable step"),
        ingestion_events.StepRefused: ("answer", "a durable step"),
        ingestion_events.SyncTimerFired: ("fired", "the timer of syncs"),
        ingestion_events.MakeDurable: ("want", "a durable step"),
        ingestion_events.SetSyncTimer: ("set", "the timer of syncs"),
        ingestion_events.CancelSyncTimer: ("cancel", "the timer of syncs"),
    },
    "course of failures": {
        failover.DelayOver: ("fired", "the delay of round", "round"),
        failover.AllCanceled: ("answer", "the cancellation"),
        failover.AllRunning: ("answer", "the deployment"),
        failover.SetDelay: ("set", "the delay of round", "round"),
        failover.CancelTasks: ("want", "the cancellation"),
        failover.Deploy: ("want", "the deployment"),
    },
    "failure detector": {  # no timer is ever cancelled
        detection.IntervalOver: ("fired", "the interval of heartbeats"),
        detection.TimeoutFired: ("fired", "the timeout of", "manager", "number"),
        detection.SetInterval: ("set", "the interval of heartbeats"),
        detection.SetTimeout: ("set", "the timeout of", "manager", "number"),
    },
}
DUTIES: Mapping[str, Callable[[], Duties]] = {
    **{slot: partial(Duties, slot, exact=slot != "subtask") for slot in _TABLES},
    "coordinator": CoordinatorDuties,
    "handler": HandlerDuties,
    "source": SourceDuties,
    "naive lifecycle": partial(Duties, "lifecycle"),
}
"""Slot -> what the host of its core owes it."""


def _due_ns(now_ns: int, effect: Any) -> int:
    """Return when the timer that an effect sets runs out. Effects name a delay or an instant."""
    if hasattr(effect, "at_ns"):
        return int(effect.at_ns)
    return now_ns + int(effect.wait_ns if hasattr(effect, "wait_ns") else effect.delay_ns)


def _words(key: Key) -> str:
    return " ".join("the sync" if part is None else str(part) for part in key)
