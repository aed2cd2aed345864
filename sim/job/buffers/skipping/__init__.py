"""Long jobs: stretches in which a job repeats itself are worked out and not simulated."""

from ckptsim.sim.job.buffers.skipping.skipper import Skipper as Skipper
from ckptsim.sim.job.buffers.skipping.skipper import skips as skips
