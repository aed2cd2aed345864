"""The oracle of jobs on buffers: properties of jobs, and those of pools, credits and bytes.

`BufferObserver` takes note of nothing, for worlds of which nobody asks; `BufferOracle` follows
every buffer and every checkpoint.
"""

import ckptsim.sim.job.buffers  # noqa: F401 - first: the plane and its observers know each other
from ckptsim.sim.job.oracle.buffers.observer import BufferObserver as BufferObserver
from ckptsim.sim.job.oracle.buffers.oracle import BufferOracle as BufferOracle
from ckptsim.sim.job.oracle.buffers.oracle import journaled as journaled
