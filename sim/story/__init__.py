"""Stories: what a trace says about one checkpoint, in sentences, and as pictures."""

from ckptsim.sim.story.story import Target as Target
from ckptsim.sim.story.story import concerning as concerning
from ckptsim.sim.story.story import instant as instant
from ckptsim.sim.story.story import instant_us as instant_us
from ckptsim.sim.story.story import shortened as shortened
from ckptsim.sim.story.story import tell as tell
from ckptsim.sim.story.story import tells_of as tells_of
from ckptsim.sim.story.story import time_of as time_of
from ckptsim.sim.story.telling import Telling as Telling
from ckptsim.sim.story.telling import Vocabulary as Vocabulary
from ckptsim.sim.story.telling import span_keys as span_keys
