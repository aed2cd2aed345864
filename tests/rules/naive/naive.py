"""What naive rules have in common: facts in lists, asked on a copy and noted for good."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, Self

from ckptsim.sim.rules.answers import Answer, Pick, Refused


class Naive:
    """Rules as facts: `refusals` says why an event is refused, `take` notes it and answers."""

    def refusals(self, event: Any) -> list[str]:
        """Return why the event breaks a rule; the core may name any of these."""
        del event
        return []

    def take(self, event: Any) -> Sequence[Any]:
        """Note an event that breaks no rule, and return the effects that it has."""
        raise NotImplementedError

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield questions to the core: a name, what it says, and what it is to say."""
        del core
        return iter(())

    def stray(self, pick: Pick) -> Any:
        """Return an event that could come from a careless or unlucky host, or None."""
        del pick

    def answer(self, event: Any) -> Answer | None:
        """Note the event, unless it breaks a rule, and return what the core is to answer."""
        refusals = self.refusals(event)
        return Refused.by(*refusals) if refusals else tuple(self.take(event))

    def normal(self, answer: Answer) -> Answer:
        """Return an answer without what is not compared; by default all is."""
        return answer

    def copied(self) -> Self:
        """Return rules with the same facts, to which others can be added."""
        copied = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, list | dict | set):
                setattr(copied, name, copy.copy(value))
        return copied
