"""What a task's thread can be doing."""

from __future__ import annotations

from enum import IntEnum


class State(IntEnum):
    """What a task's thread does at present."""

    IDLE = 0  # there is nothing to read
    BUSY = 1  # in a stretch of records
    BLOCKED = 2  # an output is unavailable; the mailbox is served
    STUCK = 3  # inside a record that lacks an output buffer; nothing is served
    WAKING = 4  # its wake-up is under way
    PACED = 5  # a source that waits until its next records are due
    PAUSED = 6  # it takes part in a checkpoint
    ENDED = 7
    RESTORING = 8  # it reads its state; the mailbox is not served
