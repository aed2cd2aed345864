"""The rules of barrier handlers."""

from ckptsim.sim.rules.handler.walks import handler_rules

__all__ = ["handler_rules"]
