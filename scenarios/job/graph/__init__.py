"""The graph of a job: vertices with subtasks, their inputs with partitioners, and what fits."""

from ckptsim.scenarios.job.graph.edges import Edge, Input, Partitioner
from ckptsim.scenarios.job.graph.graph import edges_of, forward_group, row_names, spelled_out
from ckptsim.scenarios.job.graph.kinds import RateChange, Recorded, VertexKind
from ckptsim.scenarios.job.graph.vertex import Vertex

__all__ = [
    "Edge",
    "Input",
    "Partitioner",
    "RateChange",
    "Recorded",
    "Vertex",
    "VertexKind",
    "edges_of",
    "forward_group",
    "row_names",
    "spelled_out",
]
