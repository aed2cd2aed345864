"""The ordering core as a destination for real messages: batches, uploads, states in order."""

from ckptsim.sim.order.batches import BatchRules
from ckptsim.sim.order.destination import Destination, Summary

__all__ = ["BatchRules", "Destination", "Summary"]
