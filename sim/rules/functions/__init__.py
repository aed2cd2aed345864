"""Naive second versions of functions of cores, by name: the core's, ours, what they are asked."""

from ckptsim.sim.rules.functions import barriers, in_flight, plans, recovery
from ckptsim.sim.rules.functions.debloater import DebloaterCore, DebloaterRules, drawn_debloating
from ckptsim.sim.rules.recovery import persistence

CORES = {**recovery.CORES, **in_flight.CORES, **barriers.CORES, **plans.CORES, **persistence.CORES}
NAIVE = {**recovery.NAIVE, **in_flight.NAIVE, **barriers.NAIVE, **plans.NAIVE, **persistence.NAIVE}
DRAWS = {**recovery.DRAWS, **in_flight.DRAWS, **barriers.DRAWS, **plans.DRAWS, **persistence.DRAWS}

__all__ = ["CORES", "DRAWS", "NAIVE", "DebloaterCore", "DebloaterRules", "drawn_debloating"]
