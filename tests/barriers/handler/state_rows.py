"""What every state of the barrier handlers must do with every input, written by hand."""

from __future__ import annotations

from ckptsim.models.barriers.barrier import Barrier, OptionKind
from ckptsim.models.barriers.handler import HandlerKind, State
from ckptsim.models.barriers.handler import events as ev
from ckptsim.models.barriers.reason import FailureReason

TIMED = Barrier(1, 100, OptionKind.TIMEOUTABLE, 50)
TURNED = Barrier(1, 100, OptionKind.UNALIGNED)
ALIGNED = Barrier(1, 100, OptionKind.ALIGNED)
NEWER = Barrier(2, 100, OptionKind.UNALIGNED)
SUBSUMED = FailureReason.CHECKPOINT_DECLINED_SUBSUMED
CANCELLED = FailureReason.CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER

S, H = State, HandlerKind
START = [ev.InitializeInput(TURNED), ev.StartInput(0, TURNED), ev.TriggerCheckpoint(TURNED, 10)]


def arrived(channel: int, barrier: Barrier, now_ns: int = 110) -> ev.BarrierArrived:
    """Return the arrival of a barrier."""
    return ev.BarrierArrived(now_ns, channel, barrier)


def announced(channel: int, sequence: int, barrier: Barrier = TIMED) -> ev.BarrierAnnounced:
    """Return the announcement of a barrier."""
    return ev.BarrierAnnounced(110, channel, barrier, sequence)


TIMEOUT = ev.TimerFired(150, TIMED)
ENDED = ev.ChannelEnded(110, 2)
CANCEL = ev.CancellationArrived(110, 2, 1)

# What leads a fresh handler of three channels to each state.
WAYS: dict[State, tuple[HandlerKind, list[ev.HandlerEvent]]] = {
    S.WAITING: (H.ALIGNED, []),
    S.COLLECTING: (H.ALIGNED, [arrived(0, ALIGNED)]),
    S.ALTERNATING_WAITING: (H.ALTERNATING, [announced(1, 7)]),
    S.ALTERNATING_COLLECTING: (H.ALTERNATING, [announced(1, 7), arrived(0, TIMED)]),
    S.WAITING_UNALIGNED: (H.ALTERNATING, [announced(1, 7), TIMEOUT]),
    S.COLLECTING_UNALIGNED: (H.ALTERNATING, [arrived(0, TIMED), TIMEOUT]),
}

# state, event, effects, next state
ROWS: list[tuple[State, ev.HandlerEvent, list[ev.HandlerEffect], State]] = [
    (S.WAITING, arrived(0, ALIGNED), [ev.BlockChannel(0)], S.COLLECTING),
    (
        S.WAITING,
        arrived(0, TURNED),
        [ev.FailTask("an aligned handler got an unaligned barrier")],
        S.WAITING,
    ),
    (S.WAITING, announced(1, 7), [], S.WAITING),
    (S.WAITING, ENDED, [], S.WAITING),
    (S.WAITING, ev.CancellationArrived(110, 0, 1), [ev.AbortCheckpoint(1, CANCELLED)], S.WAITING),
    (S.COLLECTING, arrived(1, ALIGNED), [ev.BlockChannel(1)], S.COLLECTING),
    (
        S.COLLECTING,
        arrived(1, TURNED),
        [ev.FailTask("an aligned handler got an unaligned barrier")],
        S.COLLECTING,
    ),
    (S.COLLECTING, announced(1, 7), [], S.COLLECTING),
    (S.COLLECTING, ENDED, [], S.COLLECTING),
    (
        S.COLLECTING,
        CANCEL,
        [ev.ResumeChannels((0,)), ev.AbortCheckpoint(1, CANCELLED)],
        S.WAITING,
    ),
    (S.ALTERNATING_WAITING, arrived(0, TIMED), [ev.BlockChannel(0)], S.ALTERNATING_COLLECTING),
    (
        S.ALTERNATING_WAITING,
        arrived(0, TIMED, 151),
        [
            ev.BlockChannel(0),
            ev.PrioritizeBarriers(((1, 7),)),
            ev.InitializeInput(TURNED),
            ev.StartInput(0, TURNED),
            ev.TriggerCheckpoint(TURNED, 51),
        ],
        S.COLLECTING_UNALIGNED,
    ),
    (
        S.ALTERNATING_WAITING,
        arrived(0, TURNED),
        [ev.PrioritizeBarriers(((1, 7),)), *START],
        S.COLLECTING_UNALIGNED,
    ),
    (S.ALTERNATING_WAITING, announced(0, 3), [], S.ALTERNATING_WAITING),
    (S.ALTERNATING_WAITING, ENDED, [], S.ALTERNATING_WAITING),
    (
        S.ALTERNATING_WAITING,
        ev.CancellationArrived(110, 0, 2),
        [ev.CancelTimer(1), ev.AbortCheckpoint(2, CANCELLED)],
        S.ALTERNATING_WAITING,
    ),
    (
        S.ALTERNATING_WAITING,
        TIMEOUT,
        [ev.PrioritizeBarriers(((1, 7),))],
        S.WAITING_UNALIGNED,
    ),
    (S.ALTERNATING_COLLECTING, arrived(1, TIMED), [ev.BlockChannel(1)], S.ALTERNATING_COLLECTING),
    (
        S.ALTERNATING_COLLECTING,
        arrived(1, TURNED),
        [ev.PrioritizeBarriers(((1, 7),)), *START],
        S.COLLECTING_UNALIGNED,
    ),
    (S.ALTERNATING_COLLECTING, announced(2, 3), [], S.ALTERNATING_COLLECTING),
    (S.ALTERNATING_COLLECTING, ENDED, [], S.ALTERNATING_COLLECTING),
    (
        S.ALTERNATING_COLLECTING,
        ev.ChannelEnded(151, 2),
        [ev.PrioritizeBarriers(((1, 7),)), *START],
        S.COLLECTING_UNALIGNED,
    ),
    (
        S.ALTERNATING_COLLECTING,
        CANCEL,
        [ev.CancelTimer(1), ev.ResumeChannels((0,)), ev.AbortCheckpoint(1, CANCELLED)],
        S.ALTERNATING_WAITING,
    ),
    (
        S.ALTERNATING_COLLECTING,
        TIMEOUT,
        [ev.PrioritizeBarriers(((1, 7),)), *START],
        S.COLLECTING_UNALIGNED,
    ),
    (
        S.WAITING_UNALIGNED,
        arrived(0, TIMED),
        [ev.BlockChannel(0), *START],
        S.COLLECTING_UNALIGNED,
    ),
    (S.WAITING_UNALIGNED, arrived(0, TURNED), START, S.COLLECTING_UNALIGNED),
    (
        S.WAITING_UNALIGNED,
        announced(2, 3),
        [ev.PrioritizeBarriers(((2, 3),))],
        S.WAITING_UNALIGNED,
    ),
    (S.WAITING_UNALIGNED, ENDED, [], S.WAITING_UNALIGNED),
    (
        S.WAITING_UNALIGNED,
        ev.CancellationArrived(110, 0, 2),
        [ev.AbortCheckpoint(2, CANCELLED)],
        S.ALTERNATING_WAITING,
    ),
    (S.WAITING_UNALIGNED, TIMEOUT, [], S.WAITING_UNALIGNED),
    (S.COLLECTING_UNALIGNED, arrived(1, TIMED), [ev.BlockChannel(1)], S.COLLECTING_UNALIGNED),
    (S.COLLECTING_UNALIGNED, arrived(1, TURNED), [], S.COLLECTING_UNALIGNED),
    (
        S.COLLECTING_UNALIGNED,
        announced(2, 3),
        [ev.PrioritizeBarriers(((2, 3),))],
        S.COLLECTING_UNALIGNED,
    ),
    (S.COLLECTING_UNALIGNED, ENDED, [], S.COLLECTING_UNALIGNED),
    (
        S.COLLECTING_UNALIGNED,
        CANCEL,
        [
            ev.StopInput(0, 1),
            ev.ResumeChannels((0,)),
            ev.AlignmentMeasured(1, 0, 0),
            ev.AbortCheckpoint(1, CANCELLED),
        ],
        S.ALTERNATING_WAITING,
    ),
    (S.COLLECTING_UNALIGNED, TIMEOUT, [], S.COLLECTING_UNALIGNED),
]

