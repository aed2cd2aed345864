"""The threads of tasks on buffers, as SimPy processes."""

from ckptsim.sim.job.buffers.tasks.source import Source
from ckptsim.sim.job.buffers.tasks.task import Task
from ckptsim.sim.job.buffers.tasks.varying import VaryingTask

__all__ = ["Source", "Task", "VaryingTask"]
