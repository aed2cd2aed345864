"""Slots: the places of a world that a core can take, ours, one of the user's, or a mutant.

`ProtocolCores` has one factory per slot and ours as defaults. Worlds are handed one and make their
cores by it.  `SLOTS` says of each slot what it is for and what its factory must give.  Which core
comes to which slot is decided in `resolve`, before a world begins. No world imports that or the
mutants.
"""

from ckptsim.sim.slots.cores import OURS as OURS
from ckptsim.sim.slots.cores import Factory as Factory
from ckptsim.sim.slots.cores import ProtocolCores as ProtocolCores
from ckptsim.sim.slots.table import SLOTS as SLOTS
from ckptsim.sim.slots.table import slots_of as slots_of
