"""Mutants of our cores that tests tell from them. The program itself knows only some of them."""

from ckptsim.sim.mutants import rescaling, uncoordinated
from ckptsim.sim.mutants.mutant import Mutant, by_name
from tests.mutants import (
    acknowledger,
    barriers,
    committer,
    composed,
    enumerator,
    lifecycle,
    ordering,
    shared_state,
    store,
)
from tests.mutants.ordering import sources

MUTANTS: dict[str, Mutant] = by_name(
    *ordering.MUTANTS.values(),
    *sources.MUTANTS.values(),
    *barriers.MUTANTS.values(),
    *lifecycle.MUTANTS.values(),
    *committer.MUTANTS.values(),
    *enumerator.MUTANTS.values(),
    *acknowledger.MUTANTS.values(),
    *shared_state.MUTANTS.values(),
    *rescaling.MUTANTS.values(),
    *uncoordinated.MUTANTS.values(),
    *store.MUTANTS.values(),
    *composed.MUTANTS.values(),
)
