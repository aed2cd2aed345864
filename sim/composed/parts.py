"""The factories of a pipeline: the cores of all its links, and the parts where two links meet."""

from __future__ import annotations

from dataclasses import dataclass

from ckptsim.sim.composed.destination import PipelineDestination
from ckptsim.sim.composed.destination.committer import Committer
from ckptsim.sim.job.control.sinks.sink import SinkWriter
from ckptsim.sim.slots import ProtocolCores


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineCores(ProtocolCores):
    """One factory per slot of a pipeline."""

    committer: type[Committer] = Committer
    sink: type[SinkWriter] = SinkWriter
    destination: type[PipelineDestination] = PipelineDestination
