"""What a host owes the core that it drives: answers, each once and to what was asked, and timers.

A core is judged by its rules; its host is judged here, by nothing but the effects that the core has
given and the events that have come since.  Three things can be asked of a host:

* an answer: it comes at most once, and not after the core has taken back what it asked for;
* an answer at once: it comes before simulated time goes on;
* a timer: it fires once, at its instant where nothing stands between it and the core, else no
  earlier, and not after it was cancelled.  A timer that has run out has posted a mail, and
  cancelling does not take that back: one that is cancelled at or behind its instant may still fire.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from ckptsim.models.barriers.channel_state import events as writer_events
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.subtask import events as subtask_events
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.models.ordering import effects as ordering_effects
from ckptsim.models.ordering import events as ordering_events
from ckptsim.models.ordering.source import FailFeed
from ckptsim.models.recovery import detection, failover
from ckptsim.models.store.ingestion import events as ingestion_events
from ckptsim.scenarios.dialect import duration_text

Key = tuple[object, ...]
"""What was asked for, in words and numbers."""


class Duties:
    """What one host owes one core, and what of it is open.

    exact: timers fire at their instant.
    """

    exact = True

    def __init__(self) -> None:
        self._asked: dict[Key, int] = {}  # how many answers may come
        self._at_once: dict[Key, int] = {}  # answers that have to come at the instant
        self._timers: dict[Key, int] = {}  # when they run out
        self._posted: dict[Key, int] = {}  # cancelled too late to be taken back
        self._once: dict[Key, None] = {}

    def event(self, now_ns: int, event: Any) -> str | None:
        """Take an event that comes to the core; return what is wrong with it, if anything is."""
        for key, asked_ns in self._at_once.items():
            if asked_ns < now_ns:
                return f"{_words(key)} is not answered at once, but {event!r} comes"
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
        """Return what is wrong with an event by itself."""
        raise NotImplementedError

    def _ask(self, now_ns: int, effect: Any) -> None:
        """Note what an effect asks for."""
        raise NotImplementedError

    # What is asked for, and what comes ---------------------------------------------------------

    def want(self, now_ns: int, *key: object, at_once: bool = False) -> None:
        """Ask for one more answer."""
        self._asked[key] = self._asked.get(key, 0) + 1
        if at_once:
            self._at_once[key] = now_ns

    def drop(self, *key: object) -> None:
        """Take back what was asked for."""
        self._asked.pop(key, None)
        self._at_once.pop(key, None)

    def answer(self, *key: object) -> str | None:
        """Take an answer."""
        left = self._asked.get(key, 0) - 1
        self._at_once.pop(key, None)
        if left < 0:
            return f"{_words(key)} is answered, which nobody waits for"
        self._asked[key] = left
        return None

    def once(self, *key: object) -> str | None:
        """Take what comes only once."""
        if key in self._once:
            return f"{_words(key)} comes a second time"
        self._once[key] = None
        return None

    def has_come(self, *key: object) -> bool:
        """Say whether what comes only once has come."""
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
    """Of the host of a coordinator: it plans at once, stores once, and its timers are exact.

    Behind a stop that has failed it begins to trigger again, at once.
    """

    def __init__(self) -> None:
        super().__init__()
        self._stops: list[int] = []  # savepoints of stops

    def _come(self, now_ns: int, event: Any) -> str | None:
        match event:
            case coordinator_events.Planned() | coordinator_events.PlanRefused():
                return self.answer("a plan")
            case coordinator_events.Stored():
                return self.answer("the store of", event.checkpoint)
            case coordinator_events.TimerFired():
                return self.fired(now_ns, f"timer {event.kind.name}", event.number)
            case coordinator_events.SchedulerStopped():
                self.drop("a plan")
            case coordinator_events.SchedulerStarted():
                self.drop("a stop that has failed")
        return None

    def _ask(self, now_ns: int, effect: Any) -> None:
        match effect:
            case coordinator_events.PlanCheckpoint():
                self.want(now_ns, "a plan", at_once=True)
            case coordinator_events.StoreCheckpoint():
                self.want(now_ns, "the store of", effect.checkpoint)
            case coordinator_events.TriggerTasks() if effect.request.synchronous:
                self._stops.append(effect.barrier.checkpoint)
            case coordinator_events.RefuseRequest() if effect.request.synchronous:
                self.want(now_ns, "a stop that has failed", at_once=True)
            case coordinator_events.CheckpointFailed() if effect.checkpoint in self._stops:
                self.want(now_ns, "a stop that has failed", at_once=True)
            case coordinator_events.SetTimer():
                name = f"timer {effect.kind.name}"
                self.set_timer(now_ns + effect.delay_ns, name, effect.number)
            case coordinator_events.CancelTimer():
                self.cancel(now_ns, f"timer {effect.kind.name}", effect.number)


class HandlerDuties(Duties):
    """Of the host of a barrier handler; its timers go through the mailbox.  Channels end once."""

    exact = False

    def __init__(self) -> None:
        super().__init__()
        self._checkpoints: dict[int, int] = {}  # timer -> checkpoint

    def _come(self, now_ns: int, event: Any) -> str | None:
        match event:
            case handler_events.TimerFired():
                return self.fired(now_ns, "the alignment timer of", event.barrier.checkpoint)
            case handler_events.ChannelEnded():
                return self.once("the end of channel", event.channel)
            case (
                handler_events.BarrierArrived()
                | handler_events.BarrierAnnounced()
                | handler_events.CancellationArrived()
            ) if self.has_come("the end of channel", event.channel):
                return f"channel {event.channel} has ended, but {event!r} comes"
        return None

    def _ask(self, now_ns: int, effect: Any) -> None:
        match effect:
            case handler_events.SetTimer():
                checkpoint = self._checkpoints[effect.timer] = effect.barrier.checkpoint
                due_ns = now_ns + effect.delay_ns
                self.set_timer(due_ns, "the alignment timer of", checkpoint)
            case handler_events.CancelTimer():
                checkpoint = self._checkpoints.get(effect.timer, -1)
                self.cancel(now_ns, "the alignment timer of", checkpoint)


class SubtaskDuties(Duties):
    """Of the host of a subtask's checkpoints: each part is answered once, barriers at once."""

    exact = False

    def _come(self, now_ns: int, event: Any) -> str | None:
        match event:
            case subtask_events.BarrierSent():
                return self.answer("the barrier of", event.checkpoint)
            case subtask_events.SyncPartDone():
                return self.answer("the snapshot of", event.checkpoint)
            case subtask_events.AsyncPartDone() | subtask_events.AsyncPartFailed():
                return self.answer("the state of", event.checkpoint)
            case subtask_events.ChannelStateWritten() | subtask_events.ChannelStateFailed():
                return self.answer("the channel state of", event.checkpoint)
            case subtask_events.OutputTimerFired():
                return self.fired(now_ns, "the output timer of", event.checkpoint)
        return None

    def _ask(self, now_ns: int, effect: Any) -> None:
        match effect:
            case subtask_events.BroadcastBarrier():
                self.want(now_ns, "the barrier of", effect.barrier.checkpoint, at_once=True)
            case subtask_events.SnapshotOperators():
                self.want(now_ns, "the snapshot of", effect.barrier.checkpoint)
            case subtask_events.StartAsyncPart():
                self.want(now_ns, "the state of", effect.checkpoint)
            case subtask_events.CancelAsyncPart():
                self.drop("the state of", effect.checkpoint)
            case subtask_events.StartWriter():
                self.want(now_ns, "the channel state of", effect.checkpoint)
            case subtask_events.SetOutputTimer():
                due_ns = now_ns + effect.delay_ns
                self.set_timer(due_ns, "the output timer of", effect.checkpoint)
            case subtask_events.CancelOutputTimer():
                self.cancel(now_ns, "the output timer of", effect.checkpoint)


