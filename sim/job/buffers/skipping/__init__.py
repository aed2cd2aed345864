"""Long jobs: stretches in which a job repeats itself are worked out and not simulated."""

from ckptsim.sim.job.buffers.skipping.skipper import Skipper, skips

__all__ = ["Skipper", "skips"]
