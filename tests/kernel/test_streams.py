"""Streams: addressed by name, the same everywhere, and of the distributions that they claim."""

from __future__ import annotations

import math
from statistics import fmean, median, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import PCG64, SeedSequence

from ckptsim.sim.kernel import Streams
from ckptsim.sim.kernel import streams as module

COUNT = 20_000


def test_the_first_words_are_pinned():
    """A stream's words are what PCG64 gives for the hash of its name: the same on any version."""
    entropy = module._entropy(7, "socket", 1)
    stream = Streams(7).stream("socket", 1)
    raw = PCG64(SeedSequence(entropy)).random_raw(300).tolist()
    assert [stream.bits() for _ in range(300)] == raw
    assert raw[:2] == [5263636157365904518, 16456830688535763806]


def test_blocks_do_not_show(monkeypatch):
    """How many words are fetched at a time changes nothing in any distribution."""

    def draws() -> list[object]:
        stream = Streams(3).stream("x")
        return [
            draw
            for _ in range(40)
            for draw in (
                stream.uniform(),
                stream.integer(1, 6),
                stream.exponential_ns(1e6),
                stream.normal(0, 1),
                stream.shuffled("abc"),
            )
        ]

    whole = draws()
    monkeypatch.setattr(module, "_BLOCK", 1)
    assert draws() == whole


def test_a_draw_elsewhere_shifts_nothing():
    """Streams of other names, and their draws, leave a stream as it is."""
    alone = [Streams(1).stream("a", 0).bits()]
    streams = Streams(1)
    streams.stream("a", 1).bits()
    streams.stream("b").bits()
    assert [streams.stream("a", 0).bits()] == alone
    assert streams.stream("a", 0) is streams.stream("a")


def test_names_and_seeds_give_different_streams():
    """Seed, component and index each matter, seed 0 included."""
    firsts = [
        Streams(seed).stream(component, index).bits()
        for seed in (0, 1, -1, 2**70)
        for component in ("a", "b", "a\0001")
        for index in (0, 1, 11)
    ]
    assert len(set(firsts)) == len(firsts)


def test_uniform_is_uniform():
    """Mean, deviation and every tenth are as they should be, within five standard errors."""
    stream = Streams(11).stream("uniform")
    drawn = [stream.uniform() for _ in range(COUNT)]
    assert all(0.0 <= x < 1.0 for x in drawn)
    assert abs(fmean(drawn) - 0.5) < 5 * math.sqrt(1 / 12 / COUNT)
    for tenth in range(10):
        share = sum(tenth <= x * 10 < tenth + 1 for x in drawn)
        assert abs(share - COUNT / 10) < 5 * math.sqrt(COUNT * 0.09)


@given(st.integers(-(2**63), 2**63), st.integers(0, 2**64 - 1), st.integers(0, 9))
def test_integers_stay_in_their_range(low, width, seed):
    """Both ends are included, and any range of at most 2**64 values is served."""
    assert low <= Streams(seed).stream("i").integer(low, low + width) <= low + width


def test_integers_are_equally_likely():
    """Each side of a die comes up about as often as the others, both ends included."""
    stream = Streams(5).stream("die")
    counts = [0] * 6
    for _ in range(COUNT):
        counts[stream.integer(1, 6) - 1] += 1
    chi_square = sum((c - COUNT / 6) ** 2 / (COUNT / 6) for c in counts)
    assert chi_square < 25  # 5 degrees of freedom: one in 7,000


@pytest.mark.parametrize(("low", "high"), [(1, 0), (0, 2**64)])
def test_an_impossible_range_is_refused(low, high):
    """An empty range, or one wider than a word, raises."""
    with pytest.raises(ValueError, match="expected low <= high"):
        Streams(0).stream("i").integer(low, high)


def test_exponential_has_its_mean_and_forgets():
    """Mean and the share beyond the mean (1/e) are right within five standard errors."""
    stream = Streams(6).stream("e")
    drawn = [stream.exponential_ns(1e9) for _ in range(COUNT)]
    assert all(isinstance(x, int) and x >= 0 for x in drawn)
    assert abs(fmean(drawn) / 1e9 - 1) < 5 / math.sqrt(COUNT)
    beyond = sum(x > 1e9 for x in drawn) / COUNT
    assert abs(beyond - math.exp(-1)) < 5 * math.sqrt(0.2325 / COUNT)


def test_normal_and_lognormal_have_their_moments():
    """Mean and deviation of the one, median and log-deviation of the other are right."""
    stream = Streams(8).stream("n")
    drawn = [stream.normal(10.0, 2.0) for _ in range(COUNT)]
    assert abs(fmean(drawn) - 10) < 5 * 2 / math.sqrt(COUNT)
    assert abs(pstdev(drawn) - 2) < 5 * 2 / math.sqrt(2 * COUNT)
    times = [stream.lognormal_ns(1e6, 0.5) for _ in range(COUNT)]
    assert abs(math.log(median(times) / 1e6)) < 5 * 0.5 * 1.2533 / math.sqrt(COUNT)
    assert abs(pstdev([math.log(x) for x in times]) - 0.5) < 5 * 0.5 / math.sqrt(2 * COUNT)


def test_shuffles_reach_every_order_equally():
    """The six orders of three items are equally likely, and the argument is left alone."""
    stream = Streams(9).stream("s")
    items = ("a", "b", "c")
    counts: dict[tuple[str, ...], int] = {}
    for _ in range(6000):
        order = tuple(stream.shuffled(items))
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    assert sum((c - 1000) ** 2 / 1000 for c in counts.values()) < 25
    assert {stream.choice(items) for _ in range(100)} == set(items)


def test_chance_has_its_ratio():
    """Certain and impossible are just that. A quarter is a quarter."""
    stream = Streams(10).stream("c")
    assert not any(stream.chance(0.0) for _ in range(100))
    assert all(stream.chance(1.0) for _ in range(100))
    hits = sum(stream.chance(0.25) for _ in range(COUNT))
    assert abs(hits / COUNT - 0.25) < 5 * math.sqrt(0.1875 / COUNT)


def test_keyed_draws_have_no_state_and_are_uniform():
    """The n-th keyed number is the same whenever it is asked for, and they spread evenly."""
    streams = Streams(4)
    drawn = [streams.keyed("loss", 0, n) for n in range(5000)]
    assert streams.keyed("loss", 0, 4999) == drawn[-1]
    assert abs(fmean(drawn) - 0.5) < 5 * math.sqrt(1 / 12 / 5000)
    assert streams.keyed("loss", 1, 0) != drawn[0]


def test_wide_ranges_are_not_skewed():
    """Three quarters of all words: taking remainders alone would favour the lower third."""
    stream = Streams(3).stream("wide")
    span = 3 << 62
    low = sum(stream.integer(0, span - 1) < span // 3 for _ in range(COUNT))
    assert abs(low / COUNT - 1 / 3) < 5 * math.sqrt(2 / 9 / COUNT)


def test_states_of_many_streams_are_those_of_each():
    """Seeding all at once gives the first states that numpy gives one by one."""
    streams = Streams(11)
    names = [f"wire {number}" for number in range(500)]
    assert streams.states(names) == [streams.stream(name).state for name in names]
    assert streams.states([]) == []
