"""Quantities: exact in both directions, and nothing else is one."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptsim.scenarios import dialect

SCALES = [dialect.DURATION_UNITS, dialect.SIZE_UNITS, dialect.BYTE_RATE_UNITS]


@given(amount=st.integers(0, 1 << 70), scale=st.sampled_from(SCALES))
def test_what_is_written_is_read_back(amount: int, scale: Mapping[str, int]) -> None:
    """Every amount is written so that exactly that amount is read."""
    assert dialect.parse(dialect.write(amount, scale), scale) == amount


@pytest.mark.parametrize(
    ("text", "scale", "amount"),
    [
        ("1.5 s", dialect.DURATION_UNITS, 1_500_000_000),
        ("0.1 s", dialect.DURATION_UNITS, 100_000_000),
        ("3ms", dialect.DURATION_UNITS, 3_000_000),
        ("2 µs", dialect.DURATION_UNITS, 2_000),
        (" 7 h ", dialect.DURATION_UNITS, 25_200_000_000_000),
        ("0 ns", dialect.DURATION_UNITS, 0),
        ("32 KiB", dialect.SIZE_UNITS, 32_768),
        ("32 kB", dialect.SIZE_UNITS, 32_000),
        ("32 KB", dialect.SIZE_UNITS, 32_000),
        ("0.5 KiB", dialect.SIZE_UNITS, 512),
        ("20 MB/s", dialect.BYTE_RATE_UNITS, 20_000_000),
        ("1 MiB/s", dialect.BYTE_RATE_UNITS, 1_048_576),
    ],
)
def test_quantities(text: str, scale: Mapping[str, int], amount: int) -> None:
    """Numbers with a unit are read exactly."""
    assert dialect.parse(text, scale) == amount


@pytest.mark.parametrize(
    "text",
    [
        *("", "5", "s", "-1 s", "+1 s", "1 e3 s", "1e3 s", "1,5 s", ".5 s", "1. s", "1 s s"),
        *("1 S", "1 sec", "0.5 ns", "1 KiB", "inf s", "nan s", "٣ s", "1 s/s", "0x1 s", "1_000 s"),
        "9" * 31 + " s",
    ],
)
def test_what_is_no_duration(text: str) -> None:
    """Anything else is not a duration."""
    assert dialect.parse(text, dialect.DURATION_UNITS) is None


@given(value=st.recursive(st.none() | st.integers() | st.floats() | st.text(), st.lists))
def test_literals_are_short_and_printable(value: object) -> None:
    """Whatever is found is shown in one short printable literal."""
    assert len(dialect.shown(value)) <= 60
    assert dialect.shown(value).isprintable()


def test_enormous_integers_are_shown() -> None:
    """Integers of more digits than Python prints are shown by their size."""
    assert dialect.shown(1 << 100_000) == "an integer of 100001 bits"
