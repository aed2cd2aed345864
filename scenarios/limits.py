"""Where parameters mean nothing: how tables declare it, and what of a model it refuses or notes.

A parameter of a job or pipeline acts, or it says here that it does not: on one of the two planes,
or in a pipeline.  `tests/scenarios/job/test_fields.py` asks every parameter for one of the two.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Protocol, cast

from ckptsim.scenarios.dialect import (
    Entry,
    Kind,
    Limit,
    Limits,
    Many,
    Nested,
    OneOf,
    duration_text,
    schema,
    shown,
)
from ckptsim.scenarios.errors import Problem

RECORDS, BUFFERS, PIPELINE = "records", "buffers", "pipeline"
PIPELINE_ON_RECORDS = f"{PIPELINE} on {RECORDS}"


class Placed(Protocol):
    """A model that knows which places it is."""

    @property
    def places(self) -> tuple[str, ...]:
        """Return its plane, and where it is a pipeline, that and the pipeline on its plane."""


def not_on_records(because: str, *, noted: bool = False) -> Limits:
    """Declare that a parameter means nothing on plane `records`. `noted`: it may be left set."""
    return (Limit(RECORDS, f'on plane "{RECORDS}"', because, noted),)


def not_on_buffers(because: str) -> Limits:
    """Declare that a parameter means nothing on plane `buffers`."""
    return (Limit(BUFFERS, f'on plane "{BUFFERS}"', because),)


def not_in_pipelines(because: str) -> Limits:
    """Declare that a parameter means nothing in a pipeline."""
    return (Limit(PIPELINE, "in a pipeline", because),)


def not_in_pipelines_on_records(because: str) -> Limits:
    """Declare that a parameter means nothing in a pipeline on plane `records`, and may be set."""
    says = f'in a pipeline on plane "{RECORDS}"'
    return (Limit(PIPELINE_ON_RECORDS, says, because, noted=True),)


@dataclass(frozen=True, slots=True)
class Limited:
    """A parameter of a model with one of its limits.

    `vertices[].KEY` is the one of every vertex.
    """

    path: str
    entry: Entry
    limit: Limit

    @property
    def only(self) -> str:
        """The value that it has in that place, for people."""
        return _text(self.path, self.entry.default)

    def problem(self, path: str, value: object) -> Problem:
        """Return the problem of another value."""
        found = shown(str(value)) if isinstance(value, str) else _text(path, value)
        return Problem(path, found, f"{self.only} {self.limit.says}: {self.reason}")

    @property
    def reason(self) -> str:
        """Why it means nothing there."""
        return self.limit.because


def limits_of(model: type[Any]) -> tuple[Limited, ...]:
    """Return every parameter inside a model with each of its limits."""
    return _limits_of(cast("Hashable", model))


@cache
def _limits_of(model: Any) -> tuple[Limited, ...]:
    return tuple(_inside(model, ""))


def _inside(table: type[Any], head: str) -> Iterator[Limited]:
    for entry in schema(table):
        path = f"{head}{entry.name}"
        yield from (Limited(path, entry, limit) for limit in entry.limits)
        for inner, step in _tables(entry.kind):
            yield from _inside(inner, f"{path}{step}.")


def _tables(kind: Kind) -> Iterator[tuple[type[Any], str]]:
    match kind:
        case Nested():
            yield kind.table, ""
        case Many(item=Nested() as item):
            yield item.table, "[]"
        case OneOf() | Many(item=OneOf()):
            pass  # as yet no parameter of an alternative has a limit


def limit_problems(model: Placed) -> list[Problem]:
    """Return the settings of a model that mean nothing there."""
    return [
        limited.problem(path, value)
        for limited, path, value in _set(model)
        if not limited.limit.noted
    ]


def unread(model: Placed) -> dict[str, str]:
    """Return the settings of a model that nothing reads, each with the reason."""
    return {path: limited.reason for limited, path, _ in _set(model) if limited.limit.noted}


def without_refused(
    tables: Mapping[str, Any], model: type[Any], *places: str | StrEnum
) -> dict[str, Any]:
    """Return the document of a model in base units without the keys that are refused there."""
    refused = {one.path for one in limits_of(model) if one.limit.place in places}
    return {
        name: {key: value for key, value in table.items() if f"{name}.{key}" not in refused}
        if isinstance(table, Mapping)
        else table
        for name, table in tables.items()
    }


def _set(model: Placed) -> Iterator[tuple[Limited, str, object]]:
    for limited in limits_of(type(model)):
        if limited.limit.place in model.places:
            for path, value in _values(model, limited.path, ""):
                if value != limited.entry.default:
                    yield limited, path, value


def _values(holder: object, path: str, head: str) -> Iterator[tuple[str, object]]:
    """Yield every place of a path inside a table, with its value."""
    key, _, rest = path.partition(".")
    held: Any = getattr(holder, key.removesuffix("[]"))
    if not rest:
        yield f"{head}{key}", held
    elif key.endswith("[]"):
        for index, item in enumerate(held):
            yield from _values(item, rest, f"{head}{key[:-2]}[{index}].")
    else:
        yield from _values(held, rest, f"{head}{key}.")


def _text(path: str, value: object) -> str:
    if value is None or value == ():
        return "nothing"
    if isinstance(value, tuple):
        return shown(list(value))
    if path.endswith("_ns") and isinstance(value, int):
        return duration_text(value)
    return shown(value) if isinstance(value, bool | float) else str(value)
