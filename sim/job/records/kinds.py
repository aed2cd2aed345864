"""Kinds of simultaneous events of a job, in the order in which the structural policy has them.

What arrives comes before what a task does next, and a task begins its next record last of all, so a
barrier that can get there at the instant at which a record is done is handled before the next one.
Hunting shuffles all of this.
"""

from __future__ import annotations

from enum import IntEnum


class Kind(IntEnum):
    """What an entry of the calendar is about."""

    FAULT = 1
    MESSAGE = 2
    DELIVER = 3
    RESUME = 4
    CREDIT = 5
    TIMER = 6
    SERVICE = 7
    EMIT = 8
    STEP = 9
    SNAPSHOT = 10
    COORDINATOR = 11
    BEGIN = 12
