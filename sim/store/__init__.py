"""The link `checkpoint_store`: its simulated world; stores on real files are in `real`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.store.tables import tables
from sim.store.vocabulary import VOCABULARY
from sim.store.world import StoreWorld

if TYPE_CHECKING:
    from sim.rows import RunResult
    from sim.world import RunSpec


def run(spec: RunSpec) -> RunResult:
    """Run one process with its store to the end and return the tables."""
    world = StoreWorld(spec)
    world.run()
    return tables(world)


__all__ = ["VOCABULARY", "run"]
