"""The lists of choices that reached something new, and how they are changed into others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ckptsim.sim.kernel import Stream

# Of the runs of an exploration with a corpus, how many draw everything anew; an assumption.
_ANEW = 0.8
# Of the changed lists, how many get another seed: what depends on the seed alone, such as the walks
# of cores, would be the same again; an assumption.
_RESEEDED = 0.5


@dataclass(slots=True)
class Corpus:
    """Lists of choices in the order in which they were found."""

    entries: list[tuple[int, ...]] = field(default_factory=list)

    def next(self, stream: Stream) -> tuple[int, ...]:
        """Return the beginning of a list; what it lacks is drawn, so an empty one is all new."""
        if not self.entries or stream.chance(_ANEW):
            return ()
        # Later entries reached what earlier ones did not: each half is twice as likely as the last.
        behind = min(stream.integer(0, len(self.entries) - 1) for _ in range(2))
        chosen = self.entries[len(self.entries) - 1 - behind]
        return _changed(chosen, self.entries, stream)


def _changed(
    chosen: tuple[int, ...], others: Sequence[tuple[int, ...]], stream: Stream
) -> tuple[int, ...]:
    """Return the list with one to four changes of any kind."""
    found = list(chosen)
    for _ in range(stream.integer(1, 4)):
        if not found:
            break
        at = stream.integer(0, len(found) - 1)
        kind = stream.integer(0, 6)
        if kind == 0:
            found[at] = stream.integer(0, 1 << 20)
        elif kind == 1:
            found[at] = max(0, found[at] + stream.choice((-1, 1)))
        elif kind == 2:
            found[at] = stream.integer(0, 3)
        elif kind == 3:
            del found[at : at + stream.integer(1, 4)]
        elif kind == 4:
            found[at:at] = [stream.integer(0, 9) for _ in range(stream.integer(1, 3))]
        elif kind == 5:  # another seed and another order of ties of the same scenario
            found[:2] = [stream.integer(0, 1 << 20) for _ in range(2)]
        else:  # the beginning of this one, the end of another
            found[at:] = stream.choice(others)[at:]
    if len(found) > 1 and stream.chance(_RESEEDED):
        found[1] = stream.integer(0, 1 << 20)
    return tuple(found)
