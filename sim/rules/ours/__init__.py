"""Our own core beside one that is not ours: the same events, and the first difference."""

from ckptsim.sim.rules.ours.watch import DOES_AS_OURS, LikeOurs

__all__ = ["DOES_AS_OURS", "LikeOurs"]
