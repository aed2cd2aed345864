"""Cores in programs of their own, spoken to in lines of JSON (docs/process-cores.md).

`codec` has the values and what each slot says and is asked. `program` has the running program and
the core that a world sees, and `serve` the other end for cores in Python.
"""

from ckptsim.sim.slots.process.program import PREFIX as PREFIX
from ckptsim.sim.slots.process.program import CoreFailedError as CoreFailedError
from ckptsim.sim.slots.process.program import CoreSilentError as CoreSilentError
from ckptsim.sim.slots.process.program import ProcessCore as ProcessCore
from ckptsim.sim.slots.process.program import process_factory as process_factory
from ckptsim.sim.slots.process.serve import serve as serve
