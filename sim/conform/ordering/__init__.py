"""Vectors of the suite `ordering`: the destination's core, its mutants, and the source model."""

from ckptsim.sim.conform.ordering.adapter import ADAPTER

__all__ = ["ADAPTER"]
