"""Naive second statements of the rules of cores, and what compares them with cores in a run."""

from ckptsim.sim.rules.beside import FOLLOWS_RULES
from ckptsim.sim.rules.table import RULES, differential

__all__ = ["FOLLOWS_RULES", "RULES", "differential"]
