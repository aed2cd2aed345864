"""The link `checkpoint_store`: its simulated world. Stores on real files are in `real`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.sim.slots import ProtocolCores
from ckptsim.sim.store.tables import tables
from ckptsim.sim.store.vocabulary import VOCABULARY as VOCABULARY
from ckptsim.sim.store.world import StoreWorld

if TYPE_CHECKING:
    from ckptsim.sim.rows import RunResult
    from ckptsim.sim.run_spec import RunSpec


def run(spec: RunSpec) -> RunResult:
    """Run one process with its store to the end and return the tables."""
    world = StoreWorld(spec)
    world.run()
    found = tables(world)
    world.client.medium.close()
    return found


CORES = ProtocolCores
