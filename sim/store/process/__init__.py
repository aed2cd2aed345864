"""The process around the client of a store: threads that drain, sync and die together."""

from ckptsim.sim.store.process.drainer import Drainer
from ckptsim.sim.store.process.owners import Owners
from ckptsim.sim.store.process.process import ProcessHost
from ckptsim.sim.store.process.release import Releases
from ckptsim.sim.store.process.threads import Steps, Threads

__all__ = [
    "Drainer",
    "Owners",
    "ProcessHost",
    "Releases",
    "Steps",
    "Threads",
]
