"""Which subtask gets which operator state after a restore: list state and broadcast state.

List state is a list of elements per subtask. Each element falls to one subtask.  Broadcast state is
the same in every subtask. Where some had finished and so hold none, it is taken from those that had
not.  Union list state, which every subtask gets whole, allows no such gap: a checkpoint with a
vertex that uses it and has finished in part is aborted (`finalize` in `models/coordinator/plan`),
and that is so of union state alone.

Source: Apache Flink 1.20.3, RoundRobinOperatorStateRepartitioner (modes SPLIT_DISTRIBUTE and
BROADCAST), DefaultCheckpointPlan.hasUsedUnionListState.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Element = TypeVar("Element")


def split(elements: Sequence[Sequence[Element]], parallelism: int) -> list[tuple[Element, ...]]:
    """Return the elements of list state that each new subtask gets.

    elements: the ones of each old subtask, none for one that had finished.  As many subtasks as
    before keep their own.  Otherwise the elements of all are dealt out in order, in blocks as even
    as can be, the first subtasks getting one more: a subtask may get several, or none.
    """
    if parallelism == len(elements):
        return [tuple(own) for own in elements]
    everything = [element for own in elements for element in own]
    base, more = divmod(len(everything), parallelism)
    found, first = [], 0
    for subtask in range(parallelism):
        after = first + base + (subtask < more)
        found.append(tuple(everything[first:after]))
        first = after
    return found


def broadcast(states: Sequence[Element | None], parallelism: int) -> list[tuple[Element, ...]]:
    """Return the broadcast states that each new subtask reads, one over the other.

    states: the one of each old subtask, None for one that had finished.  As many subtasks as before
    keep their own, and if some have none, each reads in turn one of those that are there as well:
    subtask i the one of number i modulo their number.  Another parallelism reads these alone.
    """
    there = [state for state in states if state is not None]
    same = parallelism == len(states)
    found: list[tuple[Element, ...]] = []
    for subtask in range(parallelism):
        own = states[subtask] if same else None
        read = [] if own is None else [own]
        if there and not (same and len(there) == len(states)):
            read.append(there[subtask % len(there)])
        found.append(tuple(read))
    return found
