"""The two data planes of a job, and the drivers of the one that has several.

A table of parameters declares beside each what means nothing on a plane (`scenarios/limits.py`):
it is refused there, with its place.  Sizes and rates of a real job are the exception: it keeps them
when it is run on records, and a run says that they are unread.
"""

from __future__ import annotations

from enum import StrEnum


class Plane(StrEnum):
    """What the unit of data is that moves."""

    RECORDS = "records"
    BUFFERS = "buffers"


class Engine(StrEnum):
    """Which driver of the buffer plane runs a job. All give the same trace."""

    AUTO = "auto"  # compiled where it can be and is worth it, else processes
    COMPILED = "compiled"  # the data plane in tables, advanced by a compiled kernel
    PROCESSES = "processes"  # the reference: record by record in SimPy, slow


class Skip(StrEnum):
    """Whether a run on buffers passes over the time in which the job repeats itself."""

    AUTO = "auto"  # where a run would move many buffers
    ALWAYS = "always"
    NEVER = "never"


DURATION_NS = 20_000_000_000  # of a run on buffers, unless told otherwise
