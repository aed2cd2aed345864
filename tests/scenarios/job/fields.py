"""Look for a run that each field of a model changes: `python -m tests.scenarios.job.fields`.

For every link and plane it walks through all fields of the model, sets them in scenarios of the
library to other values and compares digests and goals.  It writes those that it finds into
`witnesses.json`, and prints the fields that change nothing there and are not refused.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ckptsim.scenarios import Scenario, ScenarioError
from ckptsim.scenarios.catalogue import all_scenarios, by_name
from ckptsim.scenarios.dialect import (
    Choice,
    Flag,
    Kind,
    Many,
    Nested,
    OneOf,
    Real,
    Text,
    Whole,
    schema,
)
from ckptsim.scenarios.files import document
from ckptsim.scenarios.limits import PIPELINE, limits_of
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.world import run_world
from tests.scenarios.job.settings import SETTINGS

# What runs a scenario, each with a link of it.
GROUPS: Mapping[str, str] = {
    "job on buffers": "barriers",
    "job on records": "barrier_protocol",
    "ordering": "ordering",
    "checkpoint_store": "checkpoint_store",
    "composed on records": "composed",
    "composed on buffers": "composed",
}
WITNESSES = Path(__file__).with_name("witnesses.json")
_SECONDS_MAX = 8.0  # of processor time, for each field
_RUN_S_MAX = 1.0


def group_of(scenario: Scenario) -> str:
    """Return what runs a scenario: its world, for jobs and pipelines with the plane."""
    plane = getattr(scenario.model, "plane", None)
    if scenario.link in ("barriers", "barrier_protocol", "final_checkpoint"):
        return f"job on {plane}"
    return scenario.link if plane is None else f"{scenario.link} on {plane}"


def field_paths(link: str) -> dict[str, Kind]:
    """Return every field of a link's model by its path. `[*]` represents all items of an array.

    A field of one kind of a table has the kind after a bar: `job.restart.delay_ns|fixed_delay`.
    """
    (root,) = (entry for entry in document.entries(LINKS[link]) if isinstance(entry.kind, Nested))
    return dict(_inside(root.kind, root.name))


def _inside(kind: Kind, path: str) -> Iterator[tuple[str, Kind]]:
    if isinstance(kind, Nested):
        for entry in schema(kind.table):
            yield from _inside(entry.kind, f"{path}.{entry.name}")
    elif isinstance(kind, OneOf):
        yield f"{path}.kind", kind
        for name, table in kind.tables.items():
            for entry in schema(table):
                for inner, found in _inside(entry.kind, f"{path}.{entry.name}"):
                    yield f"{inner}|{name}", found
    elif isinstance(kind, Many) and isinstance(kind.item, Nested | OneOf):
        yield from _inside(kind.item, f"{path}[*]")
    else:
        yield path, kind


def values(kind: Kind, now: Any) -> list[Any]:
    """Return other values that a field may have."""
    number = now if isinstance(now, int | float) else 0
    found: list[Any] = []
    if isinstance(kind, Flag):
        found = [not now]
    elif isinstance(kind, Choice):
        found = [str(one) for one in kind.options]
    elif isinstance(kind, OneOf):
        found = list(kind.tables)
    elif isinstance(kind, Text):
        found = ["another_and_longer"]
    elif isinstance(kind, Whole | Real):
        tried = (number * 2, number / 2, number + 5_000_000, number + 200_000_000, 1, 2, 3, 0, 0.5)
        tried += (100, 1_000, 100_000, 10_000_000, 1_000_000_000, 0.9)
        fitting = [one for one in tried if kind.minimum <= one <= kind.maximum]
        found = [int(one) for one in fitting] if isinstance(kind, Whole) else fitting
        found += ["none"] * kind.optional
    elif isinstance(kind, Many):
        items = [one for one in values(kind.item, None) if one != "none"]
        found = [
            [items[(first + n) % len(items)] for n in range(size)]
            for size in (1, 2, 3, 4)
            for first in range(len(items))
        ]
    return [
        json.loads(text)
        for text in dict.fromkeys(map(json.dumps, found))
        if text != json.dumps(now)
    ]


def parameters_of(path: str, value: Any) -> dict[str, Any]:
    """Return the parameters that set a field, with the kind of its table."""
    plain, _, kind = path.partition("|")
    table = plain.rpartition(".")[0]
    return {f"{table}.kind": kind, plain: value} if kind else {plain: value}


def changes(scenario: Scenario, path: str, value: Any) -> bool:
    """Return whether a field changes the digest of a run, or which goals it reaches and how often.

    Raises ScenarioError when the value is refused.
    """
    plain, _, kind = path.partition("|")
    changed = with_parameters(scenario, parameters_of(path, value))
    if kind:
        scenario = with_parameters(scenario, {f"{plain.rpartition('.')[0]}.kind": kind})
    return _seen(changed) != _seen(scenario)


@lru_cache(maxsize=256)
def _seen(scenario: Scenario) -> tuple[str, Mapping[str, int]]:
    result = run_world(scenario, seed=1)
    return result.run.digest, result.goals


def settled(group: str) -> set[str]:
    """Return the fields that are refused in a group, or that a run says it does not read."""
    world, _, plane = group.partition(" on ")
    link = LINKS[GROUPS[group]]
    places = (plane, PIPELINE, f"{PIPELINE} on {plane}") if world == "composed" else (plane,)
    paths = {
        f"{link.key}.{one.path.replace('[]', '[*]')}"
        for one in limits_of(link.model)
        if one.limit.place in places
    }
    fields = field_paths(GROUPS[group])
    return {field for field in fields if field in paths or field.rpartition("[*].")[0] in paths}


def scenario_named(name: str) -> Scenario:
    """Return a scenario of the library or of the settings of this test."""
    return SETTINGS[name]() if name in SETTINGS else by_name(name)


def _pool() -> dict[str, list[tuple[str, Scenario]]]:
    found: dict[str, list[tuple[float, str, Scenario]]] = {}
    named = [(name, make()) for name, make in SETTINGS.items()]
    for name, scenario in [*named, *((one.name, one) for one in all_scenarios())]:
        began = time.process_time()
        run_world(scenario, seed=1)
        taken = time.process_time() - began
        if taken < _RUN_S_MAX:
            found.setdefault(group_of(scenario), []).append((taken, name, scenario))
    return {
        group: [(name, scenario) for _, name, scenario in sorted(own, key=lambda one: one[0])]
        for group, own in found.items()
    }


def _places(path: str, scenario: Scenario) -> list[str]:
    """Return the path for all items of an array, and for each by itself."""
    head, star, tail = path.partition("[*]")
    held: Any = document.plain(scenario)
    for key in head.split("."):
        held = held.get(key) if isinstance(held, Mapping) else None
    if not star:
        return [path]
    return [path, *(f"{head}[{n}]{tail}" for n in range(len(held)))] if held else []


def witness(path: str, kind: Kind, pool: list[tuple[str, Scenario]]) -> list[Any] | str | None:
    """Return a scenario, a place and a value that show a field. A refusal, or None."""
    began, refusal, taken = time.process_time(), None, False
    for name, scenario in pool:
        for place in _places(path, scenario):
            for value in values(kind, _now(scenario, place)):
                if time.process_time() - began > _SECONDS_MAX:
                    return None if taken else refusal
                try:
                    if changes(scenario, place, value):
                        return [name, place, value]
                    taken = True
                except ScenarioError as error:
                    refusal = str(error.problems[0])
    return None if taken else refusal


def _now(scenario: Scenario, path: str) -> Any:
    held: Any = document.plain(scenario)
    for part in path.partition("|")[0].replace("[*]", ".0").replace("[", ".").split("."):
        key = part.rstrip("]")
        try:
            held = held[int(key)] if isinstance(held, list) else held[key]
        except (KeyError, IndexError, TypeError):
            return None
    return held


def main(groups: list[str]) -> None:
    """Look for witnesses of the groups named, or of all, and write them down."""
    found = json.loads(WITNESSES.read_text("utf-8")) if WITNESSES.exists() else {}
    for group, pool in _pool().items():
        if groups and group not in groups:
            continue
        own = found.setdefault(group, {})
        for path, kind in field_paths(GROUPS[group]).items():
            if path not in own and path not in settled(group):
                pool.sort(key=lambda one: one[0] not in SETTINGS)
                shown = witness(path, kind, pool)
                if isinstance(shown, list):
                    own[path] = shown
                    lines = json.dumps(found, indent=1, sort_keys=True)
                    WITNESSES.write_text(lines + "\n", "utf-8")
                else:
                    print(group, path, shown, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
