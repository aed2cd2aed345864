"""Random faults for a scenario: drawn by its link's kinds, with places and instants of its own."""

from ckptsim.sim.search.faults.draw import FaultDraw, Source, Tally, with_random_faults

__all__ = ["FaultDraw", "Source", "Tally", "with_random_faults"]
