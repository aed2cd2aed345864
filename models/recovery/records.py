"""Records larger than a buffer: parts of them in several buffers, joined by a deserializer.

A checkpoint can lie between two parts of a record: its head is read or waits at the receiver (input
state), its tail waits at the sender (output state).  After a restore they meet again only if both
come to the same deserializer, head first.

Source: Apache Flink 1.20.3, SpillingAdaptiveSpanningRecordDeserializer. FLIP-76, section on
spanning records.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RecordPart:
    """One buffer's share of a record. index: from 0, of `count`."""

    record: int
    index: int
    count: int

    @property
    def is_last(self) -> bool:
        """Return whether the record is whole with it."""
        return self.index == self.count - 1


def parts_of(record: int, count: int) -> tuple[RecordPart, ...]:
    """Return a record as so many parts."""
    return tuple(RecordPart(record, index, count) for index in range(count))


@dataclass(frozen=True, slots=True)
class Broken:
    """Parts that do not make up a record: bytes of two records in one.

    had: the part before, if a record had been begun. got: the one that does not go on from it.
    """

    had: RecordPart | None
    got: RecordPart


class RecordDeserializer:
    """Joins the parts of one stream of records.

    partial: the parts of the record that is not whole yet, oldest first.
    """

    __slots__ = ("partial",)

    def __init__(self) -> None:
        self.partial: list[RecordPart] = []

    def add(self, part: RecordPart) -> int | Broken | None:
        """Take the next part. Return the record that is whole with it, if one is.

        Returns Broken for a part that does not go on from the one before. Both are lost then.
        """
        had = self.partial[-1] if self.partial else None
        follows = part.index == 0 if had is None else _follows(had, part)
        if not follows:
            self.partial.clear()
            return Broken(had, part)
        if not part.is_last:
            self.partial.append(part)
            return None
        self.partial.clear()
        return part.record


def _follows(had: RecordPart, part: RecordPart) -> bool:
    return part.record == had.record and part.index == had.index + 1
