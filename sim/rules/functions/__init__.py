"""Naive second versions of functions of cores, by name: the core's, ours, what they are asked."""

from ckptsim.sim.rules.functions import plans, recovery
from ckptsim.sim.rules.functions.debloater import DebloaterCore, DebloaterRules, drawn_debloating

CORES = {**recovery.CORES, **plans.CORES}
NAIVE = {**recovery.NAIVE, **plans.NAIVE}
DRAWS = {**recovery.DRAWS, **plans.DRAWS}

__all__ = ["CORES", "DRAWS", "NAIVE", "DebloaterCore", "DebloaterRules", "drawn_debloating"]
