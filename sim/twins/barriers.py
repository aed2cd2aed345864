"""Faulty twins of the barrier cores: each lacks one safeguard that a known issue brought in.

A twin is a factory with the signature of what it replaces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from scenarios.errors import UserError


class Part(Enum):
    """What a twin replaces; the two ends of a channel have the names of their vectors."""

    HANDLER = "handler"
    TRACKER = "tracker"
    INPUT_CHANNEL = "input-channel"
    OUTPUT_SUBPARTITION = "output-subpartition"
    SUBTASK = "subtask"
    WRITER = "writer"
    COORDINATOR = "coordinator"


@dataclass(frozen=True, slots=True)
class Twin:
    """A faulty core: what it does wrong, what it replaces, and how it is made."""

    says: str
    part: Part
    make: Callable[..., Any]


TWINS: dict[str, Twin] = {}


def find_twin(name: str) -> Twin:
    """Return a twin by name.

    Raises UserError for a name that no twin has.
    """
    if name not in TWINS:
        raise UserError(f"found twin {name!r}, expected one of {', '.join(TWINS)}")
    return TWINS[name]
