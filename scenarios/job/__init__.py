"""Jobs of a stream processor: one dialect for every link that has a job, and for both planes."""

from ckptsim.scenarios.job.channel_state import (
    OrderedEdges,
    Persistence,
    Recovered,
    ReplayFrom,
    Rescaling,
    SubtaskIndices,
)
from ckptsim.scenarios.job.checkpointing import Checkpointing, CheckpointProtocol, Mode
from ckptsim.scenarios.job.costs import Costs, Machine, Profile, Storage
from ckptsim.scenarios.job.ending import Protocol, StopKind
from ckptsim.scenarios.job.graph import (
    Edge,
    Input,
    Partitioner,
    RateChange,
    Recorded,
    StoppedBy,
    Vertex,
    VertexKind,
)
from ckptsim.scenarios.job.graph.planes import Engine, Plane, Skip
from ckptsim.scenarios.job.graph.state import Backend, ClaimMode, SavepointFormat, StateTable
from ckptsim.scenarios.job.job import Job, PlacementKind
from ckptsim.scenarios.job.network import BufferSizes, Channels, Network
from ckptsim.scenarios.job.recovery import FailoverKind, Recovery
from ckptsim.scenarios.job.restart import ExponentialDelay, FixedDelay, NoRestart, RestartStrategy

__all__ = [
    "Backend",
    "BufferSizes",
    "Channels",
    "CheckpointProtocol",
    "Checkpointing",
    "ClaimMode",
    "Costs",
    "Edge",
    "Engine",
    "ExponentialDelay",
    "FailoverKind",
    "FixedDelay",
    "Input",
    "Job",
    "Machine",
    "Mode",
    "Network",
    "NoRestart",
    "OrderedEdges",
    "Partitioner",
    "Persistence",
    "PlacementKind",
    "Plane",
    "Profile",
    "Protocol",
    "RateChange",
    "Recorded",
    "Recovered",
    "Recovery",
    "ReplayFrom",
    "Rescaling",
    "RestartStrategy",
    "SavepointFormat",
    "Skip",
    "StateTable",
    "StopKind",
    "StoppedBy",
    "Storage",
    "SubtaskIndices",
    "Vertex",
    "VertexKind",
]
