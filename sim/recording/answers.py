"""The answers of a recording: a folder with `index.json` and one file for each of them.

Every file is read within limits, and what cannot be read becomes a note: a recording with a torn
file still says what the others say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.recording.recording import Note

INDEX = "index.json"
# Assumption: a REST server says nothing larger of a job of some thousand subtasks.
FILE_BYTES_MAX = 64 << 20
ANSWERS_MAX = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer: path of its GET with the query, when it was asked for, its file and its body.

    at_ms: None where the index does not say.  file: the name in the folder.
    """

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


def read_answers(folder: Path) -> Answers:
    """Read a recording's answers.

    Raises UserError for a place without a recording: no folder, or no index that lists answers.
    """
    entries = _entries(folder)
    found: list[Answer] = []
    notes: list[Note] = []
    for place, entry in enumerate(entries):
        read = _answer(folder, entry, f"{INDEX}: answers[{place}]")
        if isinstance(read, Note):
            notes.append(read)
        else:
            found.append(read)
    if not found:
        reason = f" ({notes[0]})" if notes else ""
        raise UserError(f"{folder}: found no answer that can be read{reason}, expected a recording")
    return Answers(folder, tuple(found), tuple(notes))


def _entries(folder: Path) -> list[Any]:
    if not folder.is_dir():
        what = "a file" if folder.exists() else "nothing there"
        raise UserError(f"{folder}: found {what}, expected the folder of a recording")
    index = folder / INDEX
    body = _json(index)
    if isinstance(body, Note):
        expected = f"a recording, with {INDEX} that lists its answers"
        raise UserError(f"{folder}: {body.place}: found {body.says}, expected {expected}")
    entries = body.get("answers") if isinstance(body, dict) else None
    if not isinstance(entries, list):
        raise UserError(f'{index}: found no list "answers", expected file, path and at_ms of each')
    if len(entries) > ANSWERS_MAX:
        raise UserError(f"{index}: found {len(entries)} answers, expected at most {ANSWERS_MAX}")
    return entries


def _answer(folder: Path, entry: object, place: str) -> Answer | Note:
    """Return an answer, or why there is none."""
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
    """Return what a file holds, or a note that says why it cannot be read."""
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
