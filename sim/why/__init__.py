"""The cause of what a run did: the critical path through a checkpoint or a recovery."""

from ckptsim.sim.why.answer import Cause, Remedy, Step, Why
from ckptsim.sim.why.observed import is_traced_at_ease
from ckptsim.sim.why.why import SLOWEST, cause_lines, why, why_of

__all__ = [
    "SLOWEST",
    "Cause",
    "Remedy",
    "Step",
    "Why",
    "cause_lines",
    "is_traced_at_ease",
    "why",
    "why_of",
]
