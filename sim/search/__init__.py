"""Run one scenario under many seeds and tie orders, and shrink what breaks it."""

from sim.search.check import CheckReport, check
from sim.search.hunt import Find, hunt
from sim.search.shrink import Shrunk, shrink
from sim.search.trial import Subject, Trial, blame, trial

__all__ = [
    "CheckReport",
    "Find",
    "Shrunk",
    "Subject",
    "Trial",
    "blame",
    "check",
    "hunt",
    "shrink",
    "trial",
]
