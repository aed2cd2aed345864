"""When mutants are first distinguished from the right core."""

from __future__ import annotations

from collections.abc import Callable

SEEDS_MAX = 100

# Mutant, scenario and seed -> the property that breaks, if any.
Violated = Callable[[str, str, int], str | None]


def first(violated: Violated, mutant: str, scenario: str) -> tuple[int, str] | None:
    """Return the first seed below SEEDS_MAX that shows a mutant, with the property it breaks."""
    for seed in range(SEEDS_MAX):
        name = violated(mutant, scenario, seed)
        if name is not None:
            return seed, name
    return None
