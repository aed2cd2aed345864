"""Which input a task reads: the gates of a union buffer by buffer, two inputs record by record.

Source: Apache Flink 1.20.3, UnionInputGate (a union). StreamMultipleInputProcessor, Multiple-
InputSelectionHandler, InputSelection.fairSelectNextIndex and TwoInputStreamTask, which emits no
batches of records (two inputs).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.input.input_gate import Channel, InputGate
    from ckptsim.sim.job.buffers.output import Element, Slice

Unread = tuple["Slice", "Channel", int, int]
"""A buffer that is being read, its channel, how many of its records are unread, their service."""


class InputTurns:
    """Takes the gates of one task in turn.

    ready: gates that have something to read, the next one first.
    """

    __slots__ = ("ready",)

    def __init__(self) -> None:
        self.ready: deque[InputGate] = deque()

    def poll(self) -> tuple[Channel, Element] | None:
        """Take the next element of the gate in turn, or None."""
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
    """Takes the inputs of one task in turn, and of each no more than one record.

    The unread part of a buffer waits beside its gate meanwhile.  An input is known to be empty once
    it was asked in vain. Whether it has something again is looked up after the choice, so it has
    its turn a record later.  A buffer in which no record ends is no turn: the same input continues.

    gates: the task's own list, which is complete when the first element is asked for.
    reading: index of the input that was chosen last.
    """

    __slots__ = ("_aside", "_available", "_gates", "_goes_on", "reading")

    def __init__(self, gates: list[InputGate]) -> None:
        self._gates = gates
        self._aside: dict[int, Unread] = {}
        # A bit for each input that may have something. A task that starts has asked all in vain.
        self._available = 0
        self._goes_on = False
        self.reading = 1  # so the first one that is asked is the first

    @property
    def alternates(self) -> bool:
        """Whether another input is to be asked after the record that comes next."""
        return self._available == self._all

    def poll(self, now: int) -> Unread | tuple[Channel, Element] | None:
        """Take up the unread part, or take the next element, or return None."""
        while True:
            if not self._goes_on and not self._select(now):
                return None
            self._goes_on = False
            found = self._aside.pop(self.reading, None) or self._gates[self.reading].poll()
            if found is not None:
                return found
            self._available &= ~(1 << self.reading)

    def go_on(self) -> None:
        """Take the next element from the same input: the one taken last ends no record."""
        self._goes_on = True

    def set_aside(self, unread: Unread) -> None:
        """Let the unread part of a buffer wait until it is its input's turn."""
        self._aside[self.reading] = unread

    @property
    def _all(self) -> int:
        return (1 << len(self._gates)) - 1

    def _look(self, until_ns: int) -> None:
        """Note which inputs had something to read at an instant."""
        for gate in self._gates:
            if gate.index in self._aside or (gate.ready and gate.ready_ns <= until_ns):
                self._available |= 1 << gate.index

    def unread_records(self, channel: Channel) -> int:
        """Count the records of a channel that were set aside."""
        return sum(left for _, owner, left, _ in self._aside.values() if owner is channel)

    def _select(self, now: int) -> bool:
        """Choose the input that is asked next. False if all of them are empty."""
        count = len(self._gates)
        if not self._available:
            self._look(now)
        for ahead in range(1, count + 1):
            place = (self.reading + ahead) % count
            if self._available >> place & 1:
                self.reading = place
                if self._available != self._all:
                    self._look(now)
                return True
        return False
