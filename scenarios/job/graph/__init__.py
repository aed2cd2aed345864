"""The graph of a job: vertices with subtasks, their inputs with partitioners, and what fits."""

from ckptsim.scenarios.job.graph.edges import Edge as Edge
from ckptsim.scenarios.job.graph.edges import Input as Input
from ckptsim.scenarios.job.graph.edges import Partitioner as Partitioner
from ckptsim.scenarios.job.graph.graph import edges_of as edges_of
from ckptsim.scenarios.job.graph.graph import forward_group as forward_group
from ckptsim.scenarios.job.graph.graph import row_names as row_names
from ckptsim.scenarios.job.graph.graph import spelled_out as spelled_out
from ckptsim.scenarios.job.graph.kinds import RateChange as RateChange
from ckptsim.scenarios.job.graph.kinds import Recorded as Recorded
from ckptsim.scenarios.job.graph.kinds import StoppedBy as StoppedBy
from ckptsim.scenarios.job.graph.kinds import VertexKind as VertexKind
from ckptsim.scenarios.job.graph.vertex import Vertex as Vertex
