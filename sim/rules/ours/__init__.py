"""Our own core beside one that is not ours: the same events, and the first difference."""

from ckptsim.sim.rules.ours.watch import LikeOurs as LikeOurs