class WriterDuties(Duties):
    """Of the host of a writer of channel state: a file is stored once, a dropped one perhaps."""

    def _come(self, now_ns: int, event: Any) -> str | None:
        match event:
            case writer_events.StreamStored() | writer_events.StreamFailed():
                return self.answer("the file of", event.checkpoint)
            case writer_events.SubtaskReleased():
                return self.once("the release of subtask", event.subtask)
        return None

    def _ask(self, now_ns: int, effect: Any) -> None:
        if isinstance(effect, writer_events.StoreStream):
            self.want(now_ns, "the file of", effect.checkpoint)


class LifecycleDuties(Duties):
    """Of the host of a task's lifecycle: what comes once in a life comes once."""

    def _come(self, now_ns: int, event: Any) -> str | None:
        match event:
            case lifecycle_events.Started() | lifecycle_events.StateRestored():
                return self.once(type(event).__name__)
            case lifecycle_events.EndOfDataReceived():
                return self.once("the end of the data of channel", event.channel)
            case lifecycle_events.EndOfPartitionReceived():
                return self.once("the end of channel", event.channel)
            case lifecycle_events.EndOfDataAcknowledged():
                return self.once("the acknowledgement of output", event.channel)
            case lifecycle_events.CheckpointPerformed():
                return self.once("the snapshot of", event.checkpoint_id)
        return None

    def _ask(self, now_ns: int, effect: Any) -> None:
        """Note nothing: what a life brings is not asked for."""


