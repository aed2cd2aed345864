"""All mutants by name, whichever slot they take."""

from __future__ import annotations

from collections.abc import Sequence

from ckptsim.scenarios.dialect import suggestion
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.mutants import (
    barriers,
    composed,
    lifecycle,
    ordering,
    rescaling,
    store,
    uncoordinated,
)
from ckptsim.sim.mutants.mutant import Mutant, by_name
from ckptsim.sim.slots.table import slots_of

MUTANTS: dict[str, Mutant] = by_name(
    *ordering.MUTANTS.values(),
    *barriers.MUTANTS.values(),
    *lifecycle.MUTANTS.values(),
    *rescaling.MUTANTS.values(),
    *uncoordinated.MUTANTS.values(),
    *store.MUTANTS.values(),
    *composed.MUTANTS.values(),
)


def mutants_of(*places: str) -> dict[str, Mutant]:
    """Return the mutants that take a slot of links, or of suites of conformance vectors."""
    slots = [slot.name for slot in slots_of(*places)]
    return {name: mutant for name, mutant in MUTANTS.items() if mutant.slot in slots}


def find_mutant(places: Sequence[str], name: str) -> Mutant:
    """Return a mutant by name; raises UserError where the places have none of that name."""
    known = mutants_of(*places)
    if name in known:
        return known[name]
    there = (
        f"those of {', '.join(places) or 'these files'}: {', '.join(known) or 'none'}"
        f"{suggestion(name, known)}"
    )
    if name in MUTANTS:
        raise UserError(f"--mutant: found {name}, which takes slot {MUTANTS[name].slot}; {there}")
    raise UserError(f"--mutant: found {name!r}, expected one of {there}")
