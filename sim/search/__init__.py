"""Run one scenario under many seeds and tie orders, and shrink what breaks it."""

from ckptsim.sim.search.check import CheckReport, check
from ckptsim.sim.search.hunt import Find, hunt
from ckptsim.sim.search.shrink import Shrunk, shrink
from ckptsim.sim.search.trial import Subject, Trial, trial

__all__ = [
    "CheckReport",
    "Find",
    "Shrunk",
    "Subject",
    "Trial",
    "check",
    "hunt",
    "shrink",
    "trial",
]
