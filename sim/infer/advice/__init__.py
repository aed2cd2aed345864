"""Which interval of checkpoints costs least, from simulated runs and simulated failures."""

from ckptsim.sim.infer.advice.advice import (
    Advisor,
    Failures,
    Point,
    best_of,
    daly_s,
    grid_s,
    optimum_s,
    young_s,
)

__all__ = ["Advisor", "Failures", "Point", "best_of", "daly_s", "grid_s", "optimum_s", "young_s"]
