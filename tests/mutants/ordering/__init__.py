"""Mutants of the ordering core, by name."""

from ckptsim.sim.mutants.ordering.table import MUTANTS, VECTORS_OF, Vectors

__all__ = ["MUTANTS", "VECTORS_OF", "Vectors"]
