"""What people call things: swept parameters and their values, times, sizes, shares and counts."""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ckptsim.scenarios.dialect import units
from ckptsim.scenarios.planning import METRICS, MUTANT_AXIS, NO_MUTANT, Measure, is_design, slot_of

_NUMBER = re.compile(r"(-?[0-9][0-9,]*(?:\.[0-9]+)?)(?: %)?")
_TIMES = (
    *(("ns", 1), ("µs", 10**3), ("ms", 10**6), ("s", 10**9)),
    *(("min", 60 * 10**9), ("h", 3600 * 10**9), ("d", 86_400 * 10**9)),
)
_SIZES = (("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40))
_FROM = {"min": 3, "h": 2, "d": 2}  # of these units at least so many: 90 s are 90 s
_OF_NOTHING = {"ns": 3, "B": 0}  # no time is 0 s, no data 0 B
_EXACT_CHARACTERS = 8  # a size is written in the first unit in which it is exact and this short
_THOUSAND = 1000
_DIGITS = 5
_NO_BREAK = "\u00a0"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its name and how many base units it is."""

    name: str
    size: float


def time_unit(values_ns: Iterable[float]) -> Unit:
    """Return the largest unit in which the largest of these times is at least 1."""
    return _unit(values_ns, _TIMES)


def size_unit(values_bytes: Iterable[float]) -> Unit:
    """Return the largest unit in which the largest of these sizes is at least 1."""
    return _unit(values_bytes, _SIZES)


def _unit(values: Iterable[float], known: Sequence[tuple[str, int]]) -> Unit:
    largest = max((abs(value) for value in values if not math.isnan(value)), default=0.0)
    if largest == 0:
        return Unit(*known[_OF_NOTHING[known[0][0]]])
    fitting = [Unit(name, size) for name, size in known if _FROM.get(name, 1) * size <= largest]
    return fitting[-1] if fitting else Unit(*known[0])


def unit_of(metric: str, values: Iterable[float]) -> Unit:
    """Return the unit in which values of a metric are read most easily. Counts have none."""
    measure = METRICS[metric].measure
    if measure is Measure.TIME:
        return time_unit(values)
    if measure is Measure.SIZE:
        return size_unit(values)
    return Unit("%", 0.01) if measure is Measure.SHARE else Unit("", 1)


def axis_title(metric: str, unit: Unit) -> str:
    """Return what a metric is, with the unit of an axis in brackets."""
    return METRICS[metric].says + (f" [{unit.name}]" if unit.name else "")


def plain_number(value: float) -> str:
    """Return a number to three digits, thousands apart, without an exponent."""
    if abs(value) >= _THOUSAND:
        return f"{value:,.0f}"
    text = f"{value:.3g}"
    if "e" in text:
        return "0" if abs(value) < 1e-9 else f"{value:.12f}".rstrip("0")[: _DIGITS + 9]
    return text


def in_unit(value: float, unit: Unit) -> str:
    """Return a number of base units with its unit, to three digits."""
    return f"{plain_number(value / unit.size)} {unit.name}".rstrip()


def amount(metric: str, value: float) -> str:
    """Return a value of a metric with its unit."""
    return in_unit(value, unit_of(metric, [value]))


def time_in_words(value_ns: float | None) -> str:
    """Return a time with its unit. A dash for none."""
    if value_ns is None or math.isnan(value_ns):
        return "-"
    return in_unit(value_ns, time_unit([value_ns]))


def span(metric: str, low: float, high: float) -> str:
    """Return the range of some values of a metric: one value where both are read alike."""
    unit = unit_of(metric, [low, high])
    if 0 < low < unit.size / 10:
        return f"{amount(metric, low)} to {amount(metric, high)}"
    first, last = in_unit(low, unit), in_unit(high, unit)
    if first == last:
        return first
    return f"{first.removesuffix(unit.name).rstrip()} to {last}"


def with_interval(metric: str, mean: float, low: float, high: float) -> str:
    """Return a mean with its interval, in one unit. Without the interval where there is none."""
    unit = unit_of(metric, [mean])
    if math.isnan(low):
        return in_unit(mean, unit)
    first, last = (plain_number(value / unit.size) for value in (low, high))
    if first == last:  # all replications are alike to the digits shown
        return in_unit(mean, unit)
    return f"{in_unit(mean, unit)} ({first} to {last})"


def name_in_words(path: str, words: Mapping[str, str]) -> str:
    """Return what a swept parameter is called: by its plan, else the last words of its path."""
    if path in words:
        return words[path]
    if is_design(path):
        return f"{slot_of(path).replace('_', ' ')} core" if slot_of(path) else path
    parts = [part.split("[")[0] for part in _without_unit(path).split(".")]
    return " ".join(parts[-2:]).replace("_", " ")


def names_in_words(paths: Sequence[str], words: Mapping[str, str]) -> dict[str, str]:
    """Return what each swept parameter is called. Those that would be called alike by path."""
    named = {path: name_in_words(path, words) for path in paths}
    found = list(named.values())
    return {path: path if found.count(name) > 1 else name for path, name in named.items()}


def _without_unit(path: str) -> str:
    for suffix in ("_bytes_per_s", "_per_s", "_bytes", "_ns"):
        path = path.removesuffix(suffix)
    return path


def value_in_words(path: str, value: object) -> str:
    """Return a swept value as people write it, exactly: different values have different texts."""
    if is_design(path):  # names of programs and of mutants, to be typed again
        return "no mutant" if (path, value) == (MUTANT_AXIS, NO_MUTANT) else str(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return _number_in_words(path.split("[*]", maxsplit=1)[0], value)
    text = str(value)
    for scale, write in ((units.DURATION_UNITS, _TIMES), (units.SIZE_UNITS, None)):
        found = units.parse(text, scale)
        if found is not None:
            return _exact(found, write) if write else text
    return text.replace("_", " ")


def _number_in_words(path: str, value: float) -> str:
    if isinstance(value, int):
        if path.endswith("_ns"):
            return _exact(value, _TIMES)
        if path.endswith("_bytes"):
            return _exact(value, _SIZES)
        if path.endswith("_bytes_per_s"):
            return f"{_exact(value, _SIZES)}/s"
        return f"{value:,}"
    return f"{100 * value:.12g} %" if path.endswith(("_ratio", "_share")) else f"{value:.12g}"


def _exact(value: int, known: Sequence[tuple[str, int]]) -> str:
    """Return a quantity in the largest unit in which it is short and exact."""
    for name, size in reversed(known):
        amount_in = Fraction(value, size)
        text = f"{float(amount_in):.12g}"
        short = len(text) <= _EXACT_CHARACTERS and "e" not in text
        if amount_in >= _FROM.get(name, 1) and short and Fraction(text) == amount_in:
            return f"{text} {name}"
    return f"{value} {known[0][0]}"


def number(value: object) -> float | None:
    """Return the number that a swept value is, in base units if it has one. None for a word."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    text = str(value)
    for scale in (units.DURATION_UNITS, units.SIZE_UNITS, units.BYTE_RATE_UNITS):
        found = units.parse(text, scale)
        if found is not None:
            return float(found)
    match = _NUMBER.fullmatch(text)
    return float(match[1].replace(",", "")) if match else None


def point_label(parameters: str, axes: Iterable[str]) -> str:
    """Return a point in words: a word alone says which it is, a number needs its parameter."""
    values = json.loads(parameters)
    return ", ".join(_spoken(name, values[name]) for name in axes if name in values)


def _spoken(name: str, value: object) -> str:
    text = str(value)
    return f"{name} {text}" if text[:1].isdigit() or text in ("yes", "no") else text


def in_lines(label: str, width: int) -> str:
    """Return a label in lines of at most so many characters, broken at commas, else at spaces.

    A number stays with its unit.
    """
    lines: list[str] = []
    for part in label.split(", "):
        if lines and len(lines[-1]) + 2 + len(part) <= width:
            lines[-1] += f", {part}"
        else:
            kept = re.sub(r"(?<=\d) ", _NO_BREAK, part)
            lines += textwrap.wrap(kept, width, break_long_words=False)
    return "\n".join(lines).replace(_NO_BREAK, " ")


def count_label(n: int, unfinished: int = 0) -> str:
    """Return how many values belong to something."""
    return f"n = {n:,}" + (f", {unfinished:,} unfinished" if unfinished else "")
