"""Jobs record by record: the protocols of barriers, recovery and the end of tasks, to be hunted."""

from ckptsim.sim.jobs.run import run
from ckptsim.sim.jobs.vocabulary import VOCABULARY

__all__ = ["VOCABULARY", "run"]
