"""Which interval of checkpoints costs least, from simulated runs and simulated failures."""

from ckptsim.sim.infer.advice.advice import (
    CHECKPOINTS,
    QUICK_CHECKPOINTS,
    RUNS_OF_A_POINT,
    Advisor,
    around_the_least,
    grid_s,
)
from ckptsim.sim.infer.advice.curve import (
    SCATTER,
    Failures,
    Point,
    best_of,
    daly_s,
    flat_s,
    frontier_of,
    optimum_s,
    shortest_s,
    young_s,
)
from ckptsim.sim.infer.advice.day import read_load

__all__ = [
    "CHECKPOINTS",
    "QUICK_CHECKPOINTS",
    "RUNS_OF_A_POINT",
    "SCATTER",
    "Advisor",
    "Failures",
    "Point",
    "around_the_least",
    "best_of",
    "daly_s",
    "flat_s",
    "frontier_of",
    "grid_s",
    "optimum_s",
    "read_load",
    "shortest_s",
    "young_s",
]
