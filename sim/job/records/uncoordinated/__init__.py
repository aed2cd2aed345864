"""Checkpoints of a job on records without barriers."""

from ckptsim.sim.job.records.uncoordinated.job import UncoordinatedJob, uncoordinated
from ckptsim.sim.job.records.uncoordinated.message_log import MessageLog
from ckptsim.sim.job.records.uncoordinated.task import TaskCheckpoints

__all__ = ["MessageLog", "TaskCheckpoints", "UncoordinatedJob", "uncoordinated"]
