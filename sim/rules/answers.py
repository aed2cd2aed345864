"""What cores answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ckptsim.models.core import ProtocolError

STORY = 8


@dataclass(frozen=True, slots=True)
class Refused:
    """A refused event. Refusals are the same, whatever their kinds."""

    kind: str = field(compare=False)

    @classmethod
    def of(cls, error: ProtocolError) -> Refused:
        """Return the refusal that a core gave."""
        return cls(str(error.kind))


Answer = tuple[Any, ...] | Refused
"""What a core gave: its effects, or `Refused` with the one kind."""


def given(core: Any, event: Any) -> Answer:
    """Return what a core answers. A refusal is an answer."""
    try:
        return tuple(core.step(event))
    except ProtocolError as error:
        return Refused.of(error)
