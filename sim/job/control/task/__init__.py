"""The control of one task: barrier handler, checkpoints and lifecycle, joined."""

from ckptsim.sim.job.control.task.task import TaskControl as TaskControl
from ckptsim.sim.job.control.task.task import TaskCores as TaskCores
