"""What the host of a task owes its cores together: what one of them decides, the next one learns.

Barrier handler, subtask and lifecycle are judged one by one by `duties.py`.  Between them is their
host, which passes decisions on: it can forget one, pass it on twice, or make one up.  Here the same
account is kept over all cores of one task.

A handler's effects after a refused StartInput are not carried out. No one owes them any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.subtask import events as subtask_events
from ckptsim.models.lifecycle import effects as lifecycle_effects
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.sim.rules.duties import Duties, Key

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
