"""Stories: what a trace says about one checkpoint, in sentences, and who tells them."""

from sim.story.telling import Telling, Vocabulary

__all__ = ["Telling", "Vocabulary"]
