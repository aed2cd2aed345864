"""The rules of the ordering protocol."""

from ckptsim.sim.rules.ordering.walks import OrderingRules

__all__ = ["OrderingRules"]
