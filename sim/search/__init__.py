"""Run one scenario under many seeds and tie orders, and shrink what breaks it."""

from ckptsim.sim.search.check import CheckReport as CheckReport
from ckptsim.sim.search.check import CheckStopped as CheckStopped
from ckptsim.sim.search.check import check as check
from ckptsim.sim.search.hunt import Find as Find
from ckptsim.sim.search.hunt import HuntStopped as HuntStopped
from ckptsim.sim.search.hunt import hunt as hunt
from ckptsim.sim.search.shrink import shrink as shrink
from ckptsim.sim.search.trial import Subject as Subject
