"""The compiled driver of the buffer plane: data in tables, advanced by a compiled kernel."""

from ckptsim.sim.job.buffers.compiled.choice import compiled_driver as compiled_driver
from ckptsim.sim.job.buffers.compiled.driver import CompiledDriver as CompiledDriver
