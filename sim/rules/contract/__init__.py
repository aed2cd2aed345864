"""What the effects of a user's core owe by their documented meaning."""

from ckptsim.sim.rules.contract.watch import Contracts as Contracts
