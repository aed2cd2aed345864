"""How a sweep is cut into waves and chunks."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ckptsim.analysis.chunks import GROWTH_MAX, WAVE_S, Costs, in_order_of_replication, pack
from tests.analysis import synthetic

COSTS = st.lists(st.floats(0.001, 100), min_size=1, max_size=12)


def learnt(seconds: list[float]) -> Costs:
    costs = Costs()
    costs.learn(list(enumerate(seconds)))
    return costs


@given(COSTS, st.integers(1, 5), st.integers(1, 16))
def test_every_run_is_in_one_chunk(seconds: list[float], replications: int, chunks: int) -> None:
    """Packing loses and doubles nothing, and makes no chunk without work."""
    rows = synthetic.rows([synthetic.point()] * len(seconds), range(replications))
    packed = pack(rows, learnt(seconds), chunks=chunks)
    assert sorted((row.point, row.seed) for chunk in packed for row in chunk) == [
        (row.point, row.seed) for row in rows
    ]
    assert all(packed)
    assert len(packed) == min(chunks, len(rows))


@given(COSTS, st.integers(1, 5), st.integers(1, 16))
def test_chunks_are_even_and_the_longest_comes_first(
    seconds: list[float], replications: int, chunks: int
) -> None:
    """No chunk exceeds the least loaded one by more than its own shortest run."""
    rows = synthetic.rows([synthetic.point()] * len(seconds), range(replications))
    packed = pack(rows, learnt(seconds), chunks=chunks)
    loads = [sum(seconds[row.point] for row in chunk) for chunk in packed]
    assert all(a >= b - 1e-9 for a, b in pairwise(loads))
    for chunk, load in zip(packed, loads, strict=True):
        shortest = min(seconds[row.point] for row in chunk)
        assert load - shortest <= min(loads) + 1e-9


def test_first_replications_come_first() -> None:
    """All points are seen early: the first seed of each, then the second of each."""
    rows = synthetic.rows([synthetic.point()] * 3, [7, 8])
    order = [(row.point, row.seed) for row in in_order_of_replication(rows)]
    assert order == [(0, 7), (1, 7), (2, 7), (0, 8), (1, 8), (2, 8)]


def test_waves_grow_to_their_length() -> None:
    """Waves last about as long as they should, and grow by steps until they do."""
    assert Costs().wave_size(chunks=8, cores=2, last=0) == 32
    quick = learnt([0.001])
    assert quick.wave_size(chunks=8, cores=2, last=32) == GROWTH_MAX * 32
    assert quick.wave_size(chunks=8, cores=2, last=10**6) == int(WAVE_S * 2 / 0.001)
    assert learnt([60.0]).wave_size(chunks=8, cores=2, last=32) == 8


def test_an_unknown_point_costs_the_mean() -> None:
    """Without a measurement of its own a point is expected to cost what the others do."""
    costs = learnt([1.0, 3.0])
    assert costs.of(1) == 3.0
    assert costs.of(99) == 2.0
    assert Costs().of(0) == 1.0
