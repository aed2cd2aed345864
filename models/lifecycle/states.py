"""The states of a task and of its operators at the end of their life, and how a job can end."""

from __future__ import annotations

from enum import Enum, IntEnum


class TaskKind(IntEnum):
    """Whether a task reads from outside (a source) or from other tasks."""

    SOURCE = 0
    NON_SOURCE = 1


class TaskState(IntEnum):
    """The life of a task. CLOSED and FAILED are final."""

    RUNNING = 0
    WAITING_FOR_FINAL_CP = 1
    CLOSED = 2
    FAILED = 3


class OperatorState(IntEnum):
    """The life of the operators of a task."""

    RUNNING = 0
    FINISHED = 1
    CLOSED = 2


class EndMode(IntEnum):
    """How a task comes to its end.

    FINAL_CHECKPOINT: its input ran out.  DRAIN: stop-with-savepoint that flushes everything first.
    NO_DRAIN: stop-with-savepoint that stops where it is, to be resumed from the savepoint.
    """

    FINAL_CHECKPOINT = 0
    DRAIN = 1
    NO_DRAIN = 2


class StopMode(IntEnum):
    """The flag that EndOfData carries. DRAIN is FLIP-147's `finished=true`."""

    DRAIN = 0
    NO_DRAIN = 1


class Variant(Enum):
    """The rules that hold where design and released system differ. See `rules`.

    FLIP: FLIP-147 as written.  FLINK: released Apache Flink.
    """

    FLIP = "flip"
    FLINK = "flink"
