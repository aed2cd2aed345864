"""Draw scenarios as well as seeds, keep those that reach something new, and change them further."""

from ckptsim.sim.search.explore.corpus import Corpus
from ckptsim.sim.search.explore.explore import ExploreStopped, Exploring, explore
from ckptsim.sim.search.explore.fewer import fewer
from ckptsim.sim.search.explore.report import ExploreReport
from ckptsim.sim.search.explore.run import Explored, Explorer

__all__ = [
    "Corpus",
    "ExploreReport",
    "ExploreStopped",
    "Explored",
    "Explorer",
    "Exploring",
    "explore",
    "fewer",
]
