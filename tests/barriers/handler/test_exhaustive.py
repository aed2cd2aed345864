"""All interleavings of up to four messages on up to three channels, for every handler."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field

import pytest

from ckptsim.models.barriers.barrier import Barrier, OptionKind
from ckptsim.models.barriers.handler import (
    BarrierHandler,
    BarrierTracker,
    HandlerKind,
    SingleCheckpointHandler,
    make_handler,
)
from ckptsim.models.barriers.handler import events as handler_events

MESSAGES = 4
KINDS = {
    HandlerKind.ALIGNED: (OptionKind.ALIGNED,),
    HandlerKind.ALTERNATING: (OptionKind.TIMEOUTABLE, OptionKind.UNALIGNED),
    HandlerKind.UNALIGNED: (OptionKind.UNALIGNED,),
    HandlerKind.TRACKER: (OptionKind.AT_LEAST_ONCE,),
}
# How many different situations there are after at most four messages: (handler, channels).
REACHED = {
    (HandlerKind.ALIGNED, 1): 18,
    (HandlerKind.ALIGNED, 2): 84,
    (HandlerKind.ALIGNED, 3): 325,
    (HandlerKind.ALTERNATING, 1): 62,
    (HandlerKind.ALTERNATING, 2): 1453,
    (HandlerKind.ALTERNATING, 3): 11695,
    (HandlerKind.UNALIGNED, 1): 18,
    (HandlerKind.UNALIGNED, 2): 143,
    (HandlerKind.UNALIGNED, 3): 730,
    (HandlerKind.TRACKER, 1): 14,
    (HandlerKind.TRACKER, 2): 84,
    (HandlerKind.TRACKER, 3): 262,
}


@dataclass(slots=True)
class Situation:
    """A handler, what its channels may still deliver, and everything that has been seen of it.

    newest: per channel the newest checkpoint it has spoken of, a large number when it has ended.
    """

    handler: BarrierHandler
    newest: list[int]
    announced: list[int]
    blocked: frozenset[int] = frozenset()
    timer: Barrier | None = None
    triggered: tuple[int, ...] = ()
    aborted: tuple[int, ...] = ()
    measured: tuple[int, ...] = ()
    path: list[handler_events.HandlerEvent] = field(default_factory=list)

    def key(self) -> tuple[object, ...]:
        """Return what distinguish two situations. Paths to the same one are not told apart."""
        handler = self.handler
        inner: tuple[object, ...]
        if isinstance(handler, SingleCheckpointHandler):
            pending = handler.all_barriers(handler.latest)
            inner = (handler.state, handler.aligned, handler.target, handler.announced, pending)
        elif isinstance(handler, BarrierTracker):
            inner = (handler.pending_checkpoints,)
        else:
            inner = ()
        return (
            *inner,
            handler.latest,
            handler.pending,
            handler.open_channels,
            handler.clock.running,
            handler.clock.owed,
            tuple(self.newest),
            tuple(self.announced),
            self.blocked,
            self.timer,
            self.triggered,
            self.aborted,
        )


ENDED = 99


def next_events(situation: Situation, kind: HandlerKind) -> list[handler_events.HandlerEvent]:
    """Return every message that may come next."""
    events: list[handler_events.HandlerEvent] = []
    for channel, newest in enumerate(situation.newest):
        if newest == ENDED or channel in situation.blocked:
            continue
        events.append(handler_events.ChannelEnded(0, channel))
        for checkpoint in (1, 2):
            if checkpoint <= newest or (kind is HandlerKind.TRACKER and checkpoint > newest + 1):
                continue  # before a tracker no channel may skip a checkpoint
            events.append(handler_events.CancellationArrived(0, channel, checkpoint))
            for option in KINDS[kind]:
                timed = option is OptionKind.TIMEOUTABLE
                barrier = Barrier(checkpoint, 0, option, 10 if timed else None)
                events.append(handler_events.BarrierArrived(0, channel, barrier))
                if timed and checkpoint > situation.announced[channel]:
                    events.append(handler_events.BarrierAnnounced(0, channel, barrier, checkpoint))
    if situation.timer is not None:
        events.append(handler_events.TimerFired(10, situation.timer))
    return events


def after(frozen: bytes, event: handler_events.HandlerEvent) -> Situation:
    """Return what a message leads to, having checked the rules on the way."""
    result: Situation = pickle.loads(frozen)
    result.path.append(event)
    match event:
        case handler_events.BarrierArrived():
            result.newest[event.channel] = event.barrier.checkpoint
        case handler_events.CancellationArrived():
            result.newest[event.channel] = event.checkpoint
        case handler_events.BarrierAnnounced():
            result.announced[event.channel] = event.barrier.checkpoint
        case handler_events.ChannelEnded():
            result.newest[event.channel] = ENDED
        case _:
            result.timer = None
    for effect in result.handler.step(event):
        note(result, effect)
    return result


def note(situation: Situation, effect: handler_events.HandlerEffect) -> None:
    """Write an effect down and check what must always hold."""
    story = situation.path
    match effect:
        case handler_events.BlockChannel():
            situation.blocked |= {effect.channel}
        case handler_events.ResumeChannels():
            situation.blocked -= set(effect.channels)
        case handler_events.TriggerCheckpoint():
            checkpoint = effect.barrier.checkpoint
            assert checkpoint > max(situation.triggered, default=0), story
            assert checkpoint not in situation.aborted, story
            situation.triggered += (checkpoint,)
        case handler_events.AbortCheckpoint():
            assert effect.checkpoint not in situation.aborted, story
            situation.aborted += (effect.checkpoint,)
        case handler_events.AlignmentMeasured():
            assert effect.checkpoint in situation.triggered, story
            assert effect.checkpoint not in situation.measured, story
            situation.measured += (effect.checkpoint,)
        case handler_events.SetTimer():
            situation.timer = effect.barrier
        case handler_events.CancelTimer():
            situation.timer = None
        case handler_events.FailTask():
            raise AssertionError(f"{effect.story}: {story}")
        case _:
            pass


CASES = [
    # Half a minute. The rest out here is also met by the random lives.
    pytest.param(*case, marks=pytest.mark.long) if case == (HandlerKind.ALTERNATING, 3) else case
    for case in REACHED
]


@pytest.mark.parametrize(("kind", "channels"), CASES)
def test_all_interleavings_keep_the_rules(kind: HandlerKind, channels: int) -> None:
    """No order of messages breaks a rule, and the number of situations is the pinned one."""
    first = Situation(make_handler(kind, channels), [0] * channels, [0] * channels)
    reached = {first.key()}
    edge = [first]
    for _ in range(MESSAGES):
        further: list[Situation] = []
        for situation in edge:
            frozen = pickle.dumps(situation)
            for event in next_events(situation, kind):
                result = after(frozen, event)
                key = result.key()
                if key not in reached:
                    reached.add(key)
                    further.append(result)
        edge = further
    assert len(reached) == REACHED[kind, channels]
