"""Kinds of calendar entries, in the order in which simultaneous ones happen."""

from __future__ import annotations

from enum import IntEnum


class Kind(IntEnum):
    """What a calendar entry is. The smaller number happens first at one instant."""

    FAULT = 15  # something fails.
    ARRIVAL = 16  # an element reaches the receiver's end of a channel.
    CREDIT = 17  # new credit or a resumption reaches the sender's end.
    MAIL = 18  # something is put into a task's mailbox from outside.
    FLUSH = 19  # the output flusher of a task.
    TIMER = 20  # an alignment timer.
    STORAGE = 21  # a write or an asynchronous part ends.
    COORDINATOR = 22  # the coordinator's ticks, acknowledgements and notifications.
    MEASURE = 23  # debloating and sampling.
    # A task thread reaches a record boundary.  It comes after what can reach the mailbox at this
    # instant, whether the boundary is a calendar entry or inside a stretch of the kernel.
    TASK = 24
    CORES = 25  # a core takes up a job: after all that can ask for one at this instant


class State(IntEnum):
    """What a task's thread does at present."""

    IDLE = 0  # there is nothing to read
    BUSY = 1  # it serves records
    BLOCKED = 2  # an output is unavailable. The mailbox is served
    STUCK = 3  # inside a record that lacks an output buffer. Nothing is served
    WAKING = 4  # its wake-up is under way
    PACED = 5  # a source that waits until its next records are due
    PAUSED = 6  # it takes part in a checkpoint
    ENDED = 7
    RESTORING = 8  # it reads its state. The mailbox is not served
