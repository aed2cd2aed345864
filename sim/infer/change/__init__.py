"""Changes of a job by option: the engine's own names, or ours, from a scenario to a scenario."""

from ckptsim.sim.infer.change.change import changed, read_change

__all__ = ["changed", "read_change"]
