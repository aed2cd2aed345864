"""The barrier handler beyond its tables: refusals, timers, the alignment clock, odd input."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ckptsim.models.barriers import RemoteInputChannel, SharedStateWriter
from ckptsim.models.barriers import channel_state as writer_events
from ckptsim.models.barriers.barrier import Barrier, OptionKind, select_kind
from ckptsim.models.barriers.channels import NetworkEffect, PersisterStatus, PersistInput
from ckptsim.models.barriers.handler import (
    AllBarriers,
    HandlerKind,
    SingleCheckpointHandler,
    State,
    handler_kind,
    make_handler,
)
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.handler.machine import AlignmentClock
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.core import ProtocolError

ALTERNATING = HandlerKind.ALTERNATING
REASON = FailureReason.CHECKPOINT_SUBSUMED
TIMED = Barrier(1, 0, OptionKind.TIMEOUTABLE, 100)
UNALIGNED = Barrier(1, 0, OptionKind.UNALIGNED)
ALIGNED = Barrier(1, 0, OptionKind.ALIGNED)


def test_a_refused_start_aborts_in_the_old_state() -> None:
    """No trigger, no stop: the checkpoint is aborted as if its first barrier had not come."""
    handler = SingleCheckpointHandler(ALTERNATING, 2, gates=2)
    effects = handler.step(handler_events.BarrierArrived(0, 0, UNALIGNED))
    assert effects[:2] == [
        handler_events.InitializeInput(UNALIGNED),
        handler_events.StartInput(0, UNALIGNED),
    ]
    assert handler.step(handler_events.InputRefused(0, REASON)) == [
        handler_events.AbortCheckpoint(1, REASON)
    ]
    assert handler.state is State.ALTERNATING_WAITING
    assert handler.all_barriers(1) is AllBarriers.FAILED
    assert handler.step(handler_events.BarrierArrived(0, 1, UNALIGNED)) == []


def test_a_later_gate_that_refuses_leaves_the_others_persisting() -> None:
    """As in the engine no gate is stopped. What still arrives for the aborted start is dropped."""
    network: list[NetworkEffect] = []
    channels = [RemoteInputChannel(index, network) for index in range(3)]
    gates = [channels[:2], channels[2:]]
    writer = SharedStateWriter([0])
    handler = SingleCheckpointHandler(ALTERNATING, 3, gates=2)
    channels[2].arrive(replace(UNALIGNED, checkpoint=2))
    channels[0].arrive(UNALIGNED)
    writer.step(writer_events.WriteStarted(0, 1))
    starts = [
        effect
        for effect in handler.step(handler_events.BarrierArrived(0, 0, UNALIGNED))
        if isinstance(effect, handler_events.StartInput)
    ]
    refused = [[channel.start(1) for channel in gates[effect.gate]] for effect in starts]
    assert refused == [[None, None], [REASON]]
    assert handler.step(handler_events.InputRefused(0, REASON)) == [
        handler_events.AbortCheckpoint(1, REASON)
    ]
    writer.step(writer_events.WriteAborted(0, 1, REASON))
    assert channels[1].persister.status is PersisterStatus.BARRIER_PENDING
    channels[1].arrive("late")
    assert network == [PersistInput(1, 1, ("late",))]
    assert writer.step(writer_events.DataAdded(0, 1, 4)) == []
    channels[1].arrive(replace(UNALIGNED, checkpoint=2))
    channels[1].arrive("later")
    assert len(network) == 1


def test_a_refusal_at_the_last_barrier_still_frees_the_channels() -> None:
    """The resume and the end of the timer that the host dropped come with the abort."""
    handler = SingleCheckpointHandler(ALTERNATING, 2)
    handler.step(handler_events.BarrierArrived(0, 0, TIMED))
    effects = handler.step(handler_events.BarrierArrived(5, 1, TIMED))
    assert effects[1] == handler_events.InitializeInput(TIMED)
    assert handler.step(handler_events.InputRefused(5, REASON)) == [
        handler_events.CancelTimer(1),
        handler_events.ResumeChannels((0, 1)),
        handler_events.AbortCheckpoint(1, REASON),
    ]
    assert not handler.pending
    assert handler.blocked == ()


def test_a_refusal_when_the_timer_fires() -> None:
    """The checkpoint that the time-out could not start is aborted and its channel resumed."""
    handler = SingleCheckpointHandler(ALTERNATING, 2)
    handler.step(handler_events.BarrierArrived(0, 0, TIMED))
    handler.step(handler_events.TimerFired(100, TIMED))
    assert handler.step(handler_events.InputRefused(100, REASON)) == [
        handler_events.CancelTimer(1),
        handler_events.ResumeChannels((0,)),
        handler_events.AbortCheckpoint(1, REASON),
    ]


def test_only_the_latest_step_can_be_refused() -> None:
    """A refusal of nothing, or too late, is an error."""
    handler = SingleCheckpointHandler(ALTERNATING, 2)
    with pytest.raises(ProtocolError, match="nothing_to_refuse"):
        handler.step(handler_events.InputRefused(0, REASON))
    handler.step(handler_events.BarrierArrived(0, 0, UNALIGNED))
    handler.step(handler_events.BytesProcessed(1))
    with pytest.raises(ProtocolError, match="nothing_to_refuse"):
        handler.step(handler_events.InputRefused(0, REASON))


def test_an_unknown_channel_is_an_error_that_changes_nothing() -> None:
    """Channels are numbered over all gates, from 0."""
    handler = SingleCheckpointHandler(ALTERNATING, 2)
    for event in (
        handler_events.BarrierArrived(0, 2, TIMED),
        handler_events.BarrierAnnounced(0, -1, TIMED, 0),
        handler_events.CancellationArrived(0, 9, 1),
        handler_events.ChannelEnded(0, 2),
    ):
        with pytest.raises(ProtocolError, match="unknown_channel"):
            handler.step(event)
    assert handler.latest == -1
    with pytest.raises(ProtocolError, match="unknown_checkpoint"):
        handler.all_barriers(1)


def test_an_obsolete_aligned_barrier_frees_its_channel() -> None:
    """The network blocked itself. An unaligned one blocked nothing."""
    handler = SingleCheckpointHandler(ALTERNATING, 2)
    handler.step(handler_events.BarrierArrived(0, 0, Barrier(5, 0, OptionKind.UNALIGNED)))
    assert handler.step(handler_events.BarrierArrived(0, 1, ALIGNED)) == [
        handler_events.ResumeChannels((1,))
    ]
    assert handler.step(handler_events.BarrierArrived(0, 1, UNALIGNED)) == []


def test_a_barrier_by_rpc_counts_without_blocking() -> None:
    """The channel of a finished sender is aligned but needs no resume."""
    handler = SingleCheckpointHandler(HandlerKind.ALIGNED, 2)
    assert handler.step(handler_events.BarrierArrived(0, 0, ALIGNED, by_rpc=True)) == []
    effects = handler.step(handler_events.BarrierArrived(0, 1, ALIGNED))
    assert handler_events.ResumeChannels((1,)) in effects


def test_a_cancellation_of_an_announced_checkpoint_is_ignored() -> None:
    """No barrier has come yet, so no one would free the channels. A newer checkpoint does."""
    handler = SingleCheckpointHandler(ALTERNATING, 2)
    handler.step(handler_events.BarrierAnnounced(0, 0, TIMED, 3))
    assert handler.step(handler_events.CancellationArrived(0, 1, 1)) == []
    handler.step(handler_events.BarrierArrived(0, 0, TIMED))
    assert handler.blocked == (0,)
    newer = Barrier(2, 0, OptionKind.UNALIGNED)
    assert handler_events.ResumeChannels((0,)) in handler.step(
        handler_events.BarrierArrived(0, 1, newer)
    )


def test_a_stale_timer_clears_the_handle_of_the_newer_one() -> None:
    """The newer timer can then not be cancelled any more, and fires in vain."""
    handler = SingleCheckpointHandler(ALTERNATING, 1)
    handler.step(handler_events.BarrierArrived(0, 0, TIMED))
    newer = Barrier(2, 0, OptionKind.TIMEOUTABLE, 100)
    handler.step(handler_events.BarrierAnnounced(0, 0, newer, 1))
    assert handler.step(handler_events.TimerFired(0, TIMED)) == []
    effects = handler.step(handler_events.BarrierArrived(0, 0, newer))
    assert not any(isinstance(effect, handler_events.CancelTimer) for effect in effects)


def test_an_announced_checkpoint_whose_channels_all_end_is_neither_triggered_nor_aborted() -> None:
    """It is over all the same, and no one waits for it."""
    handler = SingleCheckpointHandler(ALTERNATING, 2)
    handler.step(handler_events.BarrierAnnounced(0, 0, TIMED, 3))
    assert handler.step(handler_events.ChannelEnded(0, 0)) == []
    assert handler.step(handler_events.ChannelEnded(0, 1)) == [
        handler_events.CancelTimer(1),
        handler_events.AllBarriersReceived(1),
    ]
    assert not handler.pending


def test_a_repeated_barrier_restarts_the_clock_while_it_is_the_only_one() -> None:
    """The alignment then spans from the repeat. From the second channel on repeats do nothing."""
    handler = SingleCheckpointHandler(HandlerKind.ALIGNED, 3)
    handler.step(handler_events.BarrierArrived(10, 0, ALIGNED))
    handler.step(handler_events.BarrierArrived(20, 0, ALIGNED))
    handler.step(handler_events.BarrierArrived(30, 1, ALIGNED))
    handler.step(handler_events.BarrierArrived(40, 0, ALIGNED))
    effects = handler.step(handler_events.BarrierArrived(60, 2, ALIGNED))
    assert handler_events.AlignmentMeasured(1, 40, 0) in effects
    assert handler_events.TriggerCheckpoint(ALIGNED, 20) in effects


def test_bytes_count_while_the_clock_runs() -> None:
    """From the first to the last barrier, by event or directly on the clock."""
    handler = SingleCheckpointHandler(HandlerKind.UNALIGNED, 2)
    handler.step(handler_events.BytesProcessed(5))
    handler.step(handler_events.BarrierArrived(10, 0, UNALIGNED))
    assert handler.clock.owed == (1,)
    handler.step(handler_events.BytesProcessed(7))
    handler.clock.add_bytes(11)
    effects = handler.step(handler_events.BarrierArrived(30, 1, UNALIGNED))
    assert effects[0] == handler_events.AlignmentMeasured(1, 20, 18)


def test_the_clock_does_not_stop_twice() -> None:
    """Stopping a clock that is stopped is refused and changes nothing."""
    clock = AlignmentClock()
    effects: list[handler_events.HandlerEffect] = []
    assert not clock.stop(0, effects)
    clock.start(5, ALIGNED, effects)
    assert clock.stop(9, effects)
    assert not clock.stop(11, effects)
    clock.trigger(ALIGNED, effects)
    assert effects[-1] == handler_events.AlignmentMeasured(1, 4, 0)
    assert clock.checkpoint == 1


def test_which_handler_a_task_gets() -> None:
    """Unaligned-enabled exactly-once jobs alternate. At-least-once cannot be unaligned."""
    assert handler_kind(exactly_once=True, unaligned_enabled=True) is ALTERNATING
    assert handler_kind(exactly_once=True, unaligned_enabled=False) is HandlerKind.ALIGNED
    assert handler_kind(exactly_once=False, unaligned_enabled=False) is HandlerKind.TRACKER
    with pytest.raises(ProtocolError, match="unaligned_at_least_once"):
        handler_kind(exactly_once=False, unaligned_enabled=True)
    for kind in HandlerKind:
        assert make_handler(kind, 3).open_channels == 3


KINDS = [
    ({"exactly_once": False, "savepoint": True}, OptionKind.AT_LEAST_ONCE),
    ({"savepoint": True, "unaligned_enabled": True}, OptionKind.SAVEPOINT),
    ({}, OptionKind.ALIGNED),
    ({"unaligned_enabled": True}, OptionKind.UNALIGNED),
    ({"unaligned_enabled": True, "timeout_ns": None}, OptionKind.UNALIGNED),
    ({"unaligned_enabled": True, "timeout_ns": (2**63 - 1) * 10**6}, OptionKind.UNALIGNED),
    ({"unaligned_enabled": True, "timeout_ns": 1}, OptionKind.TIMEOUTABLE),
]


@pytest.mark.parametrize(("settings", "kind"), KINDS)
def test_the_option_kind_of_a_checkpoint(settings: dict[str, int | None], kind: OptionKind) -> None:
    """Mode first, then savepoint, then whether unaligned is on, then the time-out."""
    defaults: dict[str, int | None] = {
        "exactly_once": True,
        "savepoint": False,
        "unaligned_enabled": False,
        "timeout_ns": 0,
    }
    assert select_kind(**{**defaults, **settings}) is kind  # type: ignore[arg-type]


def test_an_edge_that_must_keep_its_order_forces_alignment() -> None:
    """Unaligned and timeoutable barriers become forced ones there, and can be turned back."""
    for barrier in (UNALIGNED, TIMED):
        forced = barrier.over_edge(supports_unaligned=False)
        assert forced.kind is OptionKind.FORCED_ALIGNED
        assert forced.needs_alignment
        assert forced.unforced() == barrier
        assert barrier.over_edge(supports_unaligned=True) == barrier
    assert ALIGNED.over_edge(supports_unaligned=False) == ALIGNED
    assert ALIGNED.unforced() == ALIGNED
