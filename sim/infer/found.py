"""Values that were inferred: how each was found, from which answers, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from ckptsim.scenarios.dialect import units

T_co = TypeVar("T_co", covariant=True)


class Sureness(StrEnum):
    """How much a value can be relied on."""

    READ = "read"  # the server says so
    COUNTED = "counted"  # a quotient of counters over enough records
    ESTIMATED = "estimated"  # few counts, or an inference that another job could look like, too
    ASSUMED = "assumed"  # nothing in the recording says so


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(Generic[T_co]):
    """A value with its origin.

    how: one clause.  answers: kinds of GETs, as `Recording.files` has them.
    effect: what a wrong value does to the predictions. For assumed values, which are asked for.
    """

    value: T_co
    how: str
    answers: tuple[str, ...]
    sure: Sureness
    effect: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A found value at its place in a scenario.

    place: path in the file, such as `("job", "vertices", 1, "service")`.
    name: what a person calls it, such as `op1: service`. value: as a text.
    """

    place: tuple[str | int, ...]
    name: str
    value: str
    how: str
    answers: tuple[str, ...]
    sure: Sureness
    effect: str = ""


class Findings:
    """The findings so far, in the order in which they were added."""

    def __init__(self) -> None:
        self._all: list[Finding] = []

    @property
    def all(self) -> tuple[Finding, ...]:
        """Return them all."""
        return tuple(self._all)

    def add(
        self,
        place: tuple[str | int, ...],
        name: str,
        found: Found[object],
        value: str | None = None,
    ) -> None:
        """Note a value. Its text follows from the unit in its key where none is given."""
        self._all.append(
            Finding(
                place=place,
                name=name,
                value=_text(str(place[-1]), found.value) if value is None else value,
                how=found.how,
                answers=found.answers,
                sure=found.sure,
                effect=found.effect,
            )
        )


def _text(key: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if key.endswith("_ns"):
        return units.write(value, units.DURATION_UNITS)
    if key.endswith("_bytes"):
        return units.write(value, units.SIZE_UNITS)
    return f"{value:,}"
