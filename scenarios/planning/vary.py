"""Vary a scenario: set some of its parameters by path, with the loader's checks.

A path names a parameter as in error texts: `sync.sockets.count`, `faults[0].at`. `[*]` represents
every item of an array: `sync.streams[*].records`.  Items that have a name are found by it, too:
`job.vertices[keyed].state`.  Short keys take values with a unit, as in files.  Setting the `kind`
of a table begins it anew, setting a whole table or array replaces it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from ckptsim.scenarios.dialect import (
    NONE_TEXT,
    At,
    Entry,
    Kind,
    Many,
    Nested,
    OneOf,
    one_of,
    schema,
    shown,
    suggestion,
)
from ckptsim.scenarios.errors import Problem, ScenarioError
from ckptsim.scenarios.fields import NAME_PATTERN
from ckptsim.scenarios.files import document
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.spec import Link, Scenario

_STEP = re.compile(
    rf"(?:^|\.)([A-Za-z0-9_-]+)|\[([0-9]{{1,6}}|\*)\]|\[({NAME_PATTERN})\]", re.ASCII
)
EVERY = "*"


def with_parameters(
    scenario: Scenario,
    parameters: Mapping[str, object],
    *,
    source: str = "parameters",
    links: Mapping[str, Link] = LINKS,
) -> Scenario:
    """Return the scenario with parameters set by path. Raises ScenarioError as a file does."""
    link = links[scenario.link]
    base = document.plain(scenario, links)
    problems: list[Problem] = []
    named: dict[str, str] = {}
    for path in sorted(parameters, key=_rank):
        steps = _steps(path)
        if not steps:
            expected = "a path such as sync.sockets.count or faults[0].at"
            problems.append(Problem(source, shown(path), expected))
            continue
        at = At(source, "", problems, link.renamed)
        steps = _numbered(base, steps, at, named)
        if steps:
            _set(document.entries(link), base, steps, parameters[path], at)
    try:
        varied = document.read(base, source=source, links=links)
    except ScenarioError as error:
        problems.extend(error.problems)
    if problems:
        raise ScenarioError([_by_name(problem, source, named) for problem in problems])
    return varied


class ItemName(str):
    """The name of an item of an array, as a step of a path."""

    __slots__ = ()


def _numbered(
    base: object, steps: list[str | int], at: At, named: dict[str, str]
) -> list[str | int]:
    """Return the steps with indexes in place of names, or nothing for an unknown name."""
    held: Any = base
    found: list[str | int] = []
    for step in steps:
        if isinstance(step, ItemName):
            items = held if isinstance(held, list) else []
            names = [str(item["name"]) for item in items if "name" in item]
            if step not in names:
                expected = one_of(step, names) if names else "an index or a key"
                at.note(f'"{step}"', expected)
                return []
            found.append(names.index(step))
            named[f"{at.path}[{found[-1]}]"] = f"{at.path}[{step}]"
            at = at.item(names.index(step))
        else:
            found.append(step)
            at = at.item(step) if isinstance(step, int) else at.key(step)
        held = _held(held, found[-1])
    return found


def _held(held: object, step: str | int) -> Any:
    """Return what a document holds at a step. An empty table where there is no such thing."""
    if isinstance(held, dict):
        return held.get(step, {})
    here = isinstance(held, list) and isinstance(step, int) and step < len(held)
    return held[step] if here else {}  # type: ignore[index]


def _by_name(problem: Problem, source: str, named: Mapping[str, str]) -> Problem:
    """Return a problem with its place as it was written, by the names of items."""
    head = f"{source}: "
    for place, written in named.items():
        if problem.path.startswith(head + place):
            rest = problem.path.removeprefix(head + place)
            return Problem(head + written + rest, problem.found, problem.expected)
    return problem


def assignments(words: Sequence[str]) -> dict[str, object]:
    """Return the parameters that words such as `sync.sockets.count=4` set.

    A value is read as TOML. A value that is none, such as `10 ms`, is taken as a text.  Raises
    ScenarioError with every word that is no assignment, and for a path that is set twice.
    """
    found: dict[str, object] = {}
    problems: list[Problem] = []
    for word in words:
        path, equals, value = word.partition("=")
        path = path.strip()
        if not equals or not _steps(path):
            problems.append(Problem("--set", shown(word), "PATH=VALUE"))
        elif path in found:
            problems.append(Problem(f"--set {path}", shown(value), "one value"))
        else:
            found[path] = _toml_value(value.strip())
    if problems:
        raise ScenarioError(problems)
    return found


def _toml_value(text: str) -> object:
    try:
        found = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return found["value"] if len(found) == 1 else text


def _rank(path: str) -> tuple[int, bool]:
    """Order wider paths before those inside, and a table's kind before its other keys."""
    return len(_steps(path)), not path.endswith(".kind")


