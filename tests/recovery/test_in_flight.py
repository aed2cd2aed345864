"""In-flight data after a change of parallelism: which new channel gets what, in which order."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from ckptsim.models.core import ProtocolError
from ckptsim.models.recovery import DISTRIBUTIONS, Distribution, Mapper, Partitioner
from ckptsim.models.recovery.in_flight import (
    ConnectionDescriptor,
    Exchange,
    InFlightAssignment,
    recovered_data,
)

VECTORS = Path(__file__).parents[1] / "data" / "vectors" / "rescale.jsonl"
ASSIGNMENT = InFlightAssignment()


def exchange(partitioner: Partitioner, old: tuple[int, int], new: tuple[int, int]) -> Exchange:
    """Return an edge with data in flight, before and after."""
    return Exchange(distribution=DISTRIBUTIONS[partitioner], old=old, new=new)


def test_recorded_mappers_decide_what_a_gate_takes() -> None:
    """The assignment of a gate is what Flink's mappers were recorded to give, for all of them."""
    rows = [json.loads(line) for line in VECTORS.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["kind"] == "old_subtasks"]
    assert len(rows) == 165
    for row in rows:
        over = Distribution(upstream=Mapper.ARBITRARY, downstream=Mapper(row["mapper"]))
        one = Exchange(distribution=over, old=(1, row["old"]), new=(1, row["new"]))
        gates = [ASSIGNMENT.gate(one, subtask) for subtask in range(row["new"])]
        assert [list(gate.old_subtasks) for gate in gates] == row["old_of_new"], row
        assert sorted({one for gate in gates for one in gate.ambiguous}) == row["ambiguous_old"]
        assert {gate.identity for gate in gates} == {row["identity"]}


@pytest.mark.parametrize("partitioner", [Partitioner.REBALANCE, Partitioner.GLOBAL])
def test_each_piece_goes_to_one_new_channel(partitioner: Partitioner) -> None:
    """Without an ambiguous mapper every old pair's data is in one new channel, for all 1..4."""
    for old_up, old_down, new_up, new_down in product(range(1, 5), repeat=4):
        one = exchange(partitioner, (old_up, old_down), (new_up, new_down))
        held = {(u, d): (f"{u}-{d}",) for u in range(old_up) for d in range(old_down)}
        found = Counter(
            piece
            for down in range(new_down)
            for up in range(new_up)
            for piece in recovered_data(ASSIGNMENT.gate(one, down), up, held)
            if isinstance(piece, str)
        )
        assert found == Counter(piece for (piece,) in held.values())


def test_keyed_data_goes_to_every_subtask_that_may_own_it() -> None:
    """From two to three keyed subtasks, the middle one takes both old ones over, filtered."""
    gates = [
        ASSIGNMENT.gate(exchange(Partitioner.KEY_GROUP, (1, 2), (1, 3)), subtask)
        for subtask in range(3)
    ]
    assert [gate.old_subtasks for gate in gates] == [(0,), (0, 1), (1,)]
    assert [gate.ambiguous for gate in gates] == [(0,), (0, 1), (1,)]


def test_data_of_each_old_pair_stands_behind_its_descriptor() -> None:
    """From two to one on both sides, one channel has all four pairs, each named in front."""
    gate = ASSIGNMENT.gate(exchange(Partitioner.REBALANCE, (2, 2), (1, 1)), 0)
    held = {(0, 0): "ab", (1, 0): "", (0, 1): "c", (1, 1): "d"}
    assert list(recovered_data(gate, 0, held)) == [
        ConnectionDescriptor(0, 0),
        "a",
        "b",
        ConnectionDescriptor(1, 0),
        "c",
        ConnectionDescriptor(1, 1),
        "d",
    ]


def test_scale_out_of_a_rebalanced_edge_needs_no_descriptor() -> None:
    """Where every old channel stays where it was, its data comes back bare."""
    gate = ASSIGNMENT.gate(exchange(Partitioner.REBALANCE, (2, 2), (2, 3)), 1)
    assert list(recovered_data(gate, 0, {(0, 1): "ab"})) == ["a", "b"]


def test_a_mapper_is_not_asked_without_data() -> None:
    """A pointwise edge without data in flight takes nothing over. With data it is refused."""
    edge = DISTRIBUTIONS[Partitioner.FORWARD]
    without = Exchange(distribution=edge, old=(2, 2), new=(3, 3), in_flight=False)
    gate = ASSIGNMENT.gate(without, 2)
    assert (gate.identity, gate.virtual_channels(0)) == (True, ())
    with pytest.raises(ProtocolError, match="unsupported_rescale"):
        ASSIGNMENT.gate(exchange(Partitioner.FORWARD, (2, 2), (3, 3)), 0)


def test_each_gate_has_mappers_of_its_own() -> None:
    """A vertex with a keyed and a rebalanced input takes them over differently."""
    edges = [
        exchange(Partitioner.KEY_GROUP, (1, 3), (1, 2)),
        exchange(Partitioner.REBALANCE, (1, 3), (1, 2)),
    ]
    gates = ASSIGNMENT.gates(edges, subtask=0, stateful=False)
    assert [gate.old_subtasks for gate in gates] == [(0, 1), (0, 2)]
