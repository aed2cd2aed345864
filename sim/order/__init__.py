"""The ordering core as a destination for real messages: batches, uploads, states in order."""

from ckptsim.sim.order.batches import BatchRules as BatchRules
from ckptsim.sim.order.destination import Destination as Destination
from ckptsim.sim.order.destination import Summary as Summary
