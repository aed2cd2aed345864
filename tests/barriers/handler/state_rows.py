"""What every state of the barrier handlers must do with every input, written by hand."""

from __future__ import annotations

from ckptsim.models.barriers.barrier import Barrier, OptionKind
from ckptsim.models.barriers.handler import HandlerKind, State
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.reason import FailureReason

TIMED = Barrier(1, 100, OptionKind.TIMEOUTABLE, 50)
TURNED = Barrier(1, 100, OptionKind.UNALIGNED)
ALIGNED = Barrier(1, 100, OptionKind.ALIGNED)
NEWER = Barrier(2, 100, OptionKind.UNALIGNED)
SUBSUMED = FailureReason.CHECKPOINT_DECLINED_SUBSUMED
CANCELLED = FailureReason.CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER

S, H = State, HandlerKind
START = [
    handler_events.InitializeInput(TURNED),
    handler_events.StartInput(0, TURNED),
    handler_events.TriggerCheckpoint(TURNED, 10),
]


def arrived(channel: int, barrier: Barrier, now_ns: int = 110) -> handler_events.BarrierArrived:
    """Return the arrival of a barrier."""
    return handler_events.BarrierArrived(now_ns, channel, barrier)


def announced(
    channel: int, sequence: int, barrier: Barrier = TIMED
) -> handler_events.BarrierAnnounced:
    """Return the announcement of a barrier."""
    return handler_events.BarrierAnnounced(110, channel, barrier, sequence)


TIMEOUT = handler_events.TimerFired(150, TIMED)
ENDED = handler_events.ChannelEnded(110, 2)
CANCEL = handler_events.CancellationArrived(110, 2, 1)

# What leads a fresh handler of three channels to each state.
WAYS: dict[State, tuple[HandlerKind, list[handler_events.HandlerEvent]]] = {
    S.WAITING: (H.ALIGNED, []),
    S.COLLECTING: (H.ALIGNED, [arrived(0, ALIGNED)]),
    S.ALTERNATING_WAITING: (H.ALTERNATING, [announced(1, 7)]),
    S.ALTERNATING_COLLECTING: (H.ALTERNATING, [announced(1, 7), arrived(0, TIMED)]),
    S.WAITING_UNALIGNED: (H.ALTERNATING, [announced(1, 7), TIMEOUT]),
    S.COLLECTING_UNALIGNED: (H.ALTERNATING, [arrived(0, TIMED), TIMEOUT]),
}

