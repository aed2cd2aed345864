"""Which input a task reads: its gates in turn; one with two inputs stays with one of them.

It does so until that is empty or the thread is interrupted.

Source: Apache Flink 1.20.3, StreamMultipleInputProcessor and MultipleInputSelectionHandler.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.input.channels import Channel
    from ckptsim.sim.job.buffers.input.input_gate import InputGate
    from ckptsim.sim.job.buffers.output import Element, Slice

Unread = tuple["Slice", "Channel", int]
"""A buffer that is being read, its channel, and how many of its records are unread."""


class InputTurns:
    """Takes the gates of one task in turn.

    ready: gates that have something to read, the next one first.
    """

    __slots__ = ("ready",)

    def __init__(self) -> None:
        self.ready: deque[InputGate] = deque()

    def poll(self) -> tuple[Channel, Element] | None:
        """Take the next element of the gate whose turn it is, or None."""
        ready = self.ready
        while ready:
            gate = ready.popleft()
            found = gate.poll()
            if gate.ready:
                ready.append(gate)
            else:
                gate.listed = False
            if found is not None:
                return found
        return None


class InputChoice:
    """Takes elements from the gates of one task; what is read in part can be set aside.

    gates: the task's own list, which is complete when the first element is asked for.
    """

    __slots__ = ("_aside", "_gates", "_last", "_reading")

    def __init__(self, gates: list[InputGate]) -> None:
        self._gates = gates
        self._aside: dict[int, Unread] = {}
        self._reading: InputGate | None = None
        self._last = 0

    def poll(self) -> Unread | tuple[Channel, Element] | None:
        """Take up what was set aside, or take the next element, or return None."""
        for gate in self._in_order():
            found = self._aside.pop(gate.index, None) or gate.poll()
            if found is not None:
                self._reading = gate
                return found
        self._reading = None
        return None

    def event_taken(self) -> None:
        """Note that the element taken last is an event: no input is being read."""
        self._reading = None

    def interrupt(self, unread: Unread | None) -> bool:
        """Give the other input its turn; returns whether `unread` was set aside."""
        gate, self._reading = self._reading, None
        if gate is None:
            return False
        self._last = gate.index
        if unread is not None:
            self._aside[gate.index] = unread
        return unread is not None

    def unread_records(self, channel: Channel) -> int:
        """Count the records of a channel that were set aside."""
        return sum(left for _, owner, left in self._aside.values() if owner is channel)

    def _in_order(self) -> list[InputGate]:
        gates = self._gates
        place = (self._last + 1) % len(gates) if self._reading is None else self._reading.index
        return gates[place:] + gates[:place]
