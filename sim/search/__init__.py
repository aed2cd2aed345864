"""Run one scenario under many seeds and tie orders, and shrink what breaks it."""

from ckptsim.sim.search.check import CheckReport, CheckStopped, check
from ckptsim.sim.search.hunt import Find, HuntStopped, hunt
from ckptsim.sim.search.shrink import shrink
from ckptsim.sim.search.trial import Subject

__all__ = [
    "CheckReport",
    "CheckStopped",
    "Find",
    "HuntStopped",
    "Subject",
    "check",
    "hunt",
    "shrink",
]
