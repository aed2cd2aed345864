"""A value that was inferred: how it was found, from which answers, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

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
    effect: what a wrong value does to the predictions; for assumed values, which are asked for.
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
    name: what a person calls it, such as `op1: service`; value: as a text.
    """

    place: tuple[str | int, ...]
    name: str
    value: str
    how: str
    answers: tuple[str, ...]
    sure: Sureness
    effect: str = ""
