"""A task's outputs on buffers: record writers, their pools, and the subpartitions they fill."""

from ckptsim.sim.job.buffers.output.local_buffer_pool import LocalBufferPool
from ckptsim.sim.job.buffers.output.outputs import Outputs
from ckptsim.sim.job.buffers.output.record_sizes import RecordSizes
from ckptsim.sim.job.buffers.output.record_writer import RecordWriter, Selectivity
from ckptsim.sim.job.buffers.output.routing import (
    Channels,
    RandomRoute,
    RoundRobinRoute,
    Route,
    SingleRoute,
    kept_shares,
)
from ckptsim.sim.job.buffers.output.segment import OWN_MEMORY, Restored, Segment, Slice
from ckptsim.sim.job.buffers.output.subpartition import Element, Subpartition

__all__ = [
    "OWN_MEMORY",
    "Channels",
    "Element",
    "LocalBufferPool",
    "Outputs",
    "RandomRoute",
    "RecordSizes",
    "RecordWriter",
    "Restored",
    "RoundRobinRoute",
    "Route",
    "Segment",
    "Selectivity",
    "SingleRoute",
    "Slice",
    "Subpartition",
    "kept_shares",
]
