"""The tasks of a job on records: sources, operators, their outputs and their end."""

from ckptsim.sim.job.records.tasks.operator import Operator, Sink
from ckptsim.sim.job.records.tasks.source import Source, next_record
from ckptsim.sim.job.records.tasks.task import Task

__all__ = [
    "Operator",
    "Sink",
    "Source",
    "Task",
    "next_record",
]
