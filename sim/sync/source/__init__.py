"""The source of one attempt of a sync: feeds read by concurrent readers, and their states."""

from ckptsim.sim.sync.source.feeds import FeedPlan
from ckptsim.sim.sync.source.resources import Resources
from ckptsim.sim.sync.source.source import Source

__all__ = [
    "FeedPlan",
    "Resources",
    "Source",
]
