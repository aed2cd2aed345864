"""The cause of what a run did: the critical path through a checkpoint or a recovery."""

from ckptsim.sim.why.answer import Cause as Cause
from ckptsim.sim.why.answer import Remedy as Remedy
from ckptsim.sim.why.answer import Step as Step
from ckptsim.sim.why.answer import Why as Why
from ckptsim.sim.why.observed import is_traced_at_ease as is_traced_at_ease
from ckptsim.sim.why.why import SLOWEST as SLOWEST
from ckptsim.sim.why.why import cause_lines as cause_lines
from ckptsim.sim.why.why import why as why
from ckptsim.sim.why.why import why_of as why_of
