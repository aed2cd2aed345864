"""The shared writer of in-flight data of several subtasks: its events, effects and core.

One file holds what up to five subtasks, of whichever vertices, write for one checkpoint.  A
subtask's part is whole when its input and its output are closed. The file is stored when every
registered subtask has begun and its part is whole, so the quickest subtask waits for the slowest of
its group.  An error, or an abort by one subtask, fails the file for all of them.  One checkpoint is
written at a time: a newer one fails the open parts of an older one, and later events of the older
one are dropped.

Promised: every WriteStarted is answered by exactly one PartWritten or PartFailed, also one that
comes after its checkpoint was aborted.

Source: Apache Flink 1.20.3, ChannelStateWriteRequestDispatcherImpl and
ChannelStateCheckpointWriter. Pull request 20151 for the sharing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.core import ProtocolError


@dataclass(frozen=True, slots=True)
class WriteStarted:
    """A subtask begins to write in-flight data of a checkpoint."""

    subtask: int
    checkpoint: int


@dataclass(frozen=True, slots=True)
class DataAdded:
    """A subtask has something to write."""

    subtask: int
    checkpoint: int
    bytes: int


@dataclass(frozen=True, slots=True)
class InputClosed:
    """A subtask's input part is whole."""

    subtask: int
    checkpoint: int


@dataclass(frozen=True, slots=True)
class OutputClosed:
    """A subtask's output part is whole."""

    subtask: int
    checkpoint: int


@dataclass(frozen=True, slots=True)
class WriteAborted:
    """A subtask gives its part up."""

    subtask: int
    checkpoint: int
    reason: FailureReason


@dataclass(frozen=True, slots=True)
class StreamStored:
    """The host has stored the file of StoreStream."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class StreamFailed:
    """The host could not write the file of a checkpoint."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class SubtaskReleased:
    """A subtask has ended and will begin no checkpoint any more. What it has begun stays open."""

    subtask: int


WriterEvent: TypeAlias = (
    WriteStarted
    | DataAdded
    | InputClosed
    | OutputClosed
    | WriteAborted
    | StreamStored
    | StreamFailed
    | SubtaskReleased
)


@dataclass(frozen=True, slots=True)
class OpenStream:
    """Open the file of a checkpoint: the first byte is on its way."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class WriteBytes:
    """Append to the file."""

    checkpoint: int
    bytes: int


@dataclass(frozen=True, slots=True)
class StoreStream:
    """Close the file and make it durable. Answer with StreamStored or StreamFailed."""

    checkpoint: int
    bytes: int


@dataclass(frozen=True, slots=True)
class DropStream:
    """Close and remove the file."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class PartWritten:
    """A subtask's in-flight data of a checkpoint is durable. `bytes` of it."""

    subtask: int
    checkpoint: int
    bytes: int


@dataclass(frozen=True, slots=True)
class PartFailed:
    """A subtask's in-flight data of a checkpoint will not become durable."""

    subtask: int
    checkpoint: int
    reason: FailureReason


WriterEffect: TypeAlias = (
    OpenStream | WriteBytes | StoreStream | DropStream | PartWritten | PartFailed
)


MAX_SUBTASKS_PER_FILE = 5
"""Default of execution.checkpointing.unaligned.max-subtasks-per-channel-state-file.

Source: Apache Flink 1.20.3.
"""


class _Part:
    """One subtask's share of the file."""

    __slots__ = ("bytes", "input_closed", "output_closed")

    def __init__(self) -> None:
        self.bytes = 0
        self.input_closed = False
        self.output_closed = False

    @property
    def whole(self) -> bool:
        """Whether nothing more follows."""
        return self.input_closed and self.output_closed


