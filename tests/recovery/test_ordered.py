"""In-flight data of edges that keep an order, and which exchanges may be rescaled at all."""

from __future__ import annotations

import pytest

from ckptsim.models.recovery import DISTRIBUTIONS, Exchange, Mapper, Partitioner, mapping_of
from ckptsim.models.recovery.persistence import (
    FORCIBLE,
    OrderedEdges,
    RescalingScope,
    distribution_of,
    may_rescale,
)


@pytest.mark.parametrize("partitioner", Partitioner)
@pytest.mark.parametrize("rule", OrderedEdges)
def test_other_edges_are_what_they_were(partitioner: Partitioner, rule: OrderedEdges) -> None:
    """Only pointwise and broadcast edges mean something else, and not while they are aligned."""
    found = distribution_of(partitioner, rule, has_units=True, moves=True)
    same = rule is OrderedEdges.ALIGNED or partitioner not in FORCIBLE
    assert (found == DISTRIBUTIONS[partitioner]) is same


def test_forced_edges_are_dealt_out() -> None:
    """Each old subtask goes to one new one, as on a rebalanced edge, whatever it had."""
    for partitioner in FORCIBLE:
        found = distribution_of(partitioner, OrderedEdges.FORCED, has_units=True, moves=True)
        assert found == DISTRIBUTIONS[Partitioner.REBALANCE]


def test_units_go_with_their_owner() -> None:
    """All new subtasks read all old channels of a forwarded edge that has units, and filter."""
    rule = OrderedEdges.REASSIGNED
    found = distribution_of(Partitioner.FORWARD, rule, has_units=True, moves=True)
    assert (found.upstream, found.downstream) == (Mapper.FULL, Mapper.FULL)
    for units, moves in ((False, True), (True, False)):  # whole subtasks, or nothing to be done
        other = distribution_of(Partitioner.FORWARD, rule, has_units=units, moves=moves)
        assert other == DISTRIBUTIONS[Partitioner.REBALANCE]


def test_copies_go_with_the_state_that_they_are_for() -> None:
    """A new subtask takes one old one's copies: that of which broadcast state is read."""
    found = distribution_of(
        Partitioner.BROADCAST, OrderedEdges.REASSIGNED, has_units=False, moves=True
    )
    assert found.downstream is not None
    assert mapping_of(found.downstream, old=2, new=5) == ((0,), (1,), (0,), (1,), (0,))
    assert mapping_of(found.downstream, old=3, new=2) == ((0,), (1,))


def exchange(partitioner: Partitioner, new: int, *, in_flight: bool = True) -> Exchange:
    """Return an exchange of two senders and two receivers whose receivers are rescaled."""
    distribution = DISTRIBUTIONS[partitioner]
    return Exchange(distribution=distribution, old=(2, 2), new=(2, new), in_flight=in_flight)


KEYED, OTHER = exchange(Partitioner.KEY_GROUP, 3), exchange(Partitioner.REBALANCE, 3)
STAYS = exchange(Partitioner.REBALANCE, 2)
EMPTY = exchange(Partitioner.REBALANCE, 3, in_flight=False)


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [
        (RescalingScope.REFUSED, [True, True, False, False]),
        (RescalingScope.KEYED, [True, True, True, False]),
        (RescalingScope.ALLOWED, [True, True, True, True]),
    ],
)
def test_what_may_be_rescaled(scope: RescalingScope, allowed: list[bool]) -> None:
    """What is not touched or holds nothing is free; the rest is as the scope says."""
    cases = [[STAYS], [EMPTY], [KEYED, STAYS, EMPTY], [KEYED, OTHER]]
    assert [may_rescale(scope, case) for case in cases] == allowed
