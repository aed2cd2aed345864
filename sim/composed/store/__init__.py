"""The store of the sink: its medium, its checkpoints, and what a durable step costs."""

from ckptsim.sim.composed.store.store import Store

__all__ = ["Store"]
