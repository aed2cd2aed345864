"""All mutants by name, whichever slot they take."""

from __future__ import annotations

from ckptsim.sim.mutants import barriers, composed, lifecycle, ordering, store
from ckptsim.sim.mutants.mutant import Mutant, by_name
from ckptsim.sim.slots.table import slots_of

MUTANTS: dict[str, Mutant] = by_name(
    *ordering.MUTANTS.values(),
    *barriers.MUTANTS.values(),
    *lifecycle.MUTANTS.values(),
    *store.MUTANTS.values(),
    *composed.MUTANTS.values(),
)


def mutants_of(*places: str) -> dict[str, Mutant]:
    """Return the mutants that take a slot of links, or of suites of conformance vectors."""
    slots = [slot.name for slot in slots_of(*places)]
    return {name: mutant for name, mutant in MUTANTS.items() if mutant.slot in slots}
