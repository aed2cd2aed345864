"""Draw scenarios as well as seeds, keep those that reach something new, and change them further."""

from ckptsim.sim.search.explore.corpus import Corpus, ExploreReport
from ckptsim.sim.search.explore.explore import ExploreStopped, Exploring, explore
from ckptsim.sim.search.explore.run import RUN_SECONDS_MAX, Explored, Explorer

__all__ = [
    "RUN_SECONDS_MAX",
    "Corpus",
    "ExploreReport",
    "ExploreStopped",
    "Explored",
    "Explorer",
    "Exploring",
    "explore",
]
