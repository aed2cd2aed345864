"""The destination of one attempt of a sync: readers, uploads, memory and the sender of states."""

from ckptsim.sim.sync.destination.destination import Destination
from ckptsim.sim.sync.destination.uploads import Intake, Storage

__all__ = [
    "Destination",
    "Intake",
    "Storage",
]
