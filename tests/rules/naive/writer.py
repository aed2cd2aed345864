"""The rules of the shared writer of in-flight data, stated naively: from what each subtask sent.

Source: Apache Flink 1.20.3, ChannelStateWriteRequestDispatcherImpl and
ChannelStateCheckpointWriter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ckptsim.models.barriers.channel_state import events as writer_events
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.sim.rules.answers import Pick
from tests.rules.naive.naive import Naive

_SHARED = FailureReason.CHANNEL_STATE_SHARED_STREAM_EXCEPTION
_SUBSUMED = FailureReason.CHECKPOINT_DECLINED_SUBSUMED


class WriterRules(Naive):
    """What a writer is to answer: `_heard` has what came for the open file, by subtask."""

    def __init__(self, subtasks: Iterable[int]) -> None:
        self._registered = sorted(subtasks)
        self._names = list(self._registered)
        self._newest = -1
        self._heard: dict[int, tuple[Any, ...]] = {}
        self._storing = False
        self._aborts: list[writer_events.WriteAborted] = []

    def refusals(self, event: Any) -> list[str]:
        """Return why a host may not send the event."""
        if isinstance(event, writer_events.WriteStarted):
            twice = event.checkpoint == self._newest and event.subtask in self._heard
            return ["begun_twice"] if twice and not self._is_past(event.checkpoint) else []
        if isinstance(
            event, writer_events.DataAdded | writer_events.InputClosed | writer_events.OutputClosed
        ):
            return ["not_begun"] if event.checkpoint > max(self._newest, self._given_up) else []
        return []

    @property
    def _given_up(self) -> int:
        return max((each.checkpoint for each in self._aborts), default=-1)

    def _is_past(self, checkpoint: int) -> bool:
        return checkpoint <= self._given_up or checkpoint < self._newest

    def take(self, event: Any) -> Sequence[Any]:
        """Note an event, and return the effects that it has."""
        match event:
            case writer_events.WriteStarted():
                return self._take_start(event)
            case writer_events.WriteAborted():
                return self._take_abort(event)
            case writer_events.StreamStored():
                stored = self._storing and event.checkpoint == self._newest
                return self._written() if stored else []
            case writer_events.StreamFailed():
                return self._fail(_SHARED) if event.checkpoint == self._newest else []
            case writer_events.SubtaskReleased():
                return self._take_release(event.subtask)
            case _:
                return self._take_part(event)

    def _take_start(self, event: writer_events.WriteStarted) -> list[Any]:
        subtask, checkpoint = event.subtask, event.checkpoint
        if self._is_past(checkpoint):
            return [writer_events.PartFailed(subtask, checkpoint, self._why_not(event))]
        effects: list[Any] = []
        if checkpoint > self._newest:
            effects = self._fail(_SUBSUMED)
            self._newest = checkpoint
        self._heard[subtask] = ()
        return effects

    def _why_not(self, event: writer_events.WriteStarted) -> FailureReason:
        """Return its own reason to the subtask that aborted, a shared one to others."""
        if not self._aborts or event.checkpoint != self._given_up:
            return _SUBSUMED
        first = next(each for each in self._aborts if each.checkpoint == event.checkpoint)
        return first.reason if first.subtask == event.subtask else _SHARED

    def _take_abort(self, event: writer_events.WriteAborted) -> list[Any]:
        self._aborts.append(event)
        if event.checkpoint > self._newest:
            return self._fail(_SUBSUMED)
        if event.checkpoint == self._newest:
            return self._fail(_SHARED, but={event.subtask: event.reason})
        return []

    def _take_release(self, subtask: int) -> list[Any]:
        self._registered = [each for each in self._registered if each != subtask]
        return self._finish_if_whole()

    def _take_part(self, event: Any) -> list[Any]:
        if self._is_past(event.checkpoint) or event.subtask not in self._heard:
            return []
        opens = self._opened
        self._heard[event.subtask] = (*self._heard[event.subtask], event)
        if isinstance(event, writer_events.DataAdded):
            first = [] if opens else [writer_events.OpenStream(event.checkpoint)]
            return [*first, writer_events.WriteBytes(event.checkpoint, event.bytes)]
        return self._finish_if_whole()

    @property
    def _opened(self) -> bool:
        return any(
            isinstance(each, writer_events.DataAdded)
            for one in self._heard.values()
            for each in one
        )

    def _size(self, subtask: int) -> int:
        return sum(
            each.bytes for each in self._heard[subtask] if isinstance(each, writer_events.DataAdded)
        )

    def _is_whole(self, subtask: int) -> bool:
        kinds = [type(each) for each in self._heard[subtask]]
        return writer_events.InputClosed in kinds and writer_events.OutputClosed in kinds

    def _finish_if_whole(self) -> list[Any]:
        everybody = self._heard and set(self._registered) <= set(self._heard)
        if self._storing or not everybody or not all(self._is_whole(s) for s in self._heard):
            return []
        if not self._opened:
            return self._written()
        self._storing = True
        return [
            writer_events.StoreStream(self._newest, sum(self._size(each) for each in self._heard))
        ]

    def _written(self) -> list[Any]:
        answers = [
            writer_events.PartWritten(s, self._newest, self._size(s)) for s in sorted(self._heard)
        ]
        self._heard, self._storing = {}, False
        return answers

    def _fail(
        self, reason: FailureReason, but: dict[int, FailureReason] | None = None
    ) -> list[Any]:
        drop = [writer_events.DropStream(self._newest)] if self._opened else []
        own = but or {}
        failed = [
            writer_events.PartFailed(subtask, self._newest, own.get(subtask, reason))
            for subtask in sorted(self._heard)
        ]
        self._heard, self._storing = {}, False
        return [*drop, *failed]

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield what can be asked of the core, and what it is to say."""
        yield "ongoing", core.ongoing, self._newest
        yield "writing", core.writing, tuple(sorted(self._heard))

    def stray(self, pick: Pick) -> Any:
        """Return what subtasks and the file may bring next."""
        subtask = pick.of(self._registered or self._names)
        begun = [each for each in self._heard if not self._is_whole(each)]
        if begun and not pick.one_in(3):  # or some are hardly ever whole before others begin
            subtask = pick.of(begun)
        checkpoint = max(0, self._newest + pick.of((-1, 0, 0, 0, 0, 0, 1)))
        part = (subtask, checkpoint)
        if subtask not in self._heard and pick.one_in(5):
            return writer_events.SubtaskReleased(subtask)  # the others may wait for it alone
        kind = pick.integer(0, 20)
        if kind < 5 or subtask not in self._heard:
            later = checkpoint + (1 if pick.one_in(4) else 0)
            return writer_events.WriteStarted(subtask, later)
        if kind < 8:
            return writer_events.DataAdded(*part, pick.integer(1, 9))
        if kind < 15:
            return pick.of((writer_events.InputClosed(*part), writer_events.OutputClosed(*part)))
        return pick.of(
            (
                writer_events.WriteAborted(
                    subtask, checkpoint + pick.of((0, 0, 1)), pick.of(tuple(FailureReason))
                ),
                writer_events.StreamStored(checkpoint),
                writer_events.StreamStored(checkpoint),
                writer_events.StreamFailed(checkpoint),
                writer_events.SubtaskReleased(subtask),
                writer_events.InputClosed(subtask, self._newest + 1),
            )
        )
