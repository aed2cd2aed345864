"""Numbers, durations and sizes as answers and options of the engine have them, or None.

What the engine cannot read is read as in a scenario's file: "3 min 59 s", "64 KiB".

Source: Apache Flink 1.20.3, TimeUtils.parseDuration and MemorySize.parse.
"""

from __future__ import annotations

import math
import re

from ckptsim.scenarios.dialect import printable, units

_MS = 1_000_000
_DURATION_NS = {
    **dict.fromkeys(("ns", "nano", "nanosecond"), 1),
    **dict.fromkeys(("us", "µs", "micro", "microsecond"), 1_000),
    **dict.fromkeys(("", "ms", "milli", "millisecond"), _MS),
    **dict.fromkeys(("s", "sec", "second"), 1_000 * _MS),
    **dict.fromkeys(("m", "min", "minute"), 60_000 * _MS),
    **dict.fromkeys(("h", "hour"), 3_600_000 * _MS),
    **dict.fromkeys(("d", "day"), 86_400_000 * _MS),
}
_SIZE = {
    **dict.fromkeys(("", "b", "bytes"), 1),
    **dict.fromkeys(("k", "kb", "kibibytes"), 1 << 10),
    **dict.fromkeys(("m", "mb", "mebibytes"), 1 << 20),
    **dict.fromkeys(("g", "gb", "gibibytes"), 1 << 30),
    **dict.fromkeys(("t", "tb", "tebibytes"), 1 << 40),
}
_QUANTITY = re.compile(r"(-?\d{1,18})\s*([a-zµ]*)", re.ASCII | re.IGNORECASE)
_ISO = re.compile(
    r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.ASCII | re.IGNORECASE
)
# Larger ones stand for "never" in the engine's answers (Long.MAX_VALUE), or are no counts at all.
LARGEST = float(1 << 62)


def number(value: object) -> float | None:
    """Return a finite number, also one that is a text. None for "NaN" and the like."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and abs(found) < LARGEST else None


def whole(value: object, least: int = 0) -> int | None:
    """Return a whole number of at least `least`."""
    found = number(value)
    return int(found) if found is not None and found >= least else None


def text(value: object) -> str | None:
    """Return a text that is not empty, on one line and with what a terminal obeys escaped."""
    return printable(value) if isinstance(value, str) and value else None


def flag(value: object) -> bool | None:
    """Return a switch, also one that is a text."""
    if isinstance(value, bool):
        return value
    known = {"true": True, "false": False}
    return known.get(value.strip().lower()) if isinstance(value, str) else None


def duration_ns(value: object) -> int | None:
    """Return a duration in ns. A bare number counts milliseconds."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        found = number(value)
        return None if found is None else round(found * _MS)
    if not isinstance(value, str):
        return None
    stripped = value.strip()
    match = _QUANTITY.fullmatch(stripped)
    if match is not None:
        unit = match[2].lower()
        factor = _DURATION_NS.get(unit, _DURATION_NS.get(unit.removesuffix("s")))
        return None if factor is None else int(match[1]) * factor
    ours = units.parse(stripped, units.DURATION_UNITS)
    if ours is not None:
        return ours
    iso = _ISO.fullmatch(stripped)
    if iso is None or not any(iso.groups()):
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in iso.groups())
    return round((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000 * _MS)


def size_bytes(value: object) -> int | None:
    """Return a size in bytes. A bare number counts bytes."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if value >= 0 else None
    if not isinstance(value, str):
        return None
    match = _QUANTITY.fullmatch(value.strip())
    factor = None if match is None else _SIZE.get(match[2].lower())
    if match is None or factor is None:
        return units.parse(value, units.SIZE_UNITS)
    return None if match[1].startswith("-") else int(match[1]) * factor
