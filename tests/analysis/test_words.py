"""What people read: units that fit, exact swept values, names of parameters."""

from __future__ import annotations

import pytest

from ckptsim.analysis import words


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (0, "0 s"),
        (1_500_000, "1.5 ms"),
        (1_400_000_000, "1.4 s"),
        (90 * 10**9, "90 s"),
        (82_826_500_000_000, "23 h"),
        (None, "-"),
    ],
)
def test_times_have_the_unit_that_people_use(value: float | None, read: str) -> None:
    """Three digits in the unit in which a time is spoken of."""
    assert words.time_in_words(value) == read


@pytest.mark.parametrize(
    ("metric", "value", "read"),
    [
        ("persisted_bytes", 1_438_000, "1.37 MiB"),
        ("sync_share", 0.123, "12.3 %"),
        ("records_reprocessed", 40_308.2, "40,308"),
        ("records_reprocessed", 0.00012, "0.00012"),
        ("ended_ns", 36e6, "36 ms"),
    ],
)
def test_amounts_have_the_unit_of_their_metric(metric: str, value: float, read: str) -> None:
    """Sizes, shares, counts and times are each written in their own way."""
    assert words.amount(metric, value) == read


def test_ranges_share_a_unit_where_both_ends_are_read_in_it() -> None:
    """One unit for near ends, two for far ones, one value where both are read alike."""
    assert words.span("ended_ns", 51e6, 733e6) == "51 to 733 ms"
    assert words.span("ended_ns", 24e6, 1.82e9) == "24 ms to 1.82 s"
    assert words.span("ended_ns", 1e9, 1.0001e9) == "1 s"
    assert words.with_interval("ended_ns", 51e6, 45e6, 57e6) == "51 ms (45 to 57)"
    assert words.with_interval("ended_ns", 51e6, float("nan"), float("nan")) == "51 ms"


def test_swept_values_are_exact() -> None:
    """Values that differ are written differently. Quantities have the unit that fits."""
    path = "sync.destination.upload_ns"
    assert words.value_in_words(path, 20_000_000) == "20 ms"
    assert words.value_in_words(path, 1_234_567_890) != words.value_in_words(path, 1_234_567_891)
    assert words.value_in_words("x", "2500 us") == "2.5 ms"
    assert words.value_in_words("x", "100 kB") == "100 kB"
    assert words.value_in_words("x", "aligned_timeout") == "aligned timeout"
    assert words.value_in_words("job.costs.notification_loss_ratio", 0.1) == "10 %"
    assert words.value_in_words("x", True) == "yes"


def test_parameters_are_called_what_their_plan_calls_them() -> None:
    """Words of the plan first, else the end of the path, or all of it where two are alike."""
    paths = ["faults[0].at", "sync.sockets.count", "a.b.size_bytes", "c.b.size_bytes"]
    assert list(words.names_in_words(paths, {"faults[0].at": "instant of the crash"}).values()) == [
        "instant of the crash",
        "sockets count",
        "a.b.size_bytes",
        "c.b.size_bytes",
    ]
    assert (
        words.point_label('{"sockets": "4", "x": "yes"}', ["sockets", "x", "y"])
        == "sockets 4, x yes"
    )


def test_a_number_stays_with_its_unit() -> None:
    """A label in lines is broken at commas and other spaces, not between both."""
    label = "heartbeat interval 200 ms, silent"
    assert words.in_lines(label, 23) == "heartbeat interval\n200 ms, silent"
    assert words.in_lines(label, 40) == label


def test_words_that_are_numbers_are_numbers() -> None:
    """Quantities, counts with thousands apart and percentages have a place on an axis."""
    assert words.number("20 ms") == 20_000_000
    assert words.number("4 KiB") == 4096
    assert words.number("1,800") == 1800
    assert words.number("12.5 %") == 12.5
    assert words.number("aligned") is None
    assert words.number(True) is None
