"""Draw scenarios as well as seeds, keep those that reach something new, and change them further."""

from ckptsim.sim.search.explore.explore import Corpus as Corpus
from ckptsim.sim.search.explore.explore import ExploreReport as ExploreReport
from ckptsim.sim.search.explore.explore import ExploreStopped as ExploreStopped
from ckptsim.sim.search.explore.explore import Exploring as Exploring
from ckptsim.sim.search.explore.explore import explore as explore
from ckptsim.sim.search.explore.run import RUN_SECONDS_MAX as RUN_SECONDS_MAX
from ckptsim.sim.search.explore.run import Explored as Explored
from ckptsim.sim.search.explore.run import Explorer as Explorer