class SharedStateWriter:
    """Writes the in-flight data of a group of subtasks, one checkpoint at a time."""

    __slots__ = (
        "_aborted",
        "_aborted_by",
        "_effects",
        "_ongoing",
        "_opened",
        "_parts",
        "_storing",
        "_subtasks",
    )

    def __init__(self, subtasks: Iterable[int]) -> None:
        self._subtasks = sorted(subtasks)
        self._parts: dict[int, _Part] = {}
        self._ongoing = -1
        self._opened = False
        self._storing = False
        self._aborted = -1
        self._aborted_by: tuple[int, FailureReason] | None = None
        self._effects: list[WriterEffect] = []

    @property
    def writing(self) -> tuple[int, ...]:
        """The subtasks that wait for an answer, ascending."""
        return tuple(sorted(self._parts))

    def step(self, event: WriterEvent) -> list[WriterEffect]:
        """Return an event's effects. Raises ProtocolError for data before the beginning."""
        effects: list[WriterEffect] = []
        self._effects = effects
        match event:
            case WriteStarted():
                self._start(event)
            case WriteAborted():
                self._abort(event)
            case StreamStored():
                self._stored(event.checkpoint)
            case StreamFailed():
                if event.checkpoint == self._ongoing:
                    self._fail_all(FailureReason.CHANNEL_STATE_SHARED_STREAM_EXCEPTION)
            case SubtaskReleased():
                self._release(event.subtask)
            case DataAdded() | InputClosed() | OutputClosed():
                part = self._part_of(event)
                if part is not None:
                    self._write(event, part)
            case _:
                assert_never(event)
        return effects

    def _start(self, event: WriteStarted) -> None:
        checkpoint, subtask = event.checkpoint, event.subtask
        # Answered at once, or the subtask would wait for its file for ever (FLINK-28474): an abort
        # can overtake the start, as it comes by another way.
        if checkpoint <= self._aborted or checkpoint < self._ongoing:
            self._effects.append(PartFailed(subtask, checkpoint, self._why_aborted(event)))
            return
        if checkpoint > self._ongoing:
            self._fail_all(FailureReason.CHECKPOINT_DECLINED_SUBSUMED)
            self._ongoing = checkpoint
        if subtask in self._parts:
            raise ProtocolError("begun_twice", state=self._words(), event=event)
        self._parts[subtask] = _Part()

    def _release(self, subtask: int) -> None:
        """Wait no more for a subtask to begin. One that has begun is owed an end or an abort.

        Source: Apache Flink 1.20.3, ChannelStateCheckpointWriter.releaseSubtask.
        """
        self._subtasks = [index for index in self._subtasks if index != subtask]
        self._store_if_whole()

    def _why_aborted(self, event: WriteStarted) -> FailureReason:
        if event.checkpoint != self._aborted or self._aborted_by is None:
            return FailureReason.CHECKPOINT_DECLINED_SUBSUMED
        subtask, reason = self._aborted_by
        if subtask == event.subtask:
            return reason
        return FailureReason.CHANNEL_STATE_SHARED_STREAM_EXCEPTION

    def _part_of(self, event: DataAdded | InputClosed | OutputClosed) -> _Part | None:
        checkpoint = event.checkpoint
        if checkpoint <= self._aborted or checkpoint < self._ongoing:
            return None
        if checkpoint > self._ongoing:
            raise ProtocolError("not_begun", state=self._words(), event=event)
        return self._parts.get(event.subtask)

    def _write(self, event: DataAdded | InputClosed | OutputClosed, part: _Part) -> None:
        match event:
            case DataAdded():
                if not self._opened:
                    self._opened = True
                    self._effects.append(OpenStream(event.checkpoint))
                part.bytes += event.bytes
                self._effects.append(WriteBytes(event.checkpoint, event.bytes))
                return
            case InputClosed():
                part.input_closed = True
            case OutputClosed():
                part.output_closed = True
            case _:
                assert_never(event)
        self._store_if_whole()

    def _store_if_whole(self) -> None:
        # All that are registered, not all that have begun: a subtask with a late barrier still
        # writes into this file.  One that is released is taken off, or the file would wait for it
        # for ever.
        begun = self._parts and all(subtask in self._parts for subtask in self._subtasks)
        if self._storing or not begun or not all(part.whole for part in self._parts.values()):
            return
        # Without data there is no file: nothing is stored, and the parts are whole as they are.
        if not self._opened:
            self._answer_all()
            return
        self._storing = True
        size = sum(part.bytes for part in self._parts.values())
        self._effects.append(StoreStream(self._ongoing, size))

    def _stored(self, checkpoint: int) -> None:
        if checkpoint == self._ongoing and self._storing:
            self._answer_all()

    def _answer_all(self) -> None:
        for subtask, part in sorted(self._parts.items()):
            self._effects.append(PartWritten(subtask, self._ongoing, part.bytes))
        self._clear()

    def _abort(self, event: WriteAborted) -> None:
        if event.checkpoint > self._aborted:
            self._aborted = event.checkpoint
            self._aborted_by = (event.subtask, event.reason)
        # Remembered before anything else, also for a checkpoint that was never begun here: what
        # comes for it later is refused by `_start` and dropped by `_part_of`.
        if event.checkpoint > self._ongoing:
            self._fail_all(FailureReason.CHECKPOINT_DECLINED_SUBSUMED)
        elif event.checkpoint == self._ongoing:
            self._fail_all(
                FailureReason.CHANNEL_STATE_SHARED_STREAM_EXCEPTION,
                culprit=(event.subtask, event.reason),
            )

    def _fail_all(
        self, reason: FailureReason, *, culprit: tuple[int, FailureReason] | None = None
    ) -> None:
        """Fail every open part. The culprit's for the reason that it gave itself."""
        if self._opened:
            self._effects.append(DropStream(self._ongoing))
        for subtask in self.writing:
            own = culprit[1] if culprit is not None and culprit[0] == subtask else reason
            self._effects.append(PartFailed(subtask, self._ongoing, own))
        self._clear()

    def _clear(self) -> None:
        self._parts.clear()
        self._opened = False
        self._storing = False

    def _words(self) -> str:
        return f"checkpoint {self._ongoing}, subtasks {self.writing} writing"


def group_of(subtask: int, *, limit: int = MAX_SUBTASKS_PER_FILE) -> int:
    """Return which file a subtask writes to. subtask: its position on this task manager."""
    return subtask // limit


def handle_bytes(parts: Iterable[int], *, inline_threshold_bytes: int) -> int:
    """Return how many bytes of in-flight data travel inside an acknowledgement.

    parts: written sizes per channel.  Small state is carried along, once however many channels
    share it. Larger state lies in a file.

    Source: Apache Flink, pull request 12292. FsCheckpointStateOutputStream for the bound, which is
    small still.
    """
    total = sum(parts)
    return total if total <= inline_threshold_bytes else 0
