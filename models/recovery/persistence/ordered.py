"""In-flight data of edges that keep an order, forwarded and broadcast ones, and of rescale edges.

    ALIGNED     barriers do not overtake there, so there is none: as shipped
    FORCED      they do; at a rescale it is dealt out like that of a rebalanced edge
    REASSIGNED  they do; at a rescale it goes with the unit that owns it

A unit of ownership is a key group: after a keyed exchange a forwarded edge carries the key groups
of its sender, so in-flight data there belongs where its key group goes.  All old channels are then
read by all new subtasks, and each keeps what it owns: the order within a unit is kept, as later
data goes the same way.  Where no keyed exchange is above, whole old subtasks are the units.  A copy
of a broadcast belongs to the state of the subtask that it was for, so a new subtask takes the
copies with the state.  A rescale edge deals records out one by one, so in-flight data is dealt out
under either rule. But a sender there has some of the receivers alone, so what a receiver takes is
shared out among the senders that it has now.

Not promised by FORCED: any order after a rescale, nor, for a broadcast, that copies agree.

Source: FLIP-76, non-keyed, forwarded operators. `execution.checkpointing.unaligned.forced`.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from ckptsim.models.recovery.in_flight import Exchange
from ckptsim.models.recovery.mapping import DISTRIBUTIONS, Distribution, Mapper, Partitioner

FORCIBLE = (Partitioner.FORWARD, Partitioner.BROADCAST, Partitioner.RESCALE)
"""Edges that barriers overtake on only where they are forced to."""

_DEALT_OUT = DISTRIBUTIONS[Partitioner.REBALANCE]
_BY_UNIT = Distribution(upstream=Mapper.FULL, downstream=Mapper.FULL)
_WITH_STATE = Distribution(upstream=Mapper.ARBITRARY, downstream=Mapper.COPY)


class OrderedEdges(Enum):
    """What becomes of in-flight data on edges that keep an order."""

    ALIGNED = "aligned"
    FORCED = "forced"
    REASSIGNED = "reassigned"


class RescalingScope(Enum):
    """Which exchanges may be rescaled from a checkpoint that holds in-flight data of them."""

    REFUSED = "refused"
    KEYED = "keyed"
    ALLOWED = "allowed"


def distribution_of(
    partitioner: Partitioner, rule: OrderedEdges, *, has_units: bool, moves: bool
) -> Distribution:
    """Return what a partitioner means for in-flight data under a rule.

    has_units: a keyed exchange above says who owns what.  moves: the parallelism changes.
    """
    if rule is OrderedEdges.ALIGNED or partitioner not in FORCIBLE:
        return DISTRIBUTIONS[partitioner]
    if rule is OrderedEdges.REASSIGNED and moves:
        if partitioner is Partitioner.BROADCAST:
            return _WITH_STATE
        if has_units and partitioner is Partitioner.FORWARD:
            return _BY_UNIT
    return _DEALT_OUT


def may_rescale(scope: RescalingScope, exchanges: Sequence[Exchange]) -> bool:
    """Return whether a job may be restored at another parallelism. An exchange per edge.

    Edges without in-flight data, and edges with both ends unchanged, are free.
    """
    moved = [one for one in exchanges if one.in_flight and one.old != one.new]
    match scope:
        case RescalingScope.ALLOWED:
            return True
        case RescalingScope.KEYED:
            return all(one.distribution.downstream is Mapper.RANGE for one in moved)
        case RescalingScope.REFUSED:
            return not moved
