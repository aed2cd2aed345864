"""Changes of a job by option: the engine's own names, or ours, from a scenario to a scenario."""

from ckptsim.sim.infer.change.change import axis_of as axis_of
from ckptsim.sim.infer.change.change import changed as changed
from ckptsim.sim.infer.change.change import parameters_of as parameters_of
from ckptsim.sim.infer.change.change import read_change as read_change
from ckptsim.sim.infer.change.change import read_values as read_values
