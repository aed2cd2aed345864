"""When mutants are first told from the right core, as rows of documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from textwrap import fill

from ckptsim.sim.mutants.mutant import Mutant

SEEDS_MAX = 1000

# Mutant, scenario and seed -> the property that breaks, if any.
Violated = Callable[[str, str, int], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """When a mutant first broke a property, which one, and how many seeds of a sample show it."""

    mutant: str
    scenario: str
    first_seed: int
    property: str
    seeds: int


def first(violated: Violated, mutant: str, scenario: str) -> tuple[int, str] | None:
    """Return the first seed below SEEDS_MAX that shows a mutant, with the property it breaks."""
    for seed in range(SEEDS_MAX):
        name = violated(mutant, scenario, seed)
        if name is not None:
            return seed, name
    return None


def kills(violated: Violated, scenario_of: Mapping[str, str], sample: int) -> list[Kill]:
    """Return a row per mutant. sample: of how many seeds those that show it are counted."""
    rows: list[Kill] = []
    for mutant, scenario in scenario_of.items():
        found = first(violated, mutant, scenario)
        if found is None:
            raise ValueError(f"{mutant} survives {SEEDS_MAX} seeds of {scenario}")
        seeds = sum(violated(mutant, scenario, seed) is not None for seed in range(sample))
        seed, name = found
        row = Kill(mutant=mutant, scenario=scenario, first_seed=seed, property=name, seeds=seeds)
        rows.append(row)
    return rows


def lines_of(rows: list[Kill], mutants: Mapping[str, Mutant], sample: int) -> list[str]:
    """Return a summary of the rows and an item for each."""
    middle = median(row.first_seed for row in rows)
    shown = sorted(row.seeds for row in rows)
    return [
        f"The median first seed of {len(rows)} mutants is {middle:g}. A mutant shows in",
        f"{median(shown):g} of {sample} seeds (median), and in {shown[0]} at least.",
        "",
        *(
            fill(
                f"* `{row.mutant}`, {row.seeds} of {sample} seeds of `{row.scenario}`, first "
                f"{row.first_seed} (`{row.property}`). {mutants[row.mutant].says}",
                118,
                subsequent_indent="  ",
                break_on_hyphens=False,
            )
            for row in rows
        ),
    ]
