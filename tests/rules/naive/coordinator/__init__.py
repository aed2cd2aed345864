"""The rules of a checkpoint coordinator."""

from ckptsim.sim.rules.coordinator.walks import CoordinatorRules, drawn_parameters

__all__ = ["CoordinatorRules", "drawn_parameters"]
