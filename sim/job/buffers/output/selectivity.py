"""Outputs of operators that emit less or more than one record for each that they process.

Which records are dropped or give several is fixed by their number alone, evenly spaced: after n
records floor(n * ratio) are out.  So a restored task continues as it would have, and how many
inputs lead to the next output buffer is arithmetic.  Assumption: what a filter drops is spread
evenly; in runs of drops the open buffers fill more unevenly than here.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ckptsim.sim.job.buffers.output.record_writer import RecordWriter

_PARTS = 1_000_000
# As many inputs as no run has, for an operator that emits nothing.
_NEVER = 1 << 60


class Selectivity:
    """How many records are out after so many have been processed; parts: per million."""

    __slots__ = ("parts",)

    def __init__(self, ratio: float) -> None:
        self.parts = round(ratio * _PARTS)

    def emitted(self, processed: int) -> int:
        """Return how many records are out after `processed` ones."""
        return processed * self.parts // _PARTS

    def outputs_of(self, processed: int, count: int) -> list[int]:
        """Return how many records come of each of the `count` ones behind `processed`."""
        out = [self.emitted(processed + place) for place in range(count + 1)]
        return [after - before for before, after in pairwise(out)]

    def processed_until(self, emitted: int) -> int:
        """Return how many records have to be processed until `emitted` ones are out."""
        return -(-emitted * _PARTS // self.parts) if self.parts else _NEVER


class SelectiveWriter(RecordWriter):
    """A writer whose `to_next` and `advance` count records of the input.

    Between calls `to_next` is in records of the input and `_outputs` the same in records of the
    output; what the base class sets is translated where it is set, in `_plan` and `_settle`.
    first: how many records the task had processed when the attempt began.
    """

    __slots__ = ("_outputs", "_owed", "_processed", "_selectivity")

    def __init__(self, *arguments: Any, selectivity: Selectivity, first: int, **rest: Any) -> None:
        super().__init__(*arguments, **rest)
        self._selectivity = selectivity
        self._processed = first
        self._owed = 0
        self._outputs = 0

    @property
    def owed(self) -> int:
        """How many records of the one under way are still to be written."""
        return self._owed

    def outputs_of(self, count: int) -> list[int]:
        """Return how many records each of the next `count` records of the input gives."""
        return self._selectivity.outputs_of(self._processed, count)

    def advance(self, count: int) -> None:
        """Process `count` records, at most `to_next`; the last one may open a buffer."""
        emitted = self._selectivity.emitted
        before = emitted(self._processed)
        self._processed += count
        self._owed += emitted(self._processed) - before
        if self._owed:
            self._pay()
        else:
            self.to_next -= count

    def retry(self) -> bool:
        """Continue with the record under way; True when all that it gives is written."""
        if super().retry():
            self._pay()
        return not self.blocked

    def _pay(self) -> None:
        """Write what is owed, up to a record that lacks a buffer."""
        while self._owed and not self.blocked:
            count = min(self._owed, self._outputs)
            opens = count == self._outputs
            self._owed -= count
            self.to_next = self._outputs
            super().advance(count)
            if not opens:
                self._translate()

    def _settle(self) -> None:
        if self._position == len(self._block):
            self._rebase(self._fills())  # which plans, and so translates
        else:
            super()._settle()
            self._translate()

    def _plan(self) -> None:
        super()._plan()
        self._translate()

    def _translate(self) -> None:
        """Take `to_next` as records of the output, and set it in records of the input."""
        selectivity, processed = self._selectivity, self._processed
        self._outputs = self.to_next
        wanted = selectivity.emitted(processed) - self._owed + self._outputs
        # While records of the one under way are owed the least is what is left of that one.
        self.to_next = max(1, selectivity.processed_until(wanted) - processed)
