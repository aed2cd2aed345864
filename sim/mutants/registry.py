"""All mutants by name, whichever slot they take.

Those that show what a find looks like are here.  `CKPTSIM_MUTANTS` names a module with more of
them, as `MUTANTS`: the tests have some hundred.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec

from ckptsim.scenarios.dialect import suggestion
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.mutants import rescaling, shown, uncoordinated
from ckptsim.sim.mutants.mutant import Mutant, by_name
from ckptsim.sim.slots.table import slots_of

MORE = "CKPTSIM_MUTANTS"
MUTANTS: dict[str, Mutant] = by_name(
    *shown.MUTANTS.values(), *rescaling.MUTANTS.values(), *uncoordinated.MUTANTS.values()
)


def mutants_of(*places: str) -> dict[str, Mutant]:
    """Return the mutants that take a slot of links, or of suites of conformance vectors."""
    slots = [slot.name for slot in slots_of(*places)]
    return {name: mutant for name, mutant in _all().items() if mutant.slot in slots}


def find_mutant(places: Sequence[str], name: str) -> Mutant:
    """Return a mutant by name. Raises UserError where the places have none of that name."""
    known = mutants_of(*places)
    if name in known:
        return known[name]
    there = (
        f"those of {', '.join(places) or 'these files'}: {', '.join(known) or 'none'}"
        f"{suggestion(name, known)}"
    )
    other = _all().get(name)
    if other is not None:
        raise UserError(f"--mutant: found {name}, which takes slot {other.slot}; {there}")
    raise UserError(f"--mutant: found {name!r}, expected one of {there}")


def _all() -> Mapping[str, Mutant]:
    module = os.environ.get(MORE, "")
    if not module or find_spec(module.partition(".")[0]) is None:
        return MUTANTS
    more: Mapping[str, Mutant] = import_module(module).MUTANTS
    return {**more, **MUTANTS}
