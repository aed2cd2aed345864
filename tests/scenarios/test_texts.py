"""Durations, sizes and lists as people read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.scenarios.dialect import duration_text, exact_text, in_units, listed, size_text

_S = 1_000_000_000


@pytest.mark.parametrize(
    ("time_ns", "text"),
    [
        (0, "0 s"),
        (500, "0.5 us"),
        (6_504_143, "6.504 ms"),
        (24_000_000, "24 ms"),
        (12_345_678_901, "12.35 s"),
        (90 * _S, "1 min 30 s"),
        (239_123_456_789, "3 min 59.12 s"),
        (600 * _S, "10 min"),
        (3_839 * _S, "1 h 3 min 59 s"),
        (3_599_999_999_999, "1 h"),
        (172_805 * _S, "2 d 5 s"),
        (-5_000_000, "-5 ms"),
    ],
)
def test_a_duration_has_the_units_of_people(time_ns: int, text: str) -> None:
    """A duration has the unit in which people say it, and four digits at most below a minute."""
    assert duration_text(time_ns) == text


@pytest.mark.parametrize(
    ("time_ns", "text"),
    [(3_000_000, "3 ms"), (10_024_921_367, "10.024921 s"), (65_500_001_999, "1 min 5.500001 s")],
)
def test_an_exact_one_has_its_microseconds(time_ns: int, text: str) -> None:
    """An instant that is compared with another has the same style, and no digit left out."""
    assert exact_text(time_ns) == text


@given(st.integers(min_value=0, max_value=10**19))
def test_no_duration_is_written_in_nanoseconds(time_ns: int) -> None:
    """No duration is written in nanoseconds or with an exponent."""
    text = duration_text(time_ns)
    assert " ns" not in text
    assert "e" not in text


def test_a_text_of_a_trace_gets_units() -> None:
    """Nanoseconds in a text of a trace become the units of people, and nothing else changes."""
    assert in_units("nothing moved for 10000000000 ns: a") == "nothing moved for 10 s: a"
    assert in_units("x_ns 5 nsa 12") == "x_ns 5 nsa 12"


def test_sizes_and_lists() -> None:
    """A size has a binary unit and three digits, a list is a sentence's, and a long one is cut."""
    assert size_text(40_000) == "39.1 KiB"
    assert size_text(20_000_000_000) == "18.6 GiB"
    assert size_text(7) == "7 B"
    assert listed([]) == "none"
    assert listed([3]) == "3"
    assert listed((3, 7, 9)) == "3, 7 and 9"
    assert listed(range(20)).endswith("11 and 8 more")
