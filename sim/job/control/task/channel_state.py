"""The shared writer of channel state at work: what a group of subtasks writes into one file.

The core says when a file is whole, who fails with whom and everything that is dropped. The port
stores files and shows subtasks.

Source: Apache Flink 1.20.3, ChannelStateWriteRequestExecutorImpl and
ChannelStateWriteRequestDispatcherImpl.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, assert_never

from ckptsim.models.barriers import channel_state as writer_events
from ckptsim.models.barriers.subtask import events as subtask_events
from ckptsim.sim.job.events import of_tasks

if TYPE_CHECKING:
    from ckptsim.sim.job.events import Events
    from ckptsim.sim.job.port import ChannelStatePort
    from ckptsim.sim.slots.protocols import ChannelStateWriter


class ChannelStateHost:
    """Drives the writer of one group of subtasks. group: their tasks, by number."""

    __slots__ = ("_core", "_emit", "_group", "_port", "_waiting")

    def __init__(
        self,
        core: ChannelStateWriter,
        port: ChannelStatePort,
        events: Events,
        group: Iterable[int] = (),
    ) -> None:
        self._core = core
        self._port = port
        self._emit = events.emit
        self._group = tuple(group)
        self._waiting: dict[int, None] = {}

    @property
    def writing(self) -> tuple[int, ...]:
        """The subtasks that wait for the file, ascending."""
        return tuple(sorted(self._waiting))

    def step(self, event: writer_events.WriterEvent) -> None:
        """Give the writer an event and carry out what it wants."""
        emit, group = self._emit, self._group
        begins = event if isinstance(event, writer_events.WriteStarted) else None
        if begins is not None:
            self._waiting[begins.subtask] = None
            emit(of_tasks.FilePartBegun(group, begins.checkpoint, begins.subtask))
        elif isinstance(event, writer_events.WriteAborted):
            emit(of_tasks.FileAborted(group, event.checkpoint))
        for effect in self._core.step(event):
            match effect:
                case writer_events.OpenStream() | writer_events.WriteBytes():
                    pass  # nothing travels before all of it is known
                case writer_events.StoreStream(checkpoint, size):
                    self._port.store(checkpoint, size, self._stored)
                case writer_events.DropStream(checkpoint):
                    self._port.drop(checkpoint)
                case writer_events.PartWritten(subtask, checkpoint, size):
                    self._waiting.pop(subtask, None)
                    emit(of_tasks.FileAnswered(group, checkpoint, subtask, failed=False))
                    self._port.answer(subtask, subtask_events.ChannelStateWritten(checkpoint, size))
                case writer_events.PartFailed(subtask, checkpoint, reason):
                    self._waiting.pop(subtask, None)
                    emit(of_tasks.FileAnswered(group, checkpoint, subtask, failed=True))
                    self._port.answer(
                        subtask, subtask_events.ChannelStateFailed(checkpoint, reason)
                    )
                case _:
                    assert_never(effect)
        if begins is not None:
            emit(of_tasks.FileSettled(group, begins.checkpoint, begins.subtask))

    def _stored(self, checkpoint: int, *, failed: bool) -> None:
        if failed:
            self._emit(of_tasks.FileBroken(self._group, checkpoint))
        self.step(
            writer_events.StreamFailed(checkpoint)
            if failed
            else writer_events.StreamStored(checkpoint)
        )
