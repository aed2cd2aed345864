"""The threads of tasks on buffers, as callbacks and as processes."""

from ckptsim.sim.job.buffers.tasks.reference import ReferenceSource, ReferenceTask
from ckptsim.sim.job.buffers.tasks.source import Source
from ckptsim.sim.job.buffers.tasks.task import Task
from ckptsim.sim.job.buffers.tasks.varying import VaryingReferenceTask, VaryingTask

__all__ = [
    "ReferenceSource",
    "ReferenceTask",
    "Source",
    "Task",
    "VaryingReferenceTask",
    "VaryingTask",
]
