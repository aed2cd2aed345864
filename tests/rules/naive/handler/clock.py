"""The rules of the alignment clock, stated naively.

Source: Apache Flink 1.20.3, CheckpointBarrierHandler: durations and bytes are futures that the end
of the alignment, an abort or a new start fills.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ckptsim.models.barriers import Barrier
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.sim.rules.answers import Answer, Refused
from tests.rules.naive.naive import Naive


class ClockRules(Naive):
    """What the clock of a handler measures; the rules of handlers are this and more.

    counts_bytes: whether bytes come as events; a host may count them on the clock itself, and then
    how many they are is not compared.
    """

    def __init__(self, *, counts_bytes: bool) -> None:
        self._counts_bytes = counts_bytes
        self._now = 0
        # The open alignment: (start, bytes) while it runs; its checkpoint; its figures at its end.
        self._running: tuple[int, int] | None = None
        self._measured = -1
        self._start_delay_ns = 0
        self._figures: tuple[int, int] | None = None
        self._owed: list[int] = []

    def normal(self, answer: Answer) -> Answer:
        """Return an answer without what is not compared: stories, and bytes counted unseen."""
        if isinstance(answer, Refused):
            return answer
        return tuple(self._plain(effect) for effect in answer)

    def _plain(self, effect: Any) -> Any:
        if isinstance(effect, handler_events.FailTask):
            return replace(effect, story="")
        if isinstance(effect, handler_events.AlignmentMeasured) and not self._counts_bytes:
            return replace(effect, bytes=0)
        return effect

    def _bytes(self, count: int) -> list[Any]:
        if self._running is not None:
            self._running = (self._running[0], self._running[1] + count)
        return []

    def _end(self, duration_ns: int) -> list[Any]:
        """Fill the open figures, and give them to whoever waits for them."""
        size = self._running[1] if self._running is not None else 0
        self._running = None
        if self._figures is not None:
            return []
        self._figures = (duration_ns, size)
        owed, self._owed = self._owed, []
        return [
            handler_events.AlignmentMeasured(checkpoint, duration_ns, size) for checkpoint in owed
        ]

    def _reset(self) -> list[Any]:
        effects = self._end(0)
        self._figures = None
        return effects

    def _begin(self, barrier: Barrier) -> list[Any]:
        effects = self._reset()
        self._start_delay_ns = max(0, self._now - barrier.timestamp_ns)
        self._running = (self._now, 0)
        self._measured = barrier.checkpoint
        return effects

    def _aligned_now(self) -> list[Any]:
        """End the alignment at the last barrier; the task fails where none runs."""
        if self._running is None:
            return [handler_events.FailTask("")]
        return self._end(self._now - self._running[0])

    def _trigger(self, barrier: Barrier) -> list[Any]:
        checkpoint = barrier.checkpoint
        if checkpoint != self._measured:
            return [
                handler_events.TriggerCheckpoint(barrier, 0),
                handler_events.AlignmentMeasured(checkpoint, 0, 0),
            ]
        trigger = handler_events.TriggerCheckpoint(barrier, self._start_delay_ns)
        if self._figures is None:
            self._owed.append(checkpoint)
            return [trigger]
        return [trigger, handler_events.AlignmentMeasured(checkpoint, *self._figures)]
