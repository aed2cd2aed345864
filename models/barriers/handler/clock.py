"""The alignment clock: when an alignment began, how long it took, how many bytes passed.

One clock serves a task.  It is started by the first barrier of a checkpoint and stopped by the last
one.  A trigger that happens in between (unaligned) is owed its figures until the clock ends.  A new
start, also one for the same checkpoint, first ends the running alignment with a duration of zero.

Source: Apache Flink 1.20.3, CheckpointBarrierHandler.
"""

from __future__ import annotations

from ckptsim.models.barriers.barrier import Barrier
from ckptsim.models.barriers.handler.events import (
    AlignmentMeasured,
    HandlerEffect,
    TriggerCheckpoint,
)


class AlignmentClock:
    """Measures alignments and reports each triggered checkpoint's figures once.

    running: whether bytes count at present.
    """

    __slots__ = (
        "_bytes",
        "_checkpoint",
        "_final",
        "_owed",
        "_start_delay_ns",
        "_started_ns",
        "running",
    )

    def __init__(self) -> None:
        self.running = False
        self._started_ns = 0
        self._checkpoint = -1
        self._start_delay_ns = 0
        self._bytes = 0
        self._final: tuple[int, int] | None = None  # duration and bytes of `_checkpoint`
        self._owed: list[int] = []

    @property
    def checkpoint(self) -> int:
        """The checkpoint that started the clock last, -1 before the first."""
        return self._checkpoint

    @property
    def owed(self) -> tuple[int, ...]:
        """Triggered checkpoints without figures so far."""
        return tuple(self._owed)

    def add_bytes(self, count: int) -> None:
        """Count a buffer that was handed to the task. Nothing when the clock is stopped."""
        if self.running:
            self._bytes += count

    def start(self, now_ns: int, barrier: Barrier, effects: list[HandlerEffect]) -> None:
        """Begin an alignment. Whatever was open before ends with a duration of zero."""
        self._start_delay_ns = max(0, now_ns - barrier.timestamp_ns)
        self.reset(effects)
        self.running = True
        self._started_ns = now_ns
        self._checkpoint = barrier.checkpoint

    def stop(self, now_ns: int, effects: list[HandlerEffect]) -> bool:
        """End the alignment. Returns False, changing nothing, when the clock is not running."""
        if not self.running:
            return False
        self._end(now_ns - self._started_ns, effects)
        return True

    def stop_at_once(self, effects: list[HandlerEffect]) -> None:
        """End the alignment with a duration of zero (there is only one channel)."""
        self._end(0, effects)

    def reset(self, effects: list[HandlerEffect]) -> None:
        """Give the open figures out with a duration of zero and begin with fresh ones."""
        self._end(0, effects)
        self._final = None

    def trigger(self, barrier: Barrier, effects: list[HandlerEffect]) -> None:
        """Append the trigger of a checkpoint, and its figures as soon as they are known.

        A checkpoint that did not start the clock has nothing measured: all its figures are zero.
        """
        if barrier.checkpoint != self._checkpoint:
            effects.append(TriggerCheckpoint(barrier, 0))
            effects.append(AlignmentMeasured(barrier.checkpoint, 0, 0))
            return
        effects.append(TriggerCheckpoint(barrier, self._start_delay_ns))
        if self._final is None:
            self._owed.append(barrier.checkpoint)
        else:
            effects.append(AlignmentMeasured(barrier.checkpoint, *self._final))

    def forget_trigger(self, checkpoint: int) -> None:
        """Owe nothing for a trigger that the host did not carry out."""
        if checkpoint in self._owed:
            self._owed.remove(checkpoint)

    def _end(self, duration_ns: int, effects: list[HandlerEffect]) -> None:
        if self._final is None:
            self._final = (duration_ns, self._bytes)
            effects.extend(AlignmentMeasured(owed, *self._final) for owed in self._owed)
            self._owed.clear()
        self.running = False
        self._bytes = 0
