"""Kinds of calendar entries, in the order in which simultaneous ones happen."""

from __future__ import annotations

from enum import IntEnum


class Kind(IntEnum):
    """What a calendar entry is; the smaller number happens first at one instant."""

    ARRIVAL = 16  # an element reaches the receiver's end of a channel
    CREDIT = 17  # new credit or a resumption reaches the sender's end
    TASK = 18  # a task thread reaches a record boundary
    MAIL = 19  # something is put into a task's mailbox from outside
    FLUSH = 20  # the output flusher of a task
    TIMER = 21  # an alignment timer
    STORAGE = 22  # a write or an asynchronous part ends
    COORDINATOR = 23  # the coordinator's ticks, acknowledgements and notifications
    MEASURE = 24  # debloating and sampling
