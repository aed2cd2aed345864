"""What a record is called: in the job a number, in the store the name of a row."""

from __future__ import annotations

_SPAN = 1 << 32  # positions of one feed


def identity(feed: int, position: int) -> int:
    """Return the number under which a record travels through the job."""
    return feed * _SPAN + position


def place(record: int) -> tuple[int, int]:
    """Return feed and position of a record."""
    return divmod(record, _SPAN)


def row_name(record: int, write: int | None = None) -> str:
    """Return the name of a record's row. With the number of the write where each makes a row."""
    feed, position = place(record)
    name = f"{feed}/{position}"
    return name if write is None else f"{name}#{write}"


def record_of(name: str) -> int:
    """Return the record that a row speaks of."""
    feed, position = name.partition("#")[0].split("/")
    return identity(int(feed), int(position))
