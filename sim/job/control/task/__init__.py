"""The control of one task: barrier handler, checkpoints and lifecycle, joined."""

from ckptsim.sim.job.control.task.task import TaskControl, TaskCores

__all__ = ["TaskControl", "TaskCores"]
