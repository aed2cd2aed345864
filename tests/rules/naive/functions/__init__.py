"""Naive second versions of functions of cores, by name: the core's, ours, what they are asked."""

from tests.rules.naive.functions import barriers, in_flight, parameters, plans, recovery
from tests.rules.naive.functions.debloater import DebloaterCore, DebloaterRules, drawn_debloating
from tests.rules.naive.recovery import persistence

_ALL = (recovery, in_flight, barriers, plans, persistence, parameters)

CORES = {name: function for one in _ALL for name, function in one.CORES.items()}
NAIVE = {name: function for one in _ALL for name, function in one.NAIVE.items()}
DRAWS = {name: draw for one in _ALL for name, draw in one.DRAWS.items()}

__all__ = ["CORES", "DRAWS", "NAIVE", "DebloaterCore", "DebloaterRules", "drawn_debloating"]
