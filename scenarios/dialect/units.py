"""Quantities as people write them, read and written exactly, and short literals of values.

All arithmetic is on whole numbers and fractions, so that nothing is rounded on the way in or out.
"""

from __future__ import annotations

import json
import math
import re
import reprlib
from collections.abc import Iterable, Mapping
from fractions import Fraction

# Nanoseconds per unit, longest first.
DURATION_UNITS: Mapping[str, int] = {
    "d": 86_400_000_000_000,
    "h": 3_600_000_000_000,
    "min": 60_000_000_000,
    "s": 1_000_000_000,
    "ms": 1_000_000,
    "us": 1_000,
    "ns": 1,
}

# Bytes per unit, largest first. Binary and decimal prefixes as IEC 80000-13 defines them.
SIZE_UNITS: Mapping[str, int] = {
    "TiB": 1 << 40,
    "TB": 10**12,
    "GiB": 1 << 30,
    "GB": 10**9,
    "MiB": 1 << 20,
    "MB": 10**6,
    "KiB": 1 << 10,
    "kB": 10**3,
    "B": 1,
}

BYTE_RATE_UNITS: Mapping[str, int] = {f"{unit}/s": size for unit, size in SIZE_UNITS.items()}

_SPELLINGS = {"µs": "us", "μs": "us", "KB": "kB", "KB/s": "kB/s"}
_QUANTITY = re.compile(r"([0-9]{1,30}(?:\.[0-9]{1,30})?)\s*([A-Za-zµμ]+(?:/s)?)\s*", re.ASCII)


def parse(text: str, units: Mapping[str, int]) -> int | None:
    """Return the quantity in base units, or None when the text is not exactly one.

    A duration may have several parts, each in a smaller unit than the one before: `"1h30min"`.
    A fraction of a base unit, such as `"0.5 ns"`, is not one.
    """
    total, rest, parts = Fraction(0), text.strip(), 0
    least = max(units.values()) + 1
    while rest or not parts:
        match = _QUANTITY.match(rest)
        size = None if match is None else units.get(_SPELLINGS.get(match[2], match[2]))
        if match is None or size is None or size >= least:
            return None
        if parts and units is not DURATION_UNITS:
            return None
        total, least, parts = total + Fraction(match[1]) * size, size, parts + 1
        rest = rest[match.end() :]
    return int(total) if total.denominator == 1 else None


def write(amount: int, units: Mapping[str, int]) -> str:
    """Return the quantity in the largest unit that gives a whole number. `parse` reads it back."""
    fitting = (unit for unit, size in units.items() if amount % size == 0)
    nothing = "s" if "s" in units else list(units)[-1]
    unit = nothing if amount == 0 else next(fitting)
    return f"{amount // units[unit]} {unit}"


_NANOSECONDS = re.compile(r"\b([0-9]{1,20}) ns\b")
_TIME_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60))
_HOUR_S = 3_600
_US = 1_000
_DIGITS, _PLACES = 8, 6  # of microseconds in a minute, and in a second


def duration_text(time_ns: float, *, exact: bool = False) -> str:
    """Return a duration or an instant for people: four digits, `10 min` or `1 h 3 min 59 s`.

    exact: to the microsecond, for two that may differ by little: `10.024921 s`, and `3 ms` still.
    """
    if exact and time_ns >= _US:
        time_ns -= time_ns % _US
    if time_ns <= 0:
        return f"-{duration_text(-time_ns, exact=exact)}" if time_ns else "0 s"
    for unit, size in (("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)):
        if time_ns < min(1_000 * size, 60_000_000_000):
            return f"{time_ns / size:.{_DIGITS if exact else 4}g} {unit}"
    whole_s = time_ns / 1e9
    places = 2 if whole_s < _HOUR_S else 0
    left = round(whole_s, _PLACES if exact else places)
    parts = []
    for unit, size in _TIME_UNITS:
        count, left = divmod(left, size)
        parts += [f"{count:.0f} {unit}"] * bool(count)
    seconds = f"{left:.{_PLACES if exact else 2}f}".rstrip("0").rstrip(".")
    return " ".join([*parts, *([f"{seconds} s"] if float(seconds) else [])])


def exact_text(time_ns: int) -> str:
    """Return `duration_text` with all digits, for instants that may differ by a microsecond."""
    return duration_text(time_ns, exact=True)


def in_units(text: str) -> str:
    """Return a text with the units of people where it counts nanoseconds, as a trace does."""
    return _NANOSECONDS.sub(lambda found: duration_text(int(found[1])), text)


def size_text(size_bytes: float) -> str:
    """Return a size for people, to three digits: `39 KiB`."""
    for unit, size in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if abs(size_bytes) >= size:
            return f"{size_bytes / size:.3g} {unit}"
    return f"{size_bytes:.4g} B"


_LISTED_MAX = 12


def listed(values: Iterable[object]) -> str:
    """Return values for people: `3, 7 and 9`, the first dozen of many, `none` without any."""
    texts = list(map(str, values))
    if len(texts) > _LISTED_MAX:
        return f"{', '.join(texts[:_LISTED_MAX])} and {len(texts) - _LISTED_MAX} more"
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if texts[1:] else texts) or "none"


_LONGEST = 60
# Of a whole number in a file.  Source: Python, "Integer string conversion length limitation".
DIGITS_MAX = 4300
_LONG_NUMBER = re.compile(rf"(\d_?){{{DIGITS_MAX},}}\d")


def snake_case(name: str) -> str:
    """Return the name of a class as a word: `CrashAt` is `crash_at`."""
    return re.sub(r"\B([A-Z])", r"_\1", name).lower()


def shown(value: object) -> str:
    """Return the value as a short literal in TOML's spelling, at most some 60 characters long."""
    match value:
        case bool():
            text = "true" if value else "false"
        case int():
            text = _integer(value)
        case float():
            text = repr(value) if math.isfinite(value) else str(value)
        case str():
            text = printable(json.dumps(value[: _LONGEST + 1], ensure_ascii=False))
        case list():
            text = f"an array of {len(value)}" if value else "[]"
        case dict():
            text = f"a table with {_keys(value)}" if value else "an empty table"
        case _:
            text = str(value) if hasattr(value, "isoformat") else reprlib.repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def printable(text: str) -> str:
    """Return the text with escapes for all that a terminal would not show, or would obey."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def too_long(error: ValueError, text: str) -> str | None:
    """Return which number a text cannot be read for, None where that is not the reason."""
    if not str(error).startswith("Exceeds the limit"):
        return None
    found = _LONG_NUMBER.search(text)
    line = 1 if found is None else text.count("\n", 0, found.start()) + 1
    digits = f"more than {DIGITS_MAX}" if found is None else len(found[0].replace("_", ""))
    return f"a number of {digits} digits in line {line}"


def _integer(value: int) -> str:
    if value.bit_length() <= 160:
        return str(value)
    return f"an integer of {value.bit_length()} bits"


def _keys(table: dict[str, object]) -> str:
    names = [printable(str(key)[:20]) for key in list(table)[:4]]
    return ", ".join(names) + (", ..." if len(table) > 4 else "")
