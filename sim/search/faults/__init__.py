"""Random faults for a scenario: drawn by its link's kinds, with places and instants of its own."""

from ckptsim.sim.search.faults.draw import FaultDraw, Source, with_random_faults
from ckptsim.sim.search.faults.excused import without_hazards
from ckptsim.sim.search.faults.tally import Tally

__all__ = ["FaultDraw", "Source", "Tally", "with_random_faults", "without_hazards"]
