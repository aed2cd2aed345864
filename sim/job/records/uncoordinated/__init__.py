"""Checkpoints of a job on records without barriers."""

from ckptsim.sim.job.records.uncoordinated.job import UncoordinatedJob as UncoordinatedJob
from ckptsim.sim.job.records.uncoordinated.job import uncoordinated as uncoordinated
from ckptsim.sim.job.records.uncoordinated.message_log import MessageLog as MessageLog
from ckptsim.sim.job.records.uncoordinated.task import TaskCheckpoints as TaskCheckpoints
