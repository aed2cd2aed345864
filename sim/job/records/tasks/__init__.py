"""The tasks of a job on records: sources, operators, their outputs and their end."""

from collections.abc import Mapping

from ckptsim.scenarios.job import VertexKind
from ckptsim.sim.job.records.tasks.legacy import LegacySource
from ckptsim.sim.job.records.tasks.operator import Operator as Operator
from ckptsim.sim.job.records.tasks.operator import Sink as Sink
from ckptsim.sim.job.records.tasks.source import Source as Source
from ckptsim.sim.job.records.tasks.source import next_record as next_record
from ckptsim.sim.job.records.tasks.task import Task as Task

TASKS: Mapping[VertexKind, type[Task]] = {
    VertexKind.SOURCE: Source,
    VertexKind.LEGACY: LegacySource,
    VertexKind.OPERATOR: Operator,
    VertexKind.SINK: Sink,
}
