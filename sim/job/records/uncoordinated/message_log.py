"""The log that a sender keeps of what it puts into a channel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.recovery import RecordPart

if TYPE_CHECKING:
    from ckptsim.sim.job.records.state import Element, Item


class MessageLog:
    """The messages of one channel in one attempt, durable before they are sent.

    keeps: messages stay. Without it only their indices do, which travel with them.  written:
    messages that were logged, the ones of the restored line among them.  unfinished: the numbers of
    messages that are parts of a record, and not its last one.
    """

    def __init__(self, *, keeps: bool) -> None:
        self.written = 0
        self.unfinished: set[int] = set()
        self._keeps = keeps
        self._items: list[Item] = []
        self._first = 1  # the number of the first message that is kept
        self._indices: list[int] = []  # by number - 1

    @property
    def kept(self) -> int:
        """Return how many messages are still there."""
        return len(self._items)

    def append(self, item: Item, index: int) -> None:
        """Add a message. index: what its sender has."""
        self._indices.append(index)
        if isinstance(item, RecordPart) and not item.is_last:
            self.unfinished.add(len(self._indices))
        if self._keeps:
            self._items.append(item)
            self.written += 1

    def index_of(self, number: int) -> int:
        """Return the index that a message carries."""
        return self._indices[number - 1]

    def between(self, received: int, sent: int) -> tuple[Element, ...]:
        """Return the messages after one number, up to another, as far as they are still there."""
        numbers = range(max(received + 1, self._first), sent + 1)
        return tuple((number, self._items[number - self._first]) for number in numbers)

    def truncate(self, number: int) -> None:
        """Delete the messages up to a number, included."""
        del self._items[: number + 1 - self._first]
        self._first = number + 1
