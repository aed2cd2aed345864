"""Stories: what a trace says about one checkpoint, in sentences, and as pictures."""

from ckptsim.sim.story.story import (
    Target,
    concerning,
    instant,
    instant_us,
    shortened,
    tell,
    tells_of,
    time_of,
)
from ckptsim.sim.story.telling import Telling, Vocabulary, span_keys

__all__ = [
    "Target",
    "Telling",
    "Vocabulary",
    "concerning",
    "instant",
    "instant_us",
    "shortened",
    "span_keys",
    "tell",
    "tells_of",
    "time_of",
]
