"""The oracle of jobs on buffers: properties of jobs, and the ones of pools, credits and bytes.

`BufferObserver` notes nothing, for worlds without an oracle. `BufferOracle` follows every buffer
and every checkpoint.
"""

import ckptsim.sim.job.buffers  # noqa: F401 - first: the plane and its observers know each other
from ckptsim.sim.job.oracle.buffers.observed import BufferObserver as BufferObserver
from ckptsim.sim.job.oracle.buffers.oracle import BufferOracle as BufferOracle
from ckptsim.sim.job.oracle.buffers.oracle import journaled as journaled
