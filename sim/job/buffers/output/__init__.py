"""A task's outputs on buffers: record writers, their pools, and the subpartitions they fill."""

from ckptsim.sim.job.buffers.output.local_buffer_pool import LocalBufferPool as LocalBufferPool
from ckptsim.sim.job.buffers.output.outputs import Outputs as Outputs
from ckptsim.sim.job.buffers.output.record_sizes import RecordSizes as RecordSizes
from ckptsim.sim.job.buffers.output.record_writer import RecordWriter as RecordWriter
from ckptsim.sim.job.buffers.output.record_writer import Selectivity as Selectivity
from ckptsim.sim.job.buffers.output.routing import Channels as Channels
from ckptsim.sim.job.buffers.output.routing import RandomRoute as RandomRoute
from ckptsim.sim.job.buffers.output.routing import RoundRobinRoute as RoundRobinRoute
from ckptsim.sim.job.buffers.output.routing import Route as Route
from ckptsim.sim.job.buffers.output.routing import SingleRoute as SingleRoute
from ckptsim.sim.job.buffers.output.routing import kept_shares as kept_shares
from ckptsim.sim.job.buffers.output.segment import OWN_MEMORY as OWN_MEMORY
from ckptsim.sim.job.buffers.output.segment import Restored as Restored
from ckptsim.sim.job.buffers.output.segment import Segment as Segment
from ckptsim.sim.job.buffers.output.segment import Slice as Slice
from ckptsim.sim.job.buffers.output.subpartition import Element as Element
from ckptsim.sim.job.buffers.output.subpartition import Subpartition as Subpartition