# state, event, effects, next state
ROWS: list[tuple[State, handler_events.HandlerEvent, list[handler_events.HandlerEffect], State]] = [
    (S.WAITING, arrived(0, ALIGNED), [handler_events.BlockChannel(0)], S.COLLECTING),
    (
        S.WAITING,
        arrived(0, TURNED),
        [handler_events.FailTask("an aligned handler got an unaligned barrier")],
        S.WAITING,
    ),
    (S.WAITING, announced(1, 7), [], S.WAITING),
    (S.WAITING, ENDED, [], S.WAITING),
    (
        S.WAITING,
        handler_events.CancellationArrived(110, 0, 1),
        [handler_events.AbortCheckpoint(1, CANCELLED)],
        S.WAITING,
    ),
    (S.COLLECTING, arrived(1, ALIGNED), [handler_events.BlockChannel(1)], S.COLLECTING),
    (
        S.COLLECTING,
        arrived(1, TURNED),
        [handler_events.FailTask("an aligned handler got an unaligned barrier")],
        S.COLLECTING,
    ),
    (S.COLLECTING, announced(1, 7), [], S.COLLECTING),
    (S.COLLECTING, ENDED, [], S.COLLECTING),
    (
        S.COLLECTING,
        CANCEL,
        [handler_events.ResumeChannels((0,)), handler_events.AbortCheckpoint(1, CANCELLED)],
        S.WAITING,
    ),
    (
        S.ALTERNATING_WAITING,
        arrived(0, TIMED),
        [handler_events.BlockChannel(0)],
        S.ALTERNATING_COLLECTING,
    ),
    (
        S.ALTERNATING_WAITING,
        arrived(0, TIMED, 151),
        [
            handler_events.BlockChannel(0),
            handler_events.PrioritizeBarriers(((1, 7),)),
            handler_events.InitializeInput(TURNED),
            handler_events.StartInput(0, TURNED),
            handler_events.TriggerCheckpoint(TURNED, 51),
        ],
        S.COLLECTING_UNALIGNED,
    ),
    (
        S.ALTERNATING_WAITING,
        arrived(0, TURNED),
        [handler_events.PrioritizeBarriers(((1, 7),)), *START],
        S.COLLECTING_UNALIGNED,
    ),
    (S.ALTERNATING_WAITING, announced(0, 3), [], S.ALTERNATING_WAITING),
    (S.ALTERNATING_WAITING, ENDED, [], S.ALTERNATING_WAITING),
    (
        S.ALTERNATING_WAITING,
        handler_events.CancellationArrived(110, 0, 2),
        [handler_events.CancelTimer(1), handler_events.AbortCheckpoint(2, CANCELLED)],
        S.ALTERNATING_WAITING,
    ),
    (
        S.ALTERNATING_WAITING,
        TIMEOUT,
        [handler_events.PrioritizeBarriers(((1, 7),))],
        S.WAITING_UNALIGNED,
    ),
    (
        S.ALTERNATING_COLLECTING,
        arrived(1, TIMED),
        [handler_events.BlockChannel(1)],
        S.ALTERNATING_COLLECTING,
    ),
    (
        S.ALTERNATING_COLLECTING,
        arrived(1, TURNED),
        [handler_events.PrioritizeBarriers(((1, 7),)), *START],
        S.COLLECTING_UNALIGNED,
    ),
    (S.ALTERNATING_COLLECTING, announced(2, 3), [], S.ALTERNATING_COLLECTING),
    (S.ALTERNATING_COLLECTING, ENDED, [], S.ALTERNATING_COLLECTING),
    (
        S.ALTERNATING_COLLECTING,
        handler_events.ChannelEnded(151, 2),
        [handler_events.PrioritizeBarriers(((1, 7),)), *START],
        S.COLLECTING_UNALIGNED,
    ),
    (
        S.ALTERNATING_COLLECTING,
        CANCEL,
        [
            handler_events.CancelTimer(1),
            handler_events.ResumeChannels((0,)),
            handler_events.AbortCheckpoint(1, CANCELLED),
        ],
        S.ALTERNATING_WAITING,
    ),
    (
        S.ALTERNATING_COLLECTING,
        TIMEOUT,
        [handler_events.PrioritizeBarriers(((1, 7),)), *START],
        S.COLLECTING_UNALIGNED,
    ),
    (
        S.WAITING_UNALIGNED,
        arrived(0, TIMED),
        [handler_events.BlockChannel(0), *START],
        S.COLLECTING_UNALIGNED,
    ),
    (S.WAITING_UNALIGNED, arrived(0, TURNED), START, S.COLLECTING_UNALIGNED),
    (
        S.WAITING_UNALIGNED,
        announced(2, 3),
        [handler_events.PrioritizeBarriers(((2, 3),))],
        S.WAITING_UNALIGNED,
    ),
    (S.WAITING_UNALIGNED, ENDED, [], S.WAITING_UNALIGNED),
    (
        S.WAITING_UNALIGNED,
        handler_events.CancellationArrived(110, 0, 2),
        [handler_events.AbortCheckpoint(2, CANCELLED)],
        S.ALTERNATING_WAITING,
    ),
    (S.WAITING_UNALIGNED, TIMEOUT, [], S.WAITING_UNALIGNED),
    (
        S.COLLECTING_UNALIGNED,
        arrived(1, TIMED),
        [handler_events.BlockChannel(1)],
        S.COLLECTING_UNALIGNED,
    ),
    (S.COLLECTING_UNALIGNED, arrived(1, TURNED), [], S.COLLECTING_UNALIGNED),
    (
        S.COLLECTING_UNALIGNED,
        announced(2, 3),
        [handler_events.PrioritizeBarriers(((2, 3),))],
        S.COLLECTING_UNALIGNED,
    ),
    (S.COLLECTING_UNALIGNED, ENDED, [], S.COLLECTING_UNALIGNED),
    (
        S.COLLECTING_UNALIGNED,
        CANCEL,
        [
            handler_events.StopInput(0, 1),
            handler_events.ResumeChannels((0,)),
            handler_events.AlignmentMeasured(1, 0, 0),
            handler_events.AbortCheckpoint(1, CANCELLED),
        ],
        S.ALTERNATING_WAITING,
    ),
    (S.COLLECTING_UNALIGNED, TIMEOUT, [], S.COLLECTING_UNALIGNED),
]

