"""Which implementation a run is about: ours, a faulty twin, or the user's."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ckptsim.models.store import Placement, StoreClient, StoreVersions
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.store.spans import SpanMedium
from ckptsim.sim.twins.store import TWINS

if TYPE_CHECKING:
    from ckptsim.sim.world import RunSpec


def subject(spec: RunSpec, placement: Placement) -> StoreVersions:
    """Return the client with its versions; a factory takes the placement, as `conform` has it."""
    if spec.core is not None:
        return cast("StoreVersions", spec.core(placement))
    if spec.twin is not None:
        if spec.twin not in TWINS:
            raise UserError(f"--twin: found {spec.twin!r}, expected one of {', '.join(TWINS)}")
        return TWINS[spec.twin].factory(placement)
    medium = SpanMedium(atomic=placement is Placement.COLOCATED)
    return StoreVersions(StoreClient(placement, medium))
