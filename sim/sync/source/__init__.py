"""The source of one attempt of a sync: feeds read by concurrent readers, and their states."""

from ckptsim.sim.sync.source.resources import Resources
from ckptsim.sim.sync.source.source import Source
from ckptsim.sim.sync.source.states import FeedPlan

__all__ = [
    "FeedPlan",
    "Resources",
    "Source",
]
