"""The lifecycle tables of FLIP-147, as the data that the core runs and that people read.

A row represents one cell of work: what a task does on a cue, per end mode, and which status it has
from then on.  `TaskLifecycle` looks up the rows of a cue and carries out their cells in order. The
rows that wait are the conditions of the closing row.  The waits stand one under another, but they
are a conjunction and no sequence: they may come true in any order.

Source: FLIP-147, tables "lifecycle of the source tasks" and "of the non-source tasks" (with the
added text, EndOfData, in the place of the removed EndOfUserRecordsEvent).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache

from ckptsim.models.lifecycle.states import EndMode, OperatorState, TaskKind, TaskState


class Cue(Enum):
    """What opens a row."""

    START = "start"
    END_OF_INPUT = "no more records, or savepoint trigger received"
    MAX_WATERMARK_ALIGNED = "aligned on MAX_WATERMARK"
    END_OF_DATA_ALIGNED = "aligned on EndOfData"
    CHECKPOINT = "checkpoint triggered, or aligned on barrier"
    CHECKPOINT_COMPLETED = "checkpoint completed"
    CONDITIONS_MET = "every wait is over"


class Act(Enum):
    """What a cell says."""

    FINISH_TASK = "finish task"
    ADVANCE = "advance to MAX_WATERMARK and fire all event timers"
    EMIT_MAX_WATERMARK = "emit MAX_WATERMARK"
    FINISH_OPERATORS = "endInput() and finish()"
    EMIT_END_OF_DATA_FINISHED = "emit EndOfData[finished=true]"
    EMIT_END_OF_DATA_UNFINISHED = "emit EndOfData[finished=false]"
    EMIT_BARRIER = "emit barrier"
    AWAIT_CHECKPOINT = "wait for checkpoint or savepoint completed"
    AWAIT_ACKNOWLEDGEMENT = "wait for downstream to acknowledge EndOfData"
    AWAIT_END_OF_PARTITION = "wait for EndOfPartition"
    CLOSE_OPERATORS = "close()"
    EMIT_END_OF_PARTITION = "emit EndOfPartition"


WAITS = (Act.AWAIT_CHECKPOINT, Act.AWAIT_ACKNOWLEDGEMENT, Act.AWAIT_END_OF_PARTITION)


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its cue, the status that holds from here on, and one cell per end mode."""

    cue: Cue
    task: TaskState
    operator: OperatorState
    final_checkpoint: Act | None = None
    drain: Act | None = None
    no_drain: Act | None = None

    def cell(self, mode: EndMode) -> Act | None:
        """Return the cell of an end mode. None is an empty one."""
        return (self.final_checkpoint, self.drain, self.no_drain)[mode]


_RUN = (TaskState.RUNNING, OperatorState.RUNNING)
_WAIT = (TaskState.WAITING_FOR_FINAL_CP, OperatorState.FINISHED)
_END = (TaskState.CLOSED, OperatorState.CLOSED)


def _same(cue: Cue, status: tuple[TaskState, OperatorState], act: Act) -> Row:
    return Row(cue, *status, act, act, act)


def _drained(cue: Cue, status: tuple[TaskState, OperatorState], act: Act) -> Row:
    """Make a row for what a stop without drain leaves out."""
    return Row(cue, *status, act, act, None)


def _end_of_data(cue: Cue) -> Row:
    return Row(
        cue,
        *_WAIT,
        Act.EMIT_END_OF_DATA_FINISHED,
        Act.EMIT_END_OF_DATA_FINISHED,
        Act.EMIT_END_OF_DATA_UNFINISHED,
    )


_SOURCE = (
    Row(Cue.START, *_RUN),
    Row(Cue.END_OF_INPUT, *_RUN, None, Act.FINISH_TASK, Act.FINISH_TASK),
    _drained(Cue.END_OF_INPUT, _RUN, Act.ADVANCE),
    _drained(Cue.END_OF_INPUT, _RUN, Act.EMIT_MAX_WATERMARK),
    _drained(Cue.END_OF_INPUT, _WAIT, Act.FINISH_OPERATORS),
    _end_of_data(Cue.END_OF_INPUT),
    _same(Cue.CHECKPOINT, _WAIT, Act.EMIT_BARRIER),
    _same(Cue.CHECKPOINT, _WAIT, Act.AWAIT_CHECKPOINT),
    _same(Cue.CHECKPOINT_COMPLETED, _WAIT, Act.AWAIT_ACKNOWLEDGEMENT),
    _same(Cue.CONDITIONS_MET, _END, Act.CLOSE_OPERATORS),
    _same(Cue.CONDITIONS_MET, _END, Act.EMIT_END_OF_PARTITION),
)

_NON_SOURCE = (
    Row(Cue.START, *_RUN),
    _drained(Cue.MAX_WATERMARK_ALIGNED, _RUN, Act.ADVANCE),
    _drained(Cue.MAX_WATERMARK_ALIGNED, _RUN, Act.EMIT_MAX_WATERMARK),
    _drained(Cue.END_OF_DATA_ALIGNED, _WAIT, Act.FINISH_OPERATORS),
    _end_of_data(Cue.END_OF_DATA_ALIGNED),
    _same(Cue.CHECKPOINT, _WAIT, Act.EMIT_BARRIER),
    _same(Cue.CHECKPOINT, _WAIT, Act.AWAIT_CHECKPOINT),
    _same(Cue.CHECKPOINT_COMPLETED, _WAIT, Act.AWAIT_ACKNOWLEDGEMENT),
    _same(Cue.CHECKPOINT_COMPLETED, _WAIT, Act.AWAIT_END_OF_PARTITION),
    _same(Cue.CONDITIONS_MET, _END, Act.CLOSE_OPERATORS),
    _same(Cue.CONDITIONS_MET, _END, Act.EMIT_END_OF_PARTITION),
)

TABLES: dict[TaskKind, tuple[Row, ...]] = {
    TaskKind.SOURCE: _SOURCE,
    TaskKind.NON_SOURCE: _NON_SOURCE,
}


@cache
def rows(kind: TaskKind, cue: Cue) -> tuple[Row, ...]:
    """Return the rows of a cue in the order in which their cells are carried out."""
    return tuple(row for row in TABLES[kind] if row.cue is cue)


@cache
def waits(kind: TaskKind, mode: EndMode) -> tuple[Act, ...]:
    """Return what the closing row of a kind of task waits for. All must be over, in any order."""
    cells = (row.cell(mode) for row in TABLES[kind])
    return tuple(cell for cell in cells if cell in WAITS)
