"""The ordering core as a destination for real messages: batches, uploads, states in order."""

from sim.order.batches import BatchRules
from sim.order.destination import Destination, Summary

__all__ = ["BatchRules", "Destination", "Summary"]