def is_path(path: str) -> bool:
    """Return whether a text has the form of a parameter's path."""
    return bool(_steps(path))


def _steps(path: str) -> list[str | int]:
    """Split a path into keys and indexes. Empty when it is not a path."""
    steps: list[str | int] = []
    position = 0
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None or (not match[1] and not steps):
            return []
        key, index, name = match.groups()
        if name is not None:
            steps.append(ItemName(name))
        else:
            steps.append(key or (EVERY if index == EVERY else int(index)))
        position = match.end()
    return steps


def _set(
    entries: Sequence[Entry], table: Any, steps: list[str | int], value: object, at: At
) -> None:
    """Set a value inside a table with known keys. Note where the path leads nowhere."""
    key = str(steps[0])
    entry = next((entry for entry in entries if key in (entry.name, entry.short)), None)
    if entry is None:
        keys = [name for e in entries for name in (e.short, e.name) if name]
        shortest = ", ".join(e.short or e.name for e in entries)
        whole = at.key(key)
        for step in steps[1:]:
            whole = whole.key(step) if isinstance(step, str) and step != EVERY else whole.item(0)
        place = at.key(key) if at.renamed(whole.path) is None else whole
        place.refuse_key(None, f"one of {shortest}{suggestion(key, keys)}")
    elif len(steps) > 1:
        _set_inside(entry.kind, (table, entry.name), steps[1:], value, at.key(key))
    else:
        # The key that is already there goes away, so that the other spelling is not a second one.
        table.pop(entry.name, None)
        table[key] = value


def _set_inside(
    kind: Kind, place: tuple[Any, str | int], steps: list[str | int], value: object, at: At
) -> None:
    """Set a value inside `holder[key]`of a known kind."""
    holder, key = place
    held = holder.get(key) if isinstance(holder, dict) else holder[key]
    step = steps[0]
    if isinstance(kind, Many) and isinstance(held, list):
        _set_items(kind, held, steps, value, at)
    elif isinstance(kind, OneOf) and step == "kind" and len(steps) == 1:
        if not isinstance(held, dict) or held.get("kind") != value:
            holder[key] = {"kind": value}
    elif isinstance(kind, Nested | OneOf) and isinstance(step, str) and step != EVERY:
        if held == NONE_TEXT:
            held = holder[key] = {}
        if not isinstance(held, dict):
            return  # another parameter put something else here, which the loader will refuse
        table = kind.table if isinstance(kind, Nested) else kind.tables.get(str(held.get("kind")))
        if table is None:
            at.note("no such table", f"{at.path}.kind to be set too")
        else:
            _set(schema(table), held, steps, value, at)
    else:
        at.note("a path beyond this", kind.expected())


def _set_items(kind: Many, items: list[Any], steps: list[str | int], value: object, at: At) -> None:
    step = steps[0]
    indexes = range(len(items)) if step == EVERY else [step]
    if isinstance(step, str) and step != EVERY:
        at.note(f"the key {step}", f"an index, such as {at.path}[0] or {at.path}[{EVERY}]")
        return
    for index in indexes:
        if not isinstance(index, int) or index >= len(items):
            at.item(index if isinstance(index, int) else 0).note(
                "an index beyond the end", f"at most {len(items) - 1}"
            )
        elif len(steps) == 1:
            items[index] = value
        else:
            _set_inside(kind.item, (items, index), steps[1:], value, at.item(index))
