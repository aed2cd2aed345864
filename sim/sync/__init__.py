"""The simulated sync around the real ordering core: source, sockets, destination, platform."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.sim.slots import ProtocolCores
from ckptsim.sim.sync.tables import tables
from ckptsim.sim.sync.vocabulary import VOCABULARY as VOCABULARY
from ckptsim.sim.sync.world import SyncWorld

if TYPE_CHECKING:
    from ckptsim.sim.rows import RunResult
    from ckptsim.sim.run_spec import RunSpec


def run(spec: RunSpec) -> RunResult:
    """Run one sync to its end and return its tables."""
    world = SyncWorld(spec)
    world.run()
    return tables(world)


CORES = ProtocolCores
