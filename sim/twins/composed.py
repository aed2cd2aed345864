"""Which parts a run of the composed pipeline is put together from: the right ones, or a twin's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.errors import UserError
from sim.composed.parts import Parts

if TYPE_CHECKING:
    from sim.world import RunSpec

TWINS: dict[str, Parts] = {}


def parts_of(spec: RunSpec) -> Parts:
    """Return the parts of a run; a core of the user's is an ordering core."""
    if spec.core is not None:
        return Parts(core=spec.core)
    if spec.twin is None:
        return Parts()
    if spec.twin not in TWINS:
        raise UserError(f"--twin: found {spec.twin!r}, expected one of {', '.join(TWINS)}")
    return TWINS[spec.twin]
