"""Designs as axes of a plan: cores and mutants beside the parameters of scenarios.

An axis `core.SLOT` sweeps the core of a slot: `builtin`, or what `--core` takes.  The axis `mutant`
sweeps mutants of ours by name, with `none` for the right cores.  Scenarios know neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MUTANT_AXIS = "mutant"
CORE_AXIS = "core"
BUILT_IN = "builtin"
NO_MUTANT = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What runs a point in place of our cores: slot -> what `--core` takes, and a mutant."""

    cores: Mapping[str, str] = field(default_factory=dict)
    mutant: str | None = None


def is_design(path: str) -> bool:
    """Return whether a path of a plan sweeps cores or mutants, and no parameter of a scenario."""
    return path == MUTANT_AXIS or path.partition(".")[0] == CORE_AXIS


def slot_of(path: str) -> str:
    """Return the slot that a path sweeps. Empty for mutants, and where a path names none."""
    return path.partition(".")[2]


def design_of(values: Mapping[str, object]) -> Design:
    """Return the design among the values of a point. Its other values are of the scenario."""
    cores = {
        slot_of(path): str(value)
        for path, value in values.items()
        if is_design(path) and path != MUTANT_AXIS and value != BUILT_IN
    }
    mutant = values.get(MUTANT_AXIS, NO_MUTANT)
    return Design(cores=cores, mutant=None if mutant == NO_MUTANT else str(mutant))


def without_designs(values: Mapping[str, object]) -> dict[str, object]:
    """Return the values of a point that are parameters of its scenario."""
    return {path: value for path, value in values.items() if not is_design(path)}
