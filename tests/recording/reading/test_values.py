"""Numbers, durations and sizes are read as the engine writes them."""

from __future__ import annotations

import pytest

from ckptsim.sim.recording import answers as values

MS = 1_000_000


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("100 ms", 100 * MS),
        ("1s", 1000 * MS),
        ("10 min", 600_000 * MS),
        ("PT1M30S", 90_000 * MS),
        (1000, 1000 * MS),
        ("250", 250 * MS),
        ("-1 ms", -MS),
        ("2 hours", 7_200_000 * MS),
        ("soon", None),
        ("P", None),
        (True, None),
        (None, None),
    ],
)
def test_durations(text: object, ns: int | None) -> None:
    """A bare number counts milliseconds, ISO durations are known, nonsense is nothing."""
    assert values.duration_ns(text) == ns


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("32kb", 32 << 10),
        ("32 kb", 32 << 10),
        ("64 mb", 64 << 20),
        ("1099511627776 bytes", 1 << 40),
        ("4096", 4096),
        (17, 17),
        ("-1", None),
        ("32 parsecs", None),
        (1.5, None),
    ],
)
def test_sizes(text: object, size: int | None) -> None:
    """A bare number counts bytes. Units are powers of 1,024."""
    assert values.size_bytes(text) == size


@pytest.mark.parametrize("value", ["NaN", "Infinity", None, True, [], "x", 1e300, 2**63])
def test_what_is_no_number_is_nothing(value: object) -> None:
    """Neither NaN nor the engine's word for "never" counts as a number."""
    assert values.number(value) is None


def test_switches_are_texts_or_booleans() -> None:
    """Options are texts, answers booleans. Both are read."""
    assert values.flag("true") is values.flag(True) is True
    assert values.flag("False") is False
    assert values.flag("maybe") is values.flag(1) is None
