"""The answers of a recording, in one of three forms.

* a folder with `index.json`, which lists the answers, and a file for each: `capture` writes it
* a folder of saved answers: the place of a file in it is the path of its GET
* a file that a job manager archives for the history server, or a folder of them: all answers with
  their paths

Every file is read within limits, and what cannot be read becomes a note: a recording with a torn
file still says what the others say.

What the engine cannot read is read as in a scenario's file: "3 min 59 s", "64 KiB".

Source: Apache Flink 1.20.3, TimeUtils.parseDuration and MemorySize.parse.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ckptsim.scenarios.dialect import printable, units
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.recording.recording import Note

INDEX = "index.json"
JSON_FILES = (".json", ".jsonl")
_ARCHIVE = re.compile(r"[0-9a-f]{32}")
# Assumption: a REST server says nothing larger of a job of some thousand subtasks.
FILE_BYTES_MAX = 64 << 20
ANSWERS_MAX = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer: path of its GET with the query, file, body, and when it was asked, if known."""

    path: str
    at_ms: int | None
    file: str
    body: Any


@dataclass(frozen=True, slots=True)
class Answers:
    """All answers that could be read, in the order of the index, and what could not."""

    folder: Path
    all: tuple[Answer, ...]
    notes: tuple[Note, ...]


def is_recording(place: Path) -> bool:
    """Return whether a place is a folder, or a file that holds JSON by its name."""
    return place.is_dir() or _is_archive(place) or (place.is_file() and place.suffix in JSON_FILES)


def _is_archive(place: Path) -> bool:
    return _ARCHIVE.fullmatch(place.name) is not None and place.is_file()


def read_answers(place: Path) -> Answers:
    """Read a recording's answers. Raises UserError for a place without one."""
    if is_recording(place) and not place.is_dir():
        items = _archived(place)
    elif place.is_dir() and not (place / INDEX).exists() and (files := _saved(place)):
        items = (_saved_answer(place, file) for file in files)
    elif place.is_dir() and (archives := sorted(filter(_is_archive, place.iterdir()))):
        items = chain.from_iterable(map(_archived, archives))
    else:
        entries = enumerate(_entries(place))
        items = (_answer(place, entry, f"{INDEX}: answers[{number}]") for number, entry in entries)
    found: list[Answer] = []
    notes: list[Note] = []
    for item in items:
        if isinstance(item, Note):
            notes.append(item)
        else:
            found.append(item)
    if not found:
        reason = f" ({notes[0]})" if notes else ""
        raise UserError(f"{place}: found no answer that can be read{reason}, expected a recording")
    return Answers(place, tuple(found), tuple(notes))


def _saved(folder: Path) -> list[Path]:
    """Return the files of saved answers. None where no answer of a job is among them."""
    files = sorted(path for path in folder.rglob("*.json") if path.is_file())[:ANSWERS_MAX]
    return files if any(_path_of(folder, one).startswith("/jobs/") for one in files) else []


def _path_of(folder: Path, file: Path) -> str:
    return "/" + unquote(file.relative_to(folder).as_posix()).removesuffix(".json")


def _saved_answer(folder: Path, file: Path) -> Answer | Note:
    body = _json(file)
    if isinstance(body, Note):
        return body
    path = _relative(_path_of(folder, file))
    return Answer(path=path, at_ms=None, file=file.relative_to(folder).as_posix(), body=body)


def _archived(place: Path) -> Iterator[Answer | Note]:
    """Yield the answers of an archived job: a list of paths, each with its JSON as a text.

    Source: Apache Flink 1.20.3, FsJobArchivist and ArchivedJson.
    """
    body = _json(place)
    entries = body.get("archive") if isinstance(body, dict) else None
    if isinstance(body, Note) or not isinstance(entries, list):
        found = body.says if isinstance(body, Note) else 'no list "archive"'
        raise UserError(f"{place}: found {found}, expected the archive of a job, or spans as OTLP")
    for number, entry in enumerate(entries[:ANSWERS_MAX]):
        where = f"{place.name}: archive[{number}]"
        path, text = (entry.get("path"), entry.get("json")) if isinstance(entry, dict) else (0, 0)
        if not isinstance(path, str) or not isinstance(text, str):
            yield Note(where, "without path or json")
            continue
        try:
            yield Answer(path=_relative(path), at_ms=None, file=where, body=json.loads(text))
        except (ValueError, RecursionError):
            yield Note(where, "not JSON, or torn")


def _entries(folder: Path) -> list[Any]:
    if not folder.is_dir():
        what = "a file" if folder.exists() else "nothing there"
        raise UserError(f"{folder}: found {what}, expected the folder of a recording")
    index = folder / INDEX
    body = _json(index)
    if isinstance(body, Note):
        expected = f"a recording, with {INDEX} that lists its answers, or saved answers under jobs"
        raise UserError(f"{folder}: {body.place}: found {body.says}, expected {expected}")
    entries = body.get("answers") if isinstance(body, dict) else None
    if not isinstance(entries, list):
        raise UserError(f'{index}: found no list "answers", expected file, path and at_ms of each')
    if len(entries) > ANSWERS_MAX:
        raise UserError(f"{index}: found {len(entries)} answers, expected at most {ANSWERS_MAX}")
    return entries


