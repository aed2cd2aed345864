"""Kinds of simultaneous events of a job, in the order in which the structural policy has them.

Arrivals come before the next step of a task, and a task begins its next record last of all. So a
barrier at the end of a record is handled before the next one. Hunting shuffles all of this.
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
