"""Draw random faults for a scenario, from nothing but what its link says that faults are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

from ckptsim.scenarios import LINKS, Scenario, ScenarioError
from ckptsim.scenarios.dialect import Choice, Flag, Kind, Real, Whole, schema
from ckptsim.scenarios.files import document
from ckptsim.sim.kernel import Streams

Item = TypeVar("Item")

_TRIES = 8
# Instants and durations are drawn between these, evenly over their magnitude (an assumption:
# library scenarios last milliseconds to minutes).
_TIME_MIN_NS = 10_000
_TIME_MAX_NS = 100_000_000_000
# Counts and indexes are drawn small, because rare interleavings need few of each.
_COUNT_MAX = 24


class Source(Protocol):
    """Where draws come from: a named stream, or whatever else draws."""

    def integer(self, low: int, high: int) -> int:
        """Draw a whole number between two bounds, both included."""
        ...

    def choice(self, options: Sequence[Item]) -> Item:
        """Draw one of the options."""
        ...

    def chance(self, probability: float) -> bool:
        """Draw whether something is so."""
        ...

    def uniform(self) -> float:
        """Draw a number from 0 to 1."""
        ...


def with_random_faults(scenario: Scenario, *, seed: int, count: int) -> Scenario:
    """Return the scenario with up to `count` more faults, drawn from the stream of `seed`."""
    return with_drawn_faults(scenario, Streams(seed).stream("random faults"), count)


def with_drawn_faults(scenario: Scenario, stream: Source, count: int) -> Scenario:
    """Return the scenario with up to `count` more faults, drawn from a source.

    A drawn fault that does not fit the model, such as one on a socket that is not there, is drawn
    again a few times and then left out.
    """
    link = LINKS[scenario.link]
    kinds = {name: kind for name, kind in link.faults.items() if name not in link.hostile}
    if not kinds:
        return scenario
    for _ in range(stream.integer(0, count)):
        for _ in range(_TRIES):
            grown = _with_fault(scenario, _draw(kinds, stream))
            if grown is not None:
                scenario = grown
                break
    return scenario


def _with_fault(scenario: Scenario, fault: dict[str, Any]) -> Scenario | None:
    plain = document.plain(scenario)
    faults = plain["faults"]
    if not isinstance(faults, list):
        raise TypeError("faults of a document are an array")
    try:
        return document.read(plain | {"faults": [*faults, fault]}, source="random faults")
    except ScenarioError:
        return None


def _draw(kinds: Mapping[str, type], stream: Source) -> dict[str, Any]:
    kind = stream.choice(list(kinds))
    drawn: dict[str, Any] = {"kind": kind}
    for entry in schema(kinds[kind]):
        value = _value(entry.kind, stream)
        if value is not None:
            drawn[entry.name] = value
    return drawn


def _value(kind: Kind, stream: Source) -> Any:
    """Draw a value of a kind, or None to leave the parameter at its default."""
    match kind:
        case Choice(options=options):
            return stream.choice(options)
        case Flag():
            return stream.chance(0.5)
        case Whole(mark="_ns"):
            return _magnitude(stream, max(kind.minimum, _TIME_MIN_NS), kind.maximum)
        case Whole(mark=""):
            high = min(kind.maximum, max(kind.minimum, 0) + _COUNT_MAX)
            return stream.integer(max(kind.minimum, -2), high)
        case Real(minimum=low, maximum=high):
            return low + stream.uniform() * (min(high, low + 100.0) - low)
        case _:
            return None


def _magnitude(stream: Source, low: int, high: int) -> int:
    """Draw between low and high with even odds per power of two."""
    high = min(high, _TIME_MAX_NS)
    if high <= low:
        return low
    exponent = stream.integer(low.bit_length() - 1, high.bit_length() - 1)
    return min(max(stream.integer(1 << exponent, (2 << exponent) - 1), low), high)
