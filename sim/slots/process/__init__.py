"""Cores in programs of their own, spoken to in lines of JSON (docs/process-cores.md).

`codec` has the values, `doors` what each slot says and is asked, and `program` the running program.
`core` is the core that a world sees, and `serve` the other end for cores in Python.
"""

from ckptsim.sim.slots.process.core import PREFIX as PREFIX
from ckptsim.sim.slots.process.core import ProcessCore as ProcessCore
from ckptsim.sim.slots.process.core import process_factory as process_factory
from ckptsim.sim.slots.process.program import CoreFailedError as CoreFailedError
from ckptsim.sim.slots.process.program import CoreSilentError as CoreSilentError
from ckptsim.sim.slots.process.serve import serve as serve
