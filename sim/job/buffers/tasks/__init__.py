"""The threads of tasks on buffers, as SimPy processes."""

from ckptsim.sim.job.buffers.tasks.source import Source as Source
from ckptsim.sim.job.buffers.tasks.task import Task as Task
from ckptsim.sim.job.buffers.tasks.varying import VaryingTask as VaryingTask
