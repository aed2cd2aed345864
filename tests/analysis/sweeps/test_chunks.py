"""How a sweep is cut into waves and chunks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ckptsim.analysis.sweeps.chunks import (
    GROWTH_MAX,
    WAVE_S,
    Costs,
    in_order_of_replication,
    pack,
    shares,
)
from tests.analysis.sweeps import synthetic

COSTS = st.lists(st.floats(0.001, 100), min_size=1, max_size=12)


def learnt(seconds: list[float]) -> Costs:
    costs = Costs()
    costs.learn(list(enumerate(seconds)))
    return costs


@given(COSTS, st.integers(1, 5), st.integers(1, 16), st.integers(1, 4))
def test_every_run_is_in_one_chunk(
    seconds: list[float], replications: int, chunks: int, cores: int
) -> None:
    """Packing loses and doubles nothing, and makes no chunk without work."""
    rows = synthetic.rows([synthetic.point()] * len(seconds), range(replications))
    packed = pack(rows, learnt(seconds), chunks=chunks, cores=cores)
    assert sorted((row.point, row.seed) for chunk in packed for row in chunk) == [
        (row.point, row.seed) for row in rows
    ]
    assert all(packed)
    assert len(packed) <= chunks


@given(COSTS, st.integers(1, 5), st.integers(1, 16), st.integers(1, 4))
def test_no_chunk_exceeds_its_share_by_more_than_a_run(
    seconds: list[float], replications: int, chunks: int, cores: int
) -> None:
    """A chunk without its shortest run has at most the part of the work that it should have."""
    rows = synthetic.rows([synthetic.point()] * len(seconds), range(replications))
    packed = pack(rows, learnt(seconds), chunks=chunks, cores=cores)
    total = sum(seconds) * replications
    wanted = sorted(shares(min(chunks, len(rows)), cores=cores), reverse=True)
    over = sorted(
        (
            sum(seconds[row.point] for row in chunk) - min(seconds[row.point] for row in chunk)
            for chunk in packed
        ),
        reverse=True,
    )
    for most, share in zip(over, wanted, strict=False):
        assert most <= share * total + 1e-9


def test_the_first_chunks_are_large_and_the_last_fill_the_cores() -> None:
    """Each round of chunks has half of the rest. A single round is even."""
    eighth, sixteenth = 1 / 8, 1 / 16
    assert shares(8, cores=2) == [0.25, 0.25, eighth, eighth, *[sixteenth] * 4]
    assert shares(2, cores=4) == [0.5, 0.5]
    assert shares(1, cores=1) == [1.0]
    rows = synthetic.rows([synthetic.point()] * 10, range(20))
    packed = pack(rows, Costs(), chunks=8, cores=2)
    assert [len(chunk) for chunk in packed] == [50, 50, 25, 25, 13, 13, 12, 12]


def test_first_replications_come_first() -> None:
    """All points are seen early: the first seed of each, then the second of each."""
    rows = synthetic.rows([synthetic.point()] * 3, [7, 8])
    order = [(row.point, row.seed) for row in in_order_of_replication(rows)]
    assert order == [(0, 7), (1, 7), (2, 7), (0, 8), (1, 8), (2, 8)]


def test_waves_grow_to_their_length() -> None:
    """Waves last about as long as they should, and grow by steps until they do."""
    assert Costs().wave_size(chunks=8, cores=2, last=0) == 256
    quick = learnt([0.001])
    assert quick.wave_size(chunks=8, cores=2, last=256) == GROWTH_MAX * 256
    assert quick.wave_size(chunks=8, cores=2, last=10**6) == int(WAVE_S * 2 / 0.001)
    assert learnt([60.0]).wave_size(chunks=8, cores=2, last=256) == 8


def test_an_unknown_point_costs_the_mean() -> None:
    """Without a measurement of its own a point is expected to cost what the others do."""
    costs = learnt([1.0, 3.0])
    assert costs.of(1) == 3.0
    assert costs.of(99) == 2.0
    assert Costs().of(0) == 1.0
