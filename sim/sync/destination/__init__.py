"""The destination of one attempt of a sync: readers, uploads, memory and the sender of states."""

from ckptsim.sim.sync.destination.destination import Destination as Destination
from ckptsim.sim.sync.destination.uploads import Intake as Intake
from ckptsim.sim.sync.destination.uploads import Storage as Storage
