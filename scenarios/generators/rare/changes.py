"""Ways to change a scenario's document, which has every option in base units."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ckptsim.scenarios.generators.choices import Choices

Change: TypeAlias = Callable[[Choices, Any], None]
"""Changes a document; which of several items and values, it chooses."""


def one_of(place: str, *values: Any) -> Change:
    """Put one of the values at a place such as `job.vertices.*.repeat`, where * is any item."""
    *way, last = place.split(".")

    def change(choices: Choices, text: Any) -> None:
        if (table := _at(choices, text, way)) is not None:
            table[last] = choices.of(values)

    return change


def together(place: str, *tables: Mapping[str, Any]) -> Change:
    """Put the entries of one of the tables into the one at a place."""

    def change(choices: Choices, text: Any) -> None:
        if (table := _at(choices, text, place.split("."))) is not None:
            table.update(choices.of(tables))

    return change


def for_each_subtask(key: str, values: Sequence[Any], kind: str | None = None) -> Change:
    """Put a list into a vertex of a job, with one of the values for each of its subtasks.

    kind: of the vertex; absent: any.
    """

    def change(choices: Choices, text: Any) -> None:
        vertex = choices.of([v for v in text["job"]["vertices"] if kind in (None, v["kind"])])
        vertex[key] = [choices.of(values) for _ in range(vertex["parallelism"])]

    return change


def _at(choices: Choices, text: Any, way: Sequence[str]) -> Any:
    """Return the table at a place, None where a list on the way there has no item."""
    here = text
    for step in way:
        if step == "*" and not here:
            return None
        here = choices.of(here) if step == "*" else here[step]
    return here