def _answer(folder: Path, entry: object, place: str) -> Answer | Note:
    if not isinstance(entry, dict):
        return Note(place, "not an object")
    file, path, at_ms = entry.get("file"), entry.get("path"), entry.get("at_ms")
    if not isinstance(file, str) or not isinstance(path, str):
        return Note(place, "without file or path")
    # An index comes from anywhere: it must not lead out of its folder.
    if Path(file).name != file or file in ("", ".", ".."):
        return Note(place, f"file {file[:60]!r} is not in the folder")
    body = _json(folder / file)
    if isinstance(body, Note):
        return body
    when = at_ms if isinstance(at_ms, int) and not isinstance(at_ms, bool) else None
    return Answer(path=_relative(path), at_ms=when, file=file, body=body)


def _json(path: Path) -> Any:
    try:
        if not path.is_file():
            return Note(path.name, "no such file")
        if path.stat().st_size > FILE_BYTES_MAX:
            return Note(path.name, f"larger than {FILE_BYTES_MAX >> 20} MiB")
        return json.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        return Note(path.name, error.strerror or "cannot be read")
    except UnicodeDecodeError:
        return Note(path.name, "not a text in UTF-8")
    except (ValueError, RecursionError):
        return Note(path.name, "not JSON, or torn")


def _relative(path: str) -> str:
    """Return a path as the server sees it, also where the index has whole addresses or `/v1`."""
    try:
        parts = urlsplit(path)
    except ValueError:
        return path
    bare = parts.path.removeprefix("/v1") if parts.path.startswith("/v1/") else parts.path
    return f"{bare}?{parts.query}" if parts.query else bare


def objects(body: object) -> Iterator[dict[str, Any]]:
    """Yield the objects of a list. Nothing where it is none."""
    if isinstance(body, list):
        yield from (item for item in body if isinstance(item, dict))


_MS = 1_000_000
_DURATION_NS = {
    **dict.fromkeys(("ns", "nano", "nanosecond"), 1),
    **dict.fromkeys(("us", "µs", "micro", "microsecond"), 1_000),
    **dict.fromkeys(("", "ms", "milli", "millisecond"), _MS),
    **dict.fromkeys(("s", "sec", "second"), 1_000 * _MS),
    **dict.fromkeys(("m", "min", "minute"), 60_000 * _MS),
    **dict.fromkeys(("h", "hour"), 3_600_000 * _MS),
    **dict.fromkeys(("d", "day"), 86_400_000 * _MS),
}
_SIZE = {
    **dict.fromkeys(("", "b", "bytes"), 1),
    **dict.fromkeys(("k", "kb", "kibibytes"), 1 << 10),
    **dict.fromkeys(("m", "mb", "mebibytes"), 1 << 20),
    **dict.fromkeys(("g", "gb", "gibibytes"), 1 << 30),
    **dict.fromkeys(("t", "tb", "tebibytes"), 1 << 40),
}
_QUANTITY = re.compile(r"(-?\d{1,18})\s*([a-zµ]*)", re.ASCII | re.IGNORECASE)
_ISO = re.compile(
    r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.ASCII | re.IGNORECASE
)
# Larger ones stand for "never" in the engine's answers (Long.MAX_VALUE), or are no counts at all.
LARGEST = float(1 << 62)


def number(value: object) -> float | None:
    """Return a finite number, also one that is a text. None for "NaN" and the like."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and abs(found) < LARGEST else None


def whole(value: object, least: int = 0) -> int | None:
    """Return a whole number of at least `least`."""
    found = number(value)
    return int(found) if found is not None and found >= least else None


def text(value: object) -> str | None:
    """Return a text that is not empty, on one line and with what a terminal obeys escaped."""
    return printable(value) if isinstance(value, str) and value else None


def flag(value: object) -> bool | None:
    """Return a switch, also one that is a text."""
    if isinstance(value, bool):
        return value
    known = {"true": True, "false": False}
    return known.get(value.strip().lower()) if isinstance(value, str) else None


def duration_ns(value: object) -> int | None:
    """Return a duration in ns. A bare number counts milliseconds."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        found = number(value)
        return None if found is None else round(found * _MS)
    if not isinstance(value, str):
        return None
    stripped = value.strip()
    match = _QUANTITY.fullmatch(stripped)
    if match is not None:
        unit = match[2].lower()
        factor = _DURATION_NS.get(unit, _DURATION_NS.get(unit.removesuffix("s")))
        return None if factor is None else int(match[1]) * factor
    ours = units.parse(stripped, units.DURATION_UNITS)
    if ours is not None:
        return ours
    iso = _ISO.fullmatch(stripped)
    if iso is None or not any(iso.groups()):
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in iso.groups())
    return round((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000 * _MS)


def size_bytes(value: object) -> int | None:
    """Return a size in bytes. A bare number counts bytes."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if value >= 0 else None
    if not isinstance(value, str):
        return None
    match = _QUANTITY.fullmatch(value.strip())
    factor = None if match is None else _SIZE.get(match[2].lower())
    if match is None or factor is None:
        return units.parse(value, units.SIZE_UNITS)
    return None if match[1].startswith("-") else int(match[1]) * factor
