"""Cores in programs of their own, spoken to in lines of JSON (docs/process-cores.md).

`codec` has the values, `doors` what each slot says and is asked, `program` the running program,
`core` the stand-in that a world takes for a core, `serve` the other end for cores in Python.
"""

from ckptsim.sim.slots.process.core import PREFIX, ProcessCore, process_factory
from ckptsim.sim.slots.process.program import CoreFailedError, CoreSilentError
from ckptsim.sim.slots.process.serve import serve

__all__ = [
    "PREFIX",
    "CoreFailedError",
    "CoreSilentError",
    "ProcessCore",
    "process_factory",
    "serve",
]
