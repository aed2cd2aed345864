"""Random faults: any kind of a link's, drawn from what its fields declare and a scenario has.

Which values a parameter may have says its field.  Where a scenario knows better, as it does of the
names of vertices, `Parts` has the values.  When a fault strikes is drawn around `Times`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from ckptsim.scenarios.dialect import At, Choice, Flag, Kind, OneOf, Real, Whole, schema
from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.files import plain
from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.parts import Parts, parts_of
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.spec import Scenario

# The shortest duration that is drawn. An assumption: nothing that matters is shorter.
_TIME_MIN_NS = 1_000
_SIZE_MAX_BYTES = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """When things happen in a scenario without drawn faults, as it was run once or is expected.

    ended_ns, events: its last instant and its length.  instants: of every kind of event, when it
    occurs, in ns.  durations: of the scenario's own parameters all that fit into the run, in ns.
    checkpoints: the highest number that a checkpoint has.
    """

    ended_ns: int = 1
    events: int = 0
    instants: tuple[tuple[int, ...], ...] = ()
    durations: tuple[int, ...] = ()
    checkpoints: int = 0


def durations(scenario: Scenario) -> list[int]:
    """Return the durations that a scenario's parameters have, its faults not among them, in ns."""
    return list(_durations(plain(scenario)[LINKS[scenario.link].key]))


def _durations(value: Any) -> Iterator[int]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in inner:
        if isinstance(one, dict | list):
            yield from _durations(one)
        elif isinstance(one, int) and str(key).endswith("_ns"):
            yield one


def expected(scenario: Scenario, *, step_ns: int, steps: int) -> Times:
    """Return the times of a scenario in which something happens at each of so many steps."""
    ended_ns = step_ns * steps
    own = sorted({one for one in durations(scenario) if 0 < one <= ended_ns})
    instants = tuple(step_ns * number for number in range(1, steps + 1))
    return Times(
        ended_ns=ended_ns, instants=(instants,), durations=tuple(own), checkpoints=min(steps, 5)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Draws faults of one scenario: `fault` returns one that fits, or what it ran into."""

    scenario: Scenario
    parts: Parts
    times: Times

    @property
    def kinds(self) -> list[str]:
        """The kinds of faults that can strike."""
        return [
            kind for kind in LINKS[self.scenario.link].faults if kind not in self.parts.left_out
        ]

    def fault(
        self, choices: Choices, kind: str, before: Sequence[object] = ()
    ) -> tuple[object | None, Problem | None]:
        """Return a fault of a kind. before: the faults that strike besides."""
        tables = LINKS[self.scenario.link].faults
        instants = tuple(at for at in (getattr(one, "at_ns", None) for one in before) if at)
        drawn: dict[str, Any] = {"kind": kind}
        for entry in schema(tables[kind]):
            if not {entry.name, f"{kind}.{entry.name}"}.isdisjoint(self.parts.undrawn):
                continue
            options = self.parts.options(kind, entry.name, drawn)
            if options is not None:
                drawn[entry.name] = choices.of(options)
            else:
                value = self._value(choices, entry.name, entry.kind, instants)
                if value is not None:
                    drawn[entry.name] = value
        problems: list[Problem] = []
        fault = OneOf(tables=tables).read(drawn, At("random faults", "", problems))
        if not problems and hasattr(fault, "problems_in"):
            problems += cast("Any", fault).problems_in(self.scenario.model)
        return (None, problems[0]) if problems else (fault, None)

    def _value(self, choices: Choices, name: str, kind: Kind, before: Sequence[int]) -> Any:
        """Draw a value of a kind, or None to leave the parameter at its default."""
        match kind:
            case Choice(options=options):
                return choices.of(options)
            case Flag():
                return choices.flag()
            case Whole(mark="_ns"):
                at = name == "at_ns"
                drawn = self._instant(choices, before) if at else self._duration(choices)
                return min(max(drawn, kind.minimum), kind.maximum)
            case Whole(mark="_bytes"):
                high = min(kind.maximum, _SIZE_MAX_BYTES)
                return _magnitude(choices, kind.minimum, max(kind.minimum, high))
            case Whole(mark=""):
                return self._count(choices, kind)
            case Real(minimum=low, maximum=high):
                return low + choices.integer(0, 100) / 100 * (min(high, low + 100.0) - low)
            case _:
                return None

    def _instant(self, choices: Choices, before: Sequence[int]) -> int:
        """Draw an instant: anywhere, or near an event, or a duration of the scenario after one."""
        times = self.times
        how = choices.integer(0, 3)
        if how < 2 or not times.instants:
            return choices.integer(0, times.ended_ns)
        if how == 2 and before:
            return choices.of(before) + self._duration(choices)
        near_ns = choices.of(choices.of(times.instants))
        if choices.flag():
            return near_ns
        later_ns = _magnitude(choices, 1, max(1, times.ended_ns // 100))
        return max(0, near_ns + (later_ns if choices.flag() else -later_ns))

    def _duration(self, choices: Choices) -> int:
        """Draw a duration: one that the scenario has, or any that is no longer than its run."""
        times = self.times
        if times.durations and choices.flag():
            return max(0, choices.of(times.durations) + choices.integer(-1, 1))
        return _magnitude(choices, min(_TIME_MIN_NS, times.ended_ns), times.ended_ns)

    def _count(self, choices: Choices, kind: Whole) -> int:
        most = len(choices.of(self.times.instants)) if self.times.instants else 1
        low = max(kind.minimum, -most)
        return choices.integer(low, min(kind.maximum, max(low, 0) + most))


def _magnitude(choices: Choices, low: int, high: int) -> int:
    exponent = choices.integer(low.bit_length(), high.bit_length())
    top = (1 << exponent) - 1
    return min(max(choices.integer(top >> 1, top), low), high)


def with_faults(
    choices: Choices,
    scenario: Scenario,
    times: Times,
    *,
    most: int,
    least: int = 0,
    kinds: Sequence[str] | None = None,
) -> Scenario:
    """Return the scenario with `least` to `most` more faults of `kinds`, by default any."""
    parts = parts_of(scenario, times.checkpoints)
    drawing = Drawing(scenario=scenario, parts=parts, times=times)
    known = drawing.kinds
    present = choices.features(known) if kinds is None else [one for one in kinds if one in known]
    if not present:
        return scenario
    found = list(scenario.faults)
    alike = choices.alike(present)

    def draw() -> None:
        fault, _ = drawing.fault(choices, next(alike), found)
        if fault is not None:
            found.append(fault)

    for _ in range(least):
        draw()
    choices.several(draw, most=most - least)
    return replace(scenario, faults=tuple(found))
