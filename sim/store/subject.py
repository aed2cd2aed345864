"""Which implementation a run is about: ours, a mutant, or the user's."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ckptsim.models.store import Placement, StoreClient, StoreVersions
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.mutants.store import MUTANTS
from ckptsim.sim.store.spans import SpanMedium

if TYPE_CHECKING:
    from ckptsim.sim.world import RunSpec


def subject(spec: RunSpec, placement: Placement) -> StoreVersions:
    """Return the client with its versions; a factory takes the placement, as `conform` has it."""
    if spec.core is not None:
        return cast("StoreVersions", spec.core(placement))
    if spec.mutant is not None:
        if spec.mutant not in MUTANTS:
            raise UserError(
                f"--mutant: found {spec.mutant!r}, expected one of {', '.join(MUTANTS)}"
            )
        return MUTANTS[spec.mutant].factory(placement)
    medium = SpanMedium(atomic=placement is Placement.COLOCATED)
    return StoreVersions(StoreClient(placement, medium))
