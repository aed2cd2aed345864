"""Our own core beside a user's: the same events, and the first difference."""

from ckptsim.sim.rules.ours.watch import DOES_AS_OURS, LikeOurs, refuse_uncompared

__all__ = ["DOES_AS_OURS", "LikeOurs", "refuse_uncompared"]
