"""What an observer is told of how a task ends; this one takes note of nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim.models.lifecycle import TaskState


class LifecycleObserver:
    """Is told how a task ends."""

    def called(self, what: str, operator: int, /) -> None:
        """Note a call of an operator: `advance`, `end_input`, `finish` or `close`."""

    def marked(self, mark: str, /, *, drain: bool = False) -> None:
        """Note an end mark: `watermark`, `end of data` or `end of partition` is sent next."""

    def record_sent(self) -> None:
        """Note that a record is sent."""

    def watermark_taken(self, channel: int, /) -> None:
        """Note that the final watermark of an input counts from now on."""

    def record_taken(self, channel: int, /) -> None:
        """Note that a whole record of an input is processed next."""

    def state_changed(self, state: TaskState, /) -> None:
        """Note the state that the task takes on."""

    def stop_asked(self, *, drain: bool, ended: bool) -> None:
        """Note that a source is asked to stop; ended: it had ended its data before."""

    def end_of_data_acknowledged(self, channel: int, /) -> None:
        """Note that the task acknowledges the EndOfData of an input."""

    def acknowledgement_heard(self, output: int, /) -> None:
        """Note that the task hears of the acknowledgement of its own EndOfData."""

    def performed(self, checkpoint: int, /, *, stop: bool) -> None:
        """Note that the task takes its snapshot; stop: it is the savepoint of a stop."""

    def writes_settled(self) -> None:
        """Note that nothing is being written any more."""

    def completion_heard(self, checkpoint: int | None, /, *, by_abort: bool = False) -> None:
        """Note that the task hears of a completion, or of the latest one by an abort."""

    def abort_taken(self, checkpoint: int, latest_completed: int | None, /) -> None:
        """Note that the task's thread takes the word of an end, and what is complete by it."""

    def giving_up(self, checkpoint: int | None, /) -> None:
        """Note which checkpoint the task has to give up, as it was told to; None: it has."""

    def completion_taken(self, checkpoint: int, /, *, acted: bool) -> None:
        """Note whether the task has made something of it."""
