"""Who is told what really happens at one task, once, where it happens.

`TaskObserver` says what there is to be told; `SilentObserver` listens to nothing, and others take
from it what they do not listen to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ckptsim.models.barriers.barrier import Barrier


class TaskObserver(Protocol):
    """Is told what really happens at one task, once, where it happens."""

    def seen(self, barrier: Barrier, /) -> None:
        """Note that the task hears of a checkpoint by an announcement or a remote call."""
        ...

    def barrier_taken(self, channel: int, barrier: Barrier, /) -> None:
        """Note that the task takes a barrier from a channel."""
        ...

    def barrier_by_rpc(self, channel: int, checkpoint: int, /) -> None:
        """Note that a trigger by remote call stands for a channel's barrier."""
        ...

    def cancelled(self, checkpoint: int, /) -> None:
        """Note a cancellation marker, or a gate that cannot begin a checkpoint any more."""
        ...

    def channel_ended(self, channel: int, /) -> None:
        """Note that the task takes the end of a channel."""
        ...

    def begun(self, barrier: Barrier, /) -> None:
        """Note that the channel state of a checkpoint is begun."""
        ...

    def gate_started(self, gate: int, barrier: Barrier, /) -> None:
        """Note that a gate is told to persist."""
        ...

    def gate_refused(self, gate: int, checkpoint: int, /) -> None:
        """Note that it could not."""
        ...

    def gate_stopped(self, gate: int, /) -> None:
        """Note that a gate is told to persist no more."""
        ...

    def triggered(self, barrier: Barrier, /) -> None:
        """Note that the barrier handler has the task take part in a checkpoint."""
        ...

    def cut(self, barrier: Barrier, start_delay_ns: int, /) -> None:
        """Note the instant to which the task's state belongs."""
        ...

    def measured(self, checkpoint: int, duration_ns: int, size: int, /) -> None:
        """Note the figures of an alignment."""
        ...

    def aborted(self, checkpoint: int, /) -> None:
        """Note that the barrier handler gives a checkpoint up."""
        ...

    def all_received(self, checkpoint: int, /) -> None:
        """Note that all barriers of a checkpoint have come."""
        ...

    def settled(self) -> None:
        """Note that the task has carried out what its barrier handler wanted."""
        ...

    def failed(self) -> None:
        """Note that the task fails."""
        ...

    def entered(self, checkpoint: int, /) -> None:
        """Note that the task is about to take part, or to skip a trigger."""
        ...

    def skipped(self, checkpoint: int, /) -> None:
        """Note a trigger that comes too late."""
        ...

    def answered(self, checkpoint: int, /) -> None:
        """Note that a trigger has been dealt with."""
        ...

    def barrier_sent(self, checkpoint: int, /) -> None:
        """Note the place of a barrier in all queues of the outputs: it comes next."""
        ...

    def cancellation_sent(self, checkpoint: int, /) -> None:
        """Note that the tasks below are told that no barrier comes."""
        ...

    def output_opened(self, output: int, checkpoint: int, /) -> None:
        """Note that a subpartition does not know its state of a checkpoint yet."""
        ...

    def output_settled(self, output: int, checkpoint: int, /) -> None:
        """Note that it does, or never will."""
        ...

    def performed(self, checkpoint: int, /) -> None:
        """Note that the task takes its snapshot."""
        ...

    def writes_settled(self) -> None:
        """Note that nothing is being written any more."""
        ...

    def stop_asked(self, *, drain: bool) -> None:
        """Note that a source is asked to stop."""
        ...

    def completion_heard(self, checkpoint: int | None, /, *, by_abort: bool = False) -> None:
        """Note that the task hears of a completion, or of the latest one by an abort."""
        ...

    def completion_taken(self, checkpoint: int, reported: int, /, *, acted: bool) -> None:
        """Note what the task has made of it; reported: what it had heard of before."""
        ...


class SilentObserver:
    """Takes note of nothing; `TaskObserver` says what each call means."""

    def seen(self, barrier: Barrier, /) -> None:
        """Note nothing."""

    def barrier_taken(self, channel: int, barrier: Barrier, /) -> None:
        """Note nothing."""

    def barrier_by_rpc(self, channel: int, checkpoint: int, /) -> None:
        """Note nothing."""

    def cancelled(self, checkpoint: int, /) -> None:
        """Note nothing."""

    def channel_ended(self, channel: int, /) -> None:
        """Note nothing."""

    def begun(self, barrier: Barrier, /) -> None:
        """Note nothing."""

    def gate_started(self, gate: int, barrier: Barrier, /) -> None:
        """Note nothing."""

    def gate_refused(self, gate: int, checkpoint: int, /) -> None:
        """Note nothing."""

    def gate_stopped(self, gate: int, /) -> None:
        """Note nothing."""

    def triggered(self, barrier: Barrier, /) -> None:
        """Note nothing."""

    def cut(self, barrier: Barrier, start_delay_ns: int, /) -> None:
        """Note nothing."""

    def measured(self, checkpoint: int, duration_ns: int, size: int, /) -> None:
        """Note nothing."""

    def aborted(self, checkpoint: int, /) -> None:
        """Note nothing."""

    def all_received(self, checkpoint: int, /) -> None:
        """Note nothing."""

    def settled(self) -> None:
        """Note nothing."""

    def failed(self) -> None:
        """Note nothing."""

    def entered(self, checkpoint: int, /) -> None:
        """Note nothing."""

    def skipped(self, checkpoint: int, /) -> None:
        """Note nothing."""

    def answered(self, checkpoint: int, /) -> None:
        """Note nothing."""

    def barrier_sent(self, checkpoint: int, /) -> None:
        """Note nothing."""

    def cancellation_sent(self, checkpoint: int, /) -> None:
        """Note nothing."""

    def output_opened(self, output: int, checkpoint: int, /) -> None:
        """Note nothing."""

    def output_settled(self, output: int, checkpoint: int, /) -> None:
        """Note nothing."""

    def performed(self, checkpoint: int, /) -> None:
        """Note nothing."""

    def writes_settled(self) -> None:
        """Note nothing."""

    def stop_asked(self, *, drain: bool) -> None:
        """Note nothing."""

    def completion_heard(self, checkpoint: int | None, /, *, by_abort: bool = False) -> None:
        """Note nothing."""

    def completion_taken(self, checkpoint: int, reported: int, /, *, acted: bool) -> None:
        """Note nothing."""


SILENT = SilentObserver()
