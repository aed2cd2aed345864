"""Cores in programs of their own, spoken to in lines of JSON (docs/process-cores.md).

`codec` has the values, `doors` what each slot says and is asked, and `program` the running program.
`core` is the core that a world sees, and `serve` the other end for cores in Python.
"""

from ckptsim.sim.slots.process.core import PREFIX, ProcessCore, process_factory
from ckptsim.sim.slots.process.doors import DOORS, Door
from ckptsim.sim.slots.process.program import CoreFailedError, CoreSilentError
from ckptsim.sim.slots.process.serve import serve

__all__ = [
    "DOORS",
    "PREFIX",
    "CoreFailedError",
    "CoreSilentError",
    "Door",
    "ProcessCore",
    "process_factory",
    "serve",
]
