"""Write a scenario as a TOML file that people would write: units, and nothing at its default."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time
from typing import TypeAlias, cast

from ckptsim.scenarios.files.document import human
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.spec import Link, Scenario

# Keys, and indices into arrays of tables, from the top of a document.
Place: TypeAlias = tuple[str | int, ...]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def to_toml(scenario: Scenario, *, links: Mapping[str, Link] = LINKS) -> str:
    """Return the text of a file that loads to an equal scenario."""
    return write(human(scenario, links))


def write(
    document: Mapping[str, object], comments: Mapping[Place, Sequence[str]] | None = None
) -> str:
    """Return tables of texts, numbers, booleans, arrays and tables as TOML.

    comments: place of a single value, with indices into arrays of tables -> lines to stand above
    it. The ones of places that the document does not have are left out.
    """
    return "\n".join(_table(document, (), (), comments or {})).strip("\n") + "\n"


def _table(
    table: Mapping[str, object],
    path: tuple[str, ...],
    place: Place,
    comments: Mapping[Place, Sequence[str]],
) -> Iterator[str]:
    """Write single values first, since whatever follows a header belongs to it.

    path: keys of the header. place: those and the indices.
    """
    for key, value in table.items():
        if not _has_header(value):
            yield from (f"# {line}" for line in comments.get((*place, key), ()))
            yield f"{_key(key)} = {_value(value)}"
    for key, value in table.items():
        inner, there = (*path, key), (*place, key)
        if isinstance(value, Mapping):
            if not value or not all(map(_has_header, value.values())):
                yield from ("", f"[{'.'.join(map(_key, inner))}]")
            yield from _table(value, inner, there, comments)
        elif _holds_tables(value):
            for index, item in enumerate(cast("Sequence[Mapping[str, object]]", value)):
                yield from ("", f"[[{'.'.join(map(_key, inner))}]]")
                yield from _table(item, inner, (*there, index), comments)


def _has_header(value: object) -> bool:
    return isinstance(value, Mapping) or _holds_tables(value)


def _holds_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, Mapping) for v in value)


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _text(key)


def _value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case list():
            return "[" + ", ".join(_value(item) for item in value) + "]"
        case Mapping():
            pairs = (f"{_key(key)} = {_value(item)}" for key, item in value.items())
            return "{" + ", ".join(pairs) + "}"
        case date() | time():
            return value.isoformat()
        case _:
            return repr(value)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON leaves it
