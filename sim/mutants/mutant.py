"""What a mutant is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ckptsim.scenarios.dialect import snake_case


@dataclass(frozen=True, slots=True)
class Mutant:
    """A faulty core: its name, what it does wrong in one sentence, its slot, and how it is made.

    The factory has the signature that its slot asks for, as one of the user's has.
    profile, engines: which conformance vectors of its suite it is to reproduce.
    """

    name: str
    says: str
    slot: str
    factory: Callable[..., Any]
    profile: str = "spec"
    engines: tuple[str, ...] = ("any", "cm")


def by_name(*mutants: Mutant) -> dict[str, Mutant]:
    """Return mutants by name. Raises ValueError when two have one name."""
    found = {mutant.name: mutant for mutant in mutants}
    if len(found) != len(mutants):
        raise ValueError("two mutants have one name")
    return found


def of_slot(slot: str, *factories: Callable[..., Any]) -> Iterator[Mutant]:
    """Yield the mutants of a slot, which are called and described as their factories are."""
    for factory in factories:
        yield Mutant(snake_case(factory.__name__), sentence(factory), slot, factory)


def sentence(thing: object) -> str:
    """Return the docstring's first paragraph as one line."""
    return " ".join((thing.__doc__ or "").strip().partition("\n\n")[0].split())