FULL_ROWS: list[tuple[State, ev.HandlerEvent, list[ev.HandlerEffect]]] = [
    (
        S.COLLECTING,
        arrived(1, ALIGNED, 130),
        [
            ev.BlockChannel(1),
            ev.TriggerCheckpoint(ALIGNED, 10),
            ev.AlignmentMeasured(1, 20, 0),
            ev.ResumeChannels((0, 1)),
            ev.AllBarriersReceived(1),
        ],
    ),
    (
        S.COLLECTING,
        ev.ChannelEnded(130, 1),
        [
            ev.TriggerCheckpoint(ALIGNED, 10),
            ev.AlignmentMeasured(1, 20, 0),
            ev.ResumeChannels((0,)),
            ev.AllBarriersReceived(1),
        ],
    ),
    (
        S.ALTERNATING_COLLECTING,
        arrived(1, TIMED, 180),
        [
            ev.BlockChannel(1),
            ev.InitializeInput(TIMED),
            ev.TriggerCheckpoint(TIMED, 10),
            ev.AlignmentMeasured(1, 70, 0),
            ev.ResumeChannels((0, 1)),
            ev.CancelTimer(1),
            ev.AllBarriersReceived(1),
        ],
    ),
    (
        S.ALTERNATING_COLLECTING,
        arrived(1, TURNED, 130),
        [
            ev.PrioritizeBarriers(((1, 7),)),
            *START,
            ev.AlignmentMeasured(1, 20, 0),
            ev.StopInput(0, 1),
            ev.ResumeChannels((0,)),
            ev.CancelTimer(1),
            ev.AllBarriersReceived(1),
        ],
    ),
    (
        S.ALTERNATING_COLLECTING,
        ev.ChannelEnded(180, 1),
        [
            ev.InitializeInput(TIMED),
            ev.TriggerCheckpoint(TIMED, 10),
            ev.AlignmentMeasured(1, 70, 0),
            ev.ResumeChannels((0,)),
            ev.CancelTimer(1),
            ev.AllBarriersReceived(1),
        ],
    ),
    (
        S.COLLECTING_UNALIGNED,
        arrived(1, TIMED, 180),
        [
            ev.AlignmentMeasured(1, 70, 0),
            ev.BlockChannel(1),
            ev.StopInput(0, 1),
            ev.ResumeChannels((0, 1)),
            ev.AllBarriersReceived(1),
        ],
    ),
    (
        S.COLLECTING_UNALIGNED,
        ev.ChannelEnded(180, 1),
        [
            ev.AlignmentMeasured(1, 70, 0),
            ev.StopInput(0, 1),
            ev.ResumeChannels((0,)),
            ev.AllBarriersReceived(1),
        ],
    ),
]
