"""The answers of a recording, in one of three forms.

* a folder with `index.json`, which lists the answers, and a file for each: `capture` writes it
* a folder of saved answers: the place of a file in it is the path of its GET
* a file that a job manager archives for the history server: all answers with their paths

Every file is read within limits, and what cannot be read becomes a note: a recording with a torn
file still says what the others say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.recording.recording import Note

INDEX = "index.json"
JSON_FILES = (".json", ".jsonl")
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


def is_recording(place: Path) -> bool:
    """Return whether a place is a folder, or a file that holds JSON by its name."""
    archived = re.fullmatch(r"[0-9a-f]{32}", place.name) is not None
    return place.is_dir() or (place.is_file() and (archived or place.suffix in JSON_FILES))


def read_answers(place: Path) -> Answers:
    """Read a recording's answers.

    Raises UserError for a place without a recording: nothing there, or no answer that can be read.
    """
    if is_recording(place) and not place.is_dir():
        items = _archived(place)
    elif place.is_dir() and not (place / INDEX).exists() and (files := _saved(place)):
        items = (_saved_answer(place, file) for file in files)
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
    """Return the path of the GET that a saved file answers."""
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
