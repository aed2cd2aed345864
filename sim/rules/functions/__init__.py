"""Naive second versions of functions of cores, by name: the core's, ours, what they are asked."""

from ckptsim.sim.rules.functions import plans, recovery
from ckptsim.sim.rules.functions.debloater import DebloaterCore, DebloaterRules, drawn_debloating
from ckptsim.sim.rules.recovery import persistence

CORES = {**recovery.CORES, **plans.CORES, **persistence.CORES}
NAIVE = {**recovery.NAIVE, **plans.NAIVE, **persistence.NAIVE}
DRAWS = {**recovery.DRAWS, **plans.DRAWS, **persistence.DRAWS}

__all__ = ["CORES", "DRAWS", "NAIVE", "DebloaterCore", "DebloaterRules", "drawn_debloating"]