class OrderingDuties(Duties):
    """Of the host of an ordering core: one end of each send, one request of the end, its timer."""

    def _come(self, now_ns: int, event: Any) -> str | None:
        match event:
            case ordering_events.FinishRequested():
                return self.once("the request of the end")
            case ordering_events.StateSent() | ordering_events.SendFailed():
                return self.answer("the send of", event.scope, event.index)
            case ordering_events.FinishTimerFired():
                return self.fired(now_ns, "the timer of the end")
        return None

    def _ask(self, now_ns: int, effect: Any) -> None:
        match effect:
            case ordering_effects.SendState():
                self.want(now_ns, "the send of", effect.scope, effect.key.index)
            case ordering_effects.SetFinishTimer():
                self.set_timer(now_ns + effect.wait_ns, "the timer of the end")
            case ordering_effects.CancelFinishTimer():
                self.cancel(now_ns, "the timer of the end")


class SourceDuties(Duties):
    """Of the host of a source core: it ends at once with the first feed that fails."""

    def _come(self, now_ns: int, event: Any) -> str | None:
        if self.has_come("a failed feed"):
            return "a feed has failed, and the source goes on"
        return None

    def _ask(self, now_ns: int, effect: Any) -> None:
        if isinstance(effect, FailFeed):
            self.once("a failed feed")


class IngestionDuties(Duties):
    """Of the host of an ingestion: steps are answered once; its timer wakes the thread at once."""

    def _come(self, now_ns: int, event: Any) -> str | None:
        match event:
            case ingestion_events.StepDurable() | ingestion_events.StepRefused():
                return self.answer("a durable step")
            case ingestion_events.SyncTimerFired():
                return self.fired(now_ns, "the timer of syncs")
        return None

    def _ask(self, now_ns: int, effect: Any) -> None:
        match effect:
            case ingestion_events.MakeDurable():
                self.want(now_ns, "a durable step")
            case ingestion_events.SetSyncTimer():
                self.set_timer(now_ns + effect.delay_ns, "the timer of syncs")
            case ingestion_events.CancelSyncTimer():
                self.cancel(now_ns, "the timer of syncs")


class FailoverDuties(Duties):
    """Of the host of a failover: delays end at their instant, one deployment comes to run once."""

    def _come(self, now_ns: int, event: Any) -> str | None:
        match event:
            case failover.DelayOver():
                return self.fired(now_ns, "the delay of round", event.round)
            case failover.AllCanceled():
                return self.answer("the cancellation")
            case failover.AllRunning():
                return self.answer("the deployment")
        return None

    def _ask(self, now_ns: int, effect: Any) -> None:
        match effect:
            case failover.SetDelay():
                self.set_timer(effect.at_ns, "the delay of round", effect.round)
            case failover.CancelTasks():
                self.want(now_ns, "the cancellation")
            case failover.Deploy():
                self.want(now_ns, "the deployment")


class DetectionDuties(Duties):
    """Of the host of a failure detector: its timers are exact, and none is ever cancelled."""

    def _come(self, now_ns: int, event: Any) -> str | None:
        match event:
            case detection.IntervalOver():
                return self.fired(now_ns, "the interval of heartbeats")
            case detection.TimeoutFired():
                return self.fired(now_ns, "the timeout of", event.manager, event.number)
        return None

    def _ask(self, now_ns: int, effect: Any) -> None:
        match effect:
            case detection.SetInterval():
                self.set_timer(effect.at_ns, "the interval of heartbeats")
            case detection.SetTimeout():
                self.set_timer(effect.at_ns, "the timeout of", effect.manager, effect.number)


DUTIES: Mapping[str, Callable[[], Duties]] = {
    "ordering": OrderingDuties,
    "source": SourceDuties,
    "coordinator": CoordinatorDuties,
    "handler": HandlerDuties,
    "channel_state": WriterDuties,
    "subtask": SubtaskDuties,
    "lifecycle": LifecycleDuties,
    "naive lifecycle": LifecycleDuties,
    "ingestion": IngestionDuties,
    "course of failures": FailoverDuties,
    "failure detector": DetectionDuties,
}
"""Slot -> what the host of its core owes it."""


def _words(key: Key) -> str:
    return " ".join("the sync" if part is None else str(part) for part in key)
