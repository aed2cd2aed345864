"""The keys of a sweep plan's file, declared like the parameters of a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ckptsim.scenarios.dialect import BAD, At, Choice, Entry, Flag, Kind, Many, Text
from ckptsim.scenarios.fields import REQUIRED, name_kind, whole
from ckptsim.scenarios.planning.metrics import METRICS
from ckptsim.scenarios.planning.vary import is_path

LARGEST_SEED = (1 << 62) - 1
SCENARIO_AXIS = "scenario"  # an axis of this name sweeps the scenario itself
_TIES = Text(
    pattern=r"structural|random|pct(:[1-9][0-9]{0,2})?",
    says='"structural", "random", "pct" or "pct:DEPTH"',
    longest=10,
)
_SAYS = Text(pattern=r"[^\x00-\x1f\x7f]*", says="a text on one line", longest=300)
_WORDS = Text(pattern=r"[^\x00-\x1f\x7f]+", says="some words on one line", longest=60)
_SCENARIO = Text(pattern=r"[^\x00-\x1f\x7f]+", says="a scenario's name or path", longest=300)
_MOST_VALUES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Kind):
    """A table of parameter paths and one value each. Tables inside it are paths in parts."""

    def read(self, found: object, at: At) -> object:
        """Take a table and return its values by whole path."""
        if not isinstance(found, Mapping):
            return at.refuse(found, self.expected())
        before = len(at.problems)
        values: dict[str, object] = {}
        for path, value in flat(found):
            if not is_path(path):
                at.key(path).note("no path of a parameter", "a path such as sync.sockets.count")
            elif path in values:
                at.key(path).refuse(value, "each path once")
            values[path] = value
        return BAD if len(at.problems) > before else values

    def expected(self) -> str:
        """Return in words what may stand here."""
        return "a table of parameter paths and values"

    def plain(self, value: object) -> object:
        """Return the table."""
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes(Kind):
    """A table of parameter paths and an array of values each."""

    def read(self, found: object, at: At) -> object:
        """Take a table of arrays and return them as tuples by whole path."""
        settings = Settings().read(found, at)
        if not isinstance(settings, dict):
            return at.refuse(found, self.expected()) if not isinstance(found, Mapping) else settings
        before = len(at.problems)
        for path, values in settings.items():
            if not isinstance(values, list) or not 1 <= len(values) <= _MOST_VALUES:
                at.key(path).refuse(values, f"an array of 1 to {_MOST_VALUES} values")
        if len(at.problems) > before:
            return BAD
        return {path: tuple(values) for path, values in settings.items()}

    def expected(self) -> str:
        """Return in words what may stand here."""
        return "a table of parameter paths and an array of values each"

    def plain(self, value: object) -> object:
        """Return the table."""
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Words(Kind):
    """A table of parameter paths and what people call each."""

    def read(self, found: object, at: At) -> object:
        """Take a table of texts and return them by whole path."""
        settings = Settings().read(found, at)
        if not isinstance(settings, dict):
            return at.refuse(found, self.expected()) if not isinstance(found, Mapping) else settings
        texts = {path: _WORDS.read(value, at.key(path)) for path, value in settings.items()}
        return BAD if BAD in texts.values() else texts

    def expected(self) -> str:
        """Return in words what may stand here."""
        return "a table of parameter paths and a text each"

    def plain(self, value: object) -> object:
        """Return the table."""
        return value


def flat(table: Mapping[str, object], path: str = "") -> list[tuple[str, object]]:
    """Return the values of nested tables by whole path, in order."""
    found: list[tuple[str, object]] = []
    waiting: list[tuple[str, object]] = [(path, table)]
    while waiting:
        here, value = waiting.pop()
        if isinstance(value, Mapping) and value:
            parts = [(f"{here}.{key}" if here else key, inner) for key, inner in value.items()]
            waiting.extend(reversed(parts))
        elif here:
            found.append((here, value))
    return found


def _entry(name: str, kind: Kind, default: object, says: str) -> Entry:
    return Entry(name=name, short=None, default=default, kind=kind, says=says, source="")


ENTRIES: tuple[Entry, ...] = (
    _entry("name", name_kind(), REQUIRED, "by which the plan is found and shown"),
    _entry("says", _SAYS, "", "what the sweep shows, in one sentence"),
    _entry("question", _SAYS, "", "what the sweep asks, as one question"),
    _entry(
        "answers",
        Many(item=Choice(options=tuple(METRICS)), minimum=1, maximum=4),
        (),
        "metrics that answer the question, the most telling first",
    ),
    _entry("words", Words(), {}, "what swept parameters are called in figures and sentences"),
    _entry(
        "scenario",
        _SCENARIO,
        REQUIRED,
        "the scenario that is varied, by name, or by path from the plan's folder",
    ),
    _entry("overrides", Settings(), {}, "parameters set alike for all points"),
    _entry("grid", Axes(), {}, "values for every combination"),
    _entry("zip", Axes(), {}, "values that change together, the fastest"),
    _entry(
        "seeds",
        Many(item=whole(maximum=LARGEST_SEED), minimum=1, maximum=1_000_000),
        (),
        "seeds of the replications, one by one",
    ),
    _entry("first_seed", whole(maximum=1 << 61), 1, "seed of the first replication"),
    _entry("replications", whole(minimum=1, maximum=1_000_000), 10, "runs per point and policy"),
    _entry("ties", Many(item=_TIES, minimum=1, maximum=10), ("structural",), "tie policies"),
    _entry("common_random_numbers", Flag(), True, "the same seeds at every point"),
)
