"""Who reads which pieces of channel-state files at a recovery, and how many small reads that makes.

A group of subtasks writes one file per checkpoint: of each subtask in turn the chunks of its input
channels, then the ones of its outputs.  A handle names the file and the place of a chunk in it, so
anyone who takes a chunk over can read it, and a file can have many readers: the subtasks that wrote
it, those that take their channels over, and, where the receiver handles both ends of a channel,
every receiver of a subtask that has written output.

A reader opens each file once and reads chunks that stand next to each other in one piece.

Source: FLIP-76, whether the in and out buffers of a channel are handled by one task or by both.
Apache Flink 1.20.3, ChannelStateHandle and its offsets, FLINK-26803 for shared files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ckptsim.models.core import ProtocolError

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Handle:
    """A chunk in a file of channel state: its place there, from 0."""

    file: int
    place: int


class Files(Generic[Key]):
    """The files of one checkpoint. Chunks are named by keys."""

    __slots__ = ("_handles",)

    def __init__(self, files: Iterable[Sequence[Key]]) -> None:
        self._handles: dict[Key, Handle] = {}
        for number, chunks in enumerate(files):
            for place, key in enumerate(chunks):
                if key in self._handles:
                    raise ProtocolError("written_twice", state=f"file {number}", event=key)
                self._handles[key] = Handle(number, place)

    def handle(self, key: Key) -> Handle | None:
        """Return where a chunk is, None where nothing was written of it."""
        return self._handles.get(key)

    def begins(self, wanted: Iterable[Key]) -> list[bool]:
        """Return for each chunk that a reader takes in turn if it begins a new piece with it."""
        found, after = [], None
        for key in wanted:
            place = self._handles.get(key)
            found.append(place is None or place != after)
            after = place and Handle(place.file, place.place + 1)
        return found

    def reads(self, wanted: Iterable[Key]) -> tuple[int, int]:
        """Return how many files a reader opens for some chunks, and in how many pieces it reads."""
        found = {key: self._handles[key] for key in wanted if key in self._handles}
        ordered = sorted(found, key=lambda key: (found[key].file, found[key].place))
        return len({one.file for one in found.values()}), sum(self.begins(ordered))