FULL_ROWS: list[tuple[State, handler_events.HandlerEvent, list[handler_events.HandlerEffect]]] = [
    (
        S.COLLECTING,
        arrived(1, ALIGNED, 130),
        [
            handler_events.BlockChannel(1),
            handler_events.TriggerCheckpoint(ALIGNED, 10),
            handler_events.AlignmentMeasured(1, 20, 0),
            handler_events.ResumeChannels((0, 1)),
            handler_events.AllBarriersReceived(1),
        ],
    ),
    (
        S.COLLECTING,
        handler_events.ChannelEnded(130, 1),
        [
            handler_events.TriggerCheckpoint(ALIGNED, 10),
            handler_events.AlignmentMeasured(1, 20, 0),
            handler_events.ResumeChannels((0,)),
            handler_events.AllBarriersReceived(1),
        ],
    ),
    (
        S.ALTERNATING_COLLECTING,
        arrived(1, TIMED, 180),
        [
            handler_events.BlockChannel(1),
            handler_events.InitializeInput(TIMED),
            handler_events.TriggerCheckpoint(TIMED, 10),
            handler_events.AlignmentMeasured(1, 70, 0),
            handler_events.ResumeChannels((0, 1)),
            handler_events.CancelTimer(1),
            handler_events.AllBarriersReceived(1),
        ],
    ),
    (
        S.ALTERNATING_COLLECTING,
        arrived(1, TURNED, 130),
        [
            handler_events.PrioritizeBarriers(((1, 7),)),
            *START,
            handler_events.AlignmentMeasured(1, 20, 0),
            handler_events.StopInput(0, 1),
            handler_events.ResumeChannels((0,)),
            handler_events.CancelTimer(1),
            handler_events.AllBarriersReceived(1),
        ],
    ),
    (
        S.ALTERNATING_COLLECTING,
        handler_events.ChannelEnded(180, 1),
        [
            handler_events.InitializeInput(TIMED),
            handler_events.TriggerCheckpoint(TIMED, 10),
            handler_events.AlignmentMeasured(1, 70, 0),
            handler_events.ResumeChannels((0,)),
            handler_events.CancelTimer(1),
            handler_events.AllBarriersReceived(1),
        ],
    ),
    (
        S.COLLECTING_UNALIGNED,
        arrived(1, TIMED, 180),
        [
            handler_events.AlignmentMeasured(1, 70, 0),
            handler_events.BlockChannel(1),
            handler_events.StopInput(0, 1),
            handler_events.ResumeChannels((0, 1)),
            handler_events.AllBarriersReceived(1),
        ],
    ),
    (
        S.COLLECTING_UNALIGNED,
        handler_events.ChannelEnded(180, 1),
        [
            handler_events.AlignmentMeasured(1, 70, 0),
            handler_events.StopInput(0, 1),
            handler_events.ResumeChannels((0,)),
            handler_events.AllBarriersReceived(1),
        ],
    ),
]
