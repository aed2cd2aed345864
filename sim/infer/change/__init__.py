"""Changes of a job by option: the engine's own names, or ours, from a scenario to a scenario."""

from ckptsim.sim.infer.change.change import (
    axis_of,
    changed,
    parameters_of,
    read_change,
    read_values,
)

__all__ = ["axis_of", "changed", "parameters_of", "read_change", "read_values"]
