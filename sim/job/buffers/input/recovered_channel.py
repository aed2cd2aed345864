"""Recovered channels: what a restore has read of an input, before the real channel.

A recovered channel is in its gate in the place of the real one.  The I/O thread fills it with
buffers, as many as the gate has. When the last one has been read by the task, nothing more can
come, and the gate may be converted.  The sender of a real channel sends nothing, events included,
before its partition is requested: see `Subpartition.withhold`.

Source: Apache Flink 1.20.3, RecoveredInputChannel, SingleInputGate.convertRecoveredInputChannels.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.output import Slice

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.input.input_gate import Channel, InputGate
    from ckptsim.sim.job.buffers.output import Subpartition


class RecoveredBuffers:
    """The buffers of one recovered channel, as the reader that fills it knows them.

    index: of the channel among the ones of its task.  in_use: how many hold data that the task has
    not read.  consumed: called once, when all has been read by the task. freed: called when a
    buffer is free again.
    """

    __slots__ = ("_consumed", "_freed", "_whole", "in_use", "index")

    def __init__(
        self, index: int, *, consumed: Callable[[], None], freed: Callable[[], None]
    ) -> None:
        self.index = index
        self.in_use = 0
        self._whole = False
        self._consumed = consumed
        self._freed = freed

    def add(self, size: int, records: int) -> None:
        """Put a buffer in that has been read from the state."""
        raise NotImplementedError

    def close(self) -> None:
        """Note that nothing follows."""
        self._whole = True
        self._look()

    def free(self) -> None:
        """Free a buffer after its last record."""
        self.in_use -= 1
        self._freed()
        self._look()

    def _look(self) -> None:
        if self._whole and not self.in_use:
            self._consumed()


class RecoveredChannel(RecoveredBuffers):
    """In-flight data of one channel. The reader adds to it, the task takes from it.

    real: the channel in its place.
    """

    __slots__ = (
        "_queue",
        "announced",
        "gate",
        "listed",
        "partial_bytes",
        "real",
        "records",
        "subpartition",
    )

    floating = 0
    starved = False
    has_priority = False

    def __init__(
        self, real: Channel, *, consumed: Callable[[], None], freed: Callable[[], None]
    ) -> None:
        super().__init__(real.index, consumed=consumed, freed=freed)
        self.real = real
        self.gate: InputGate = real.gate
        self.subpartition: Subpartition = real.subpartition
        self.listed = False
        self.partial_bytes = 0
        self.records = 0
        self.announced = 0
        self._queue: deque[Slice] = deque()

    def add(self, size: int, records: int) -> None:
        """Put a buffer in that has been read from the state."""
        slice_ = Slice(size, records)
        self._queue.append(slice_)
        self.in_use += 1
        self.subpartition.restored.add(size, records)
        self.real.recovered(slice_)
        self.gate.enqueue(self)  # type: ignore[arg-type]

    # The task ---------------------------------------------------------------------------------

    @property
    def queued(self) -> int:
        """How many buffers wait."""
        return len(self._queue)

    @property
    def has_more(self) -> bool:
        """Whether `take` would find something."""
        return bool(self._queue)

    def take(self) -> Slice | None:
        """Take the next buffer."""
        if not self._queue:
            return None
        slice_ = self._queue.popleft()
        self.real.handed_over(slice_)
        return slice_

    def recycle(self, _slice: Slice) -> None:
        """Free the buffer of a slice after its last record."""
        self.free()

    def convert(self) -> Channel:
        """Hand the rest of a record that was read in part to the real channel."""
        self.real.partial_bytes += self.partial_bytes
        self.real.records += self.records
        return self.real

    # What only real channels can do -----------------------------------------------------------

    def announce_size(self, size: int) -> None:
        """Do nothing: the sender learns of a size when it has been asked for its partition."""

    def release(self) -> None:
        """Do nothing: the channel has borrowed no buffers."""
