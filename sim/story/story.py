"""Tell what happened: the entries of a trace as lines, of a whole run or of one checkpoint."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ckptsim.sim.kernel import Entry
from ckptsim.sim.story.telling import Telling, Vocabulary

_SECOND_US = 1_000_000
_INSTANT = re.compile(r"\s*(\d+)\.(\d{3}(?= ms )|\d{6}(?= s ))")


@dataclass(frozen=True, slots=True)
class Target:
    """The checkpoint that a story is about. Scope None means whatever scope."""

    index: int
    scope: str | None = None

    def __str__(self) -> str:
        return f"{self.scope}/{self.index}" if self.scope is not None else str(self.index)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a story. `count` entries in a row that read alike except for numbers are one."""

    time_ns: int
    entity: str
    text: str
    count: int = 1
    until_ns: int = 0

    def __str__(self) -> str:
        more = f" ({self.count} times, until {instant(self.until_ns)})" * (self.count > 1)
        return f"{instant(self.time_ns):>14}  {self.entity}: {self.text}{more}"


def tell(
    trace: Sequence[Entry],
    vocabulary: Vocabulary,
    *,
    target: Target | None = None,
    until_ns: int | None = None,
) -> list[Line]:
    """Return the story of one checkpoint, or of everything, oldest first.

    until_ns: leave out what happened after that instant.  Entries of a kind that the vocabulary
    does not have are reported with their bare fields.
    """
    entries = [entry for entry in trace if until_ns is None or time_of(entry) <= until_ns]
    if target is not None:
        entries = list(concerning(entries, vocabulary, target))
    return _folded(_line(entry, vocabulary) for entry in entries)


def shortened(lines: Sequence[Line], longest: int = 24) -> list[str]:
    """Return the lines as text, at most `longest`: the beginning and, above all, the end."""
    texts = [str(line) for line in lines]
    if len(texts) <= longest:
        return texts
    head = longest // 3
    tail = longest - head - 1
    left_out = len(texts) - head - tail
    return [*texts[:head], f"{'':>14}  ({left_out} lines left out)", *texts[-tail:]]


def concerning(entries: Sequence[Entry], vocabulary: Vocabulary, target: Target) -> Iterator[Entry]:
    """Yield the entries about a checkpoint, about the ids that it names, and the ones of all."""
    own: list[bool] = []
    ids: dict[tuple[str | None, str], None] = {}
    for entry in entries:
        named = _named(entry, vocabulary)
        mine = _is_about(named, target)
        own.append(mine)
        if mine and named.get("id") is not None:
            ids[(_scope(named), str(named["id"]))] = None
    for entry, mine in zip(entries, own, strict=True):
        named = _named(entry, vocabulary)
        telling = vocabulary.get(str(entry[1]))
        if mine or (telling is not None and telling.always) or _names_one_of(named, ids):
            yield entry


def tells_of(entries: Sequence[Entry], vocabulary: Vocabulary, target: Target) -> bool:
    """Return whether any entry is about a checkpoint."""
    return any(_is_about(_named(entry, vocabulary), target) for entry in entries)


def instant(time_ns: int) -> str:
    """Return an instant to the microsecond, as in `6.504 ms` and `12.345678 s`."""
    time_us = time_ns // 1_000
    if time_us < _SECOND_US:
        return f"{time_us // 1_000}.{time_us % 1_000:03} ms"
    return f"{time_us // _SECOND_US}.{time_us % _SECOND_US:06} s"


def instant_us(line: str) -> int:
    """Return the instant that a line of a story begins with, in us. 0 for one without."""
    found = _INSTANT.match(line)
    return 0 if found is None else int(found[1]) * 10 ** len(found[2]) + int(found[2])


def _named(entry: Entry, vocabulary: Vocabulary) -> dict[str, object]:
    telling = vocabulary.get(str(entry[1]))
    return {} if telling is None else telling.named(entry)


def _scope(named: dict[str, object]) -> str | None:
    scope = named.get("scope")
    return None if scope is None else str(scope)


def _is_about(named: dict[str, object], target: Target) -> bool:
    if named.get("index") != target.index or isinstance(named.get("index"), bool):
        return False
    scope = _scope(named)
    return target.scope is None or scope is None or scope == target.scope


def _names_one_of(named: dict[str, object], ids: dict[tuple[str | None, str], None]) -> bool:
    found = named.get("id")
    if found is None or named.get("index") is not None:
        return False  # an entry with an index of its own is another checkpoint's
    scope = _scope(named)
    return any(name == str(found) and (scope is None or known in (None, scope, "*"))
               for known, name in ids)  # fmt: skip


def _line(entry: Entry, vocabulary: Vocabulary) -> tuple[Line, Telling | None]:
    telling = vocabulary.get(str(entry[1]))
    if telling is None:
        text = " ".join([str(entry[1]), *map(str, entry[3:])])
    else:
        text = telling.sentence(entry)
    return Line(time_of(entry), str(entry[2]), text, 1, time_of(entry)), telling


def _folded(lines: Iterator[tuple[Line, Telling | None]]) -> list[Line]:
    """Make one line of several in a row of one kind and entity."""
    folded: list[Line] = []
    last: Telling | None = None
    for line, telling in lines:
        before = folded[-1] if folded else None
        if before and telling is not None and telling is last and before.entity == line.entity:
            folded[-1] = Line(
                before.time_ns, before.entity, before.text, before.count + 1, line.time_ns
            )
        else:
            folded.append(line)
        last = telling
    return folded


def time_of(entry: Entry) -> int:
    """Return when an entry of a trace was made, in ns."""
    time = entry[0]
    if not isinstance(time, int):
        raise TypeError(f"trace entry {entry!r}: found no time")
    return time
