"""The kept parts of a run: the trace of its decisions and events with a digest, and its goals.

An entry is `(time_ns, kind, entity, *fields)`.  Fields are ints, strings, bools and None: each has
one exact text on every Python and every machine. Floats have not, and are refused.  The encoding is
JSON of the entries separated by commas, which is injective. It is hashed in batches, and where a
batch ends does not show in the digest.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from itertools import chain
from json import JSONEncoder
from typing import Protocol

from ckptsim.sim.kernel.entity import TooManyStepsError, TraceError

Field = int | str | bool | None
Entry = tuple[object, ...]

_BATCH = 256
_FOREVER = 1 << 62
_PLAIN: frozenset[type] = frozenset((int, str, bool, type(None)))
_encode = JSONEncoder(separators=(",", ":")).encode


class Named(Protocol):
    """Whatever has a name: an `Entity`, or the like of a plain SimPy user."""

    @property
    def name(self) -> str:
        """The name that is written into the trace."""


class Clock(Protocol):
    """Whatever shows simulated time: any SimPy environment."""

    @property
    def now(self) -> int:
        """The simulated time in ns."""


class Trace:
    """Collects entries. Either keeps them all or only hashes them."""

    __slots__ = ("_clock", "_entries", "_hash", "_hashed", "count_flushed", "count_max", "keep")

    def __init__(self, clock: Clock, *, keep: bool = False) -> None:
        self._clock = clock
        self.keep = keep
        self._entries: list[Entry] = []
        self._hash = blake2b(digest_size=16)
        self._hashed = 0  # entries of the list that are in the hash already
        self.count_flushed = 0
        self.count_max = _FOREVER  # more entries end the run. Looked at once per batch

    def record(self, kind: str, entity: Named, *fields: Field) -> None:
        """Add an entry at the present instant. Raises TraceError for a field without encoding."""
        entries = self._entries
        entries.append((self._clock.now, kind, entity.name, *fields))
        if len(entries) - self._hashed >= _BATCH:
            self._flush()

    def digest(self) -> str:
        """Return the hash of all entries so far as 32 hexadecimal digits."""
        self._flush()
        return self._hash.copy().hexdigest()

    @property
    def entries(self) -> list[Entry]:
        """All entries in order when they are kept, else those not yet hashed."""
        return list(self._entries)

    @property
    def count(self) -> int:
        """How many entries were recorded."""
        return self.count_flushed + len(self._entries) - self._hashed

    def _flush(self) -> None:
        batch = self._entries[self._hashed :] if self.keep else self._entries
        if not batch:
            return
        if not _PLAIN.issuperset(map(type, chain.from_iterable(batch))):
            _refuse(batch)
        self._hash.update(_encode(batch)[1:-1].encode("ascii"))
        self._hash.update(b",")
        self.count_flushed += len(batch)
        if self.count_flushed > self.count_max:
            raise TooManyStepsError(self.count_max, self._clock.now)
        if self.keep:
            self._hashed = len(self._entries)
        else:
            self._entries = []


class Goals:
    """How often each "sometimes" situation was reached. Declared ones count from zero."""

    __slots__ = ("counts",)

    def __init__(self, declared: Iterable[str] = ()) -> None:
        self.counts: dict[str, int] = dict.fromkeys(declared, 0)

    def reach(self, name: str) -> None:
        """Count one occurrence of the situation."""
        self.counts[name] = self.counts.get(name, 0) + 1

    def missing(self) -> list[str]:
        """Name the declared situations that were never reached, in order of declaration."""
        return [name for name, count in self.counts.items() if count == 0]


def _refuse(batch: list[Entry]) -> None:
    """Raise TraceError for the first field without exact encoding. Enumerations of ints pass."""
    for entry in batch:
        for field in entry:
            if not isinstance(field, int | str | None):
                raise TraceError(
                    f"trace entry {entry!r}: found {type(field).__name__} {field!r}, "
                    "expected int, str, bool or None"
                )
