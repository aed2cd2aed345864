"""Scenarios from Python: load, look up, vary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ckptsim.scenarios import Scenario
from ckptsim.scenarios import loads as scenario_in
from ckptsim.scenarios.catalogue import all_names, by_name
from ckptsim.scenarios.files import to_toml
from ckptsim.scenarios.planning import with_parameters


def load(source: str | Path) -> Scenario:
    """Return a scenario of the library by its name, or the one in the TOML file at a path.

    A name is what `ckptsim list` shows; a path ends in `.toml` or has a slash.
    Raises ScenarioError, with every problem found, each with its path, what was found and what was
    expected.
    """
    return by_name(str(source))


def loads(text: str, *, source: str = "text") -> Scenario:
    """Return the scenario in a TOML text; `source` names the text in errors.

    Raises ScenarioError with every problem found.
    """
    return scenario_in(text, source=source)


def dumps(scenario: Scenario) -> str:
    """Return a scenario as the TOML text of a file that `load` takes, without the defaults."""
    return to_toml(scenario)


def library() -> Mapping[str, Scenario]:
    """Return the scenarios that come with the program, by name in alphabetical order.

    A scenario is loaded when it is looked up: `library()["reference"]`, `list(library())`.
    """
    return _Library()


def vary(scenario: Scenario | str | Path, parameters: Mapping[str, object]) -> Scenario:
    """Return a scenario with some parameters set, each by its path; the original stays as it is.

    scenario: one, or what `load` takes; parameters: path -> value, such as
    `{"sync.sockets.count": 4, "faults[0].at": "20 ms"}`.  A path with `[*]` sets every item of an
    array.  A key without its unit takes a text with one, a key such as `at_ns` takes the number.
    Raises ScenarioError with every problem found, as if the result had been a file.
    """
    return with_parameters(scenario_of(scenario), parameters)


def scenario_of(scenario: Scenario | str | Path) -> Scenario:
    """Return the scenario itself, or the one that a name or path means."""
    return scenario if isinstance(scenario, Scenario) else load(scenario)


class _Library(Mapping[str, Scenario]):
    """The library as a mapping that loads what is looked up."""

    def __getitem__(self, name: str) -> Scenario:
        if name not in all_names():
            raise KeyError(name)
        return by_name(name)

    def __iter__(self) -> Iterator[str]:
        return iter(all_names())

    def __len__(self) -> int:
        return len(all_names())
