"""The shared writer of channel state at work: what a group of subtasks writes into one file.

The core says when a file is whole, who fails with whom and what is dropped; the port stores files
and tells subtasks.  The host keeps its own record of who waits for an answer:

* every beginning is answered exactly once, at the latest when the subtask begins a newer one;
* a part fails only with its file, or because its checkpoint was aborted or a newer one has begun.

Source: Apache Flink 1.20.3, ChannelStateWriteRequestExecutorImpl and
ChannelStateWriteRequestDispatcherImpl.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, assert_never

from ckptsim.models.barriers.channel_state import events as do
from ckptsim.models.barriers.subtask import events as sub

if TYPE_CHECKING:
    from ckptsim.models.barriers.channel_state import SharedStateWriter
    from ckptsim.sim.job.port import ChannelStatePort, Violate


class ChannelStateHost:
    """Drives the writer of one group of subtasks."""

    __slots__ = ("_core", "_port", "oracle")

    def __init__(
        self,
        core: SharedStateWriter,
        port: ChannelStatePort,
        names: Mapping[int, str],
        violate: Violate,
    ) -> None:
        self._core = core
        self._port = port
        self.oracle = WriteOracle(names, violate)

    def step(self, event: do.WriterEvent) -> None:
        """Give the writer an event and carry out what it wants."""
        begins = event if isinstance(event, do.WriteStarted) else None
        if begins is not None:
            self.oracle.started(begins.subtask, begins.checkpoint)
        elif isinstance(event, do.WriteAborted):
            self.oracle.aborted(event.checkpoint)
        for effect in self._core.step(event):
            match effect:
                case do.OpenStream() | do.WriteBytes():
                    pass  # nothing travels before all of it is known
                case do.StoreStream(checkpoint, size):
                    self._port.store(checkpoint, size, self._stored)
                case do.DropStream(checkpoint):
                    self._port.drop(checkpoint)
                case do.PartWritten(subtask, checkpoint, size):
                    self.oracle.answered(subtask, checkpoint)
                    self._port.answer(subtask, sub.ChannelStateWritten(checkpoint, size))
                case do.PartFailed(subtask, checkpoint, reason):
                    self.oracle.failed(subtask, checkpoint)
                    self.oracle.answered(subtask, checkpoint)
                    self._port.answer(subtask, sub.ChannelStateFailed(checkpoint, reason))
                case _:
                    assert_never(effect)
        if begins is not None:
            self.oracle.settled(begins.subtask)

    def _stored(self, checkpoint: int, *, failed: bool) -> None:
        if failed:
            self.oracle.broken(checkpoint)
        self.step(do.StreamFailed(checkpoint) if failed else do.StreamStored(checkpoint))


class WriteOracle:
    """Who of a group waits for an answer, and why a part may fail; apart from what the core says.

    names: of the subtasks, for sentences.
    """

    __slots__ = ("_aborted", "_broken", "_names", "_newest", "_unanswered", "_violate")

    def __init__(self, names: Mapping[int, str], violate: Violate) -> None:
        self._names = names
        self._violate = violate
        self._unanswered: dict[tuple[int, int], None] = {}  # (subtask, checkpoint)
        # A cause is asked for of the newest checkpoint only, so the newest of each is enough.
        self._newest = -1  # begun or aborted
        self._aborted = -1
        self._broken = -1

    def started(self, subtask: int, checkpoint: int) -> None:
        """Note that a subtask begins to write."""
        self._unanswered[subtask, checkpoint] = None
        self._newest = max(self._newest, checkpoint)

    def aborted(self, checkpoint: int) -> None:
        """Note that a subtask gives its part up."""
        self._aborted = max(self._aborted, checkpoint)
        self._newest = max(self._newest, checkpoint)

    def broken(self, checkpoint: int) -> None:
        """Note that a file could not be written."""
        self._broken = max(self._broken, checkpoint)

    def answered(self, subtask: int, checkpoint: int) -> None:
        """Note an answer: one per beginning."""
        if (subtask, checkpoint) not in self._unanswered:
            says = f"{self._names[subtask]} hears of channel state that it does not wait for"
            self._violate("writes_are_answered_once", says, checkpoint)
        self._unanswered.pop((subtask, checkpoint), None)

    def failed(self, subtask: int, checkpoint: int) -> None:
        """Check that a part fails for a cause."""
        if checkpoint >= self._newest and checkpoint not in (self._aborted, self._broken):
            says = f"the channel state of {self._names[subtask]} is given up without a cause"
            self._violate("files_fail_for_a_cause", says, checkpoint)

    def settled(self, subtask: int) -> None:
        """Check, after a beginning has been taken in, that older ones have been answered."""
        mine = [number for who, number in self._unanswered if who == subtask]
        for older in mine:
            if older < max(mine):
                says = f"{self._names[subtask]} never hears of its channel state"
                self._violate("writes_are_answered_once", says, older)
                del self._unanswered[subtask, older]

    def unanswered(self) -> list[tuple[str, int]]:
        """Return the subtasks, by name, and checkpoints that have begun and have no answer."""
        return [(self._names[subtask], number) for subtask, number in self._unanswered]
