"""Jobs record by record: the protocols of barriers, recovery and the end of tasks, to be hunted."""

from ckptsim.sim.job.records.run import run
from ckptsim.sim.job.vocabulary import RECORDS as VOCABULARY
from ckptsim.sim.slots import ProtocolCores

CORES = ProtocolCores

__all__ = ["CORES", "VOCABULARY", "run"]
