"""Indices of subtasks over a restart: the successor of each subtask.

The index of a subtask decides which key groups it owns, which subpartition of a sender it reads,
and what of a checkpoint is its own.  With indices that are KEPT all of these agree.  Where a
restart gives them out anew (PERMUTED), a subtask gets the state and the in-flight inputs of another
one. But the sent data to an index, and what senders had for it, comes to the subtask that has the
index now.  Where each piece of state CARRIES the identity of the subtask that it is of, matching
goes by that: records and in-flight data follow the identity, wherever it is.

Not promised: that identities help when the parallelism changes. There are none for new subtasks, so
positions are matched then.

Source: FLIP-76, retaining subtask indices between restarts (resolved: kept).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ckptsim.models.core import ProtocolError


class SubtaskIndices(Enum):
    """What a restart does with the indices of a vertex's subtasks."""

    KEPT = "kept"
    PERMUTED = "permuted"
    CARRIED = "carried"


@dataclass(frozen=True, slots=True)
class Succession:
    """The subtasks of one vertex after a restart, by index.

    takes: the old index that each takes over.  identities: as which each owns key groups.
    """

    takes: tuple[int, ...]
    identities: tuple[int, ...]

    def index_of(self, identity: int) -> int:
        """Return the index of the subtask with an identity."""
        return self.identities.index(identity)


def succession(rule: SubtaskIndices, identities: Sequence[int], order: Sequence[int]) -> Succession:
    """Return who follows whom at unchanged parallelism.

    identities: of the old subtasks, by index.  order: the old index that each new one would
    succeed, if indices were given out anew. Raises ProtocolError for an order that leaves a subtask
    out.
    """
    same = tuple(range(len(identities)))
    if sorted(order) != list(same):
        raise ProtocolError("no_permutation", state=f"{len(same)} subtasks", event=tuple(order))
    match rule:
        case SubtaskIndices.KEPT:
            return Succession(same, same)
        case SubtaskIndices.PERMUTED:
            return Succession(tuple(order), same)
        case SubtaskIndices.CARRIED:
            return Succession(tuple(order), tuple(identities[old] for old in order))
