"""How a task of the lifecycle is built, and which events cannot concern it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from ckptsim.models.core import ProtocolError
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.models.lifecycle.states import TaskKind, TaskState, Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskParameters:
    """How a task is built.

    gate_channels: how many channels each input gate has, empty for a source.  chain: operators in
    the chain.  checkpointing, checkpoints_after_finish: with either off, nothing is awaited but the
    savepoint of a stop.  restored_from: the checkpoint that the job was restored from, or None.
    finished_on_restore: the task was finished in it and runs no operator.
    sink_opens_after_finish: None where the task holds no two-phase-commit sink.
    await_acknowledgements: False gives the protocol without the acknowledgement rule, for
    comparison only.
    """

    kind: TaskKind
    variant: Variant = Variant.FLINK
    gate_channels: tuple[int, ...] = ()
    output_channels: int = 1
    chain: int = 1
    checkpointing: bool = True
    checkpoints_after_finish: bool = True
    restored_from: int | None = None
    finished_on_restore: bool = False
    sink_opens_after_finish: bool | None = None
    await_acknowledgements: bool = True

    @property
    def holds_transactions(self) -> bool:
        """Return whether the task has a two-phase-commit sink that runs."""
        return self.sink_opens_after_finish is not None and not self.finished_on_restore


def refuse_foreign(
    event: lifecycle_events.Event, parameters: TaskParameters, state: TaskState
) -> None:
    """Raise ProtocolError for an event that cannot concern a task built like this.

    Raises ProtocolError: `not_a_source`, `not_a_sink` or `unknown_channel`.
    """
    kind = _refusal(event, parameters)
    if kind is not None:
        raise ProtocolError(kind, state=state.name, event=event)


def _refusal(event: lifecycle_events.Event, parameters: TaskParameters) -> str | None:
    source = parameters.kind is TaskKind.SOURCE
    match event:
        case (
            lifecycle_events.InputExhausted()
            | lifecycle_events.StopWithSavepointTriggered()
            | lifecycle_events.Started()
        ):
            return None if source else "not_a_source"
        case lifecycle_events.StateRestored():
            return None if parameters.holds_transactions else "not_a_sink"
        case lifecycle_events.EndOfDataAcknowledged(channel):
            return None if 0 <= channel < parameters.output_channels else "unknown_channel"
        case (
            lifecycle_events.MaxWatermarkReceived(channel=channel)
            | lifecycle_events.EndOfDataReceived(channel=channel)
            | lifecycle_events.EndOfPartitionReceived(channel=channel)
        ):
            return None if 0 <= channel < sum(parameters.gate_channels) else "unknown_channel"
        case (
            lifecycle_events.CheckpointTriggered()
            | lifecycle_events.CheckpointPerformed()
            | lifecycle_events.CheckpointCompleted()
            | lifecycle_events.CheckpointAborted()
        ):
            return None
        case _:
            assert_never(event)
