"""The compiled driver of the buffer plane: data in tables, advanced by a compiled kernel."""

from ckptsim.sim.job.buffers.compiled.choice import compiled_driver, is_covered
from ckptsim.sim.job.buffers.compiled.driver import CompiledDriver

__all__ = ["CompiledDriver", "compiled_driver", "is_covered"]
