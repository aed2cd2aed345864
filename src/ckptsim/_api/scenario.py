"""Scenarios from Python: load, look up, write, change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from ckptsim import scenarios
from ckptsim._api.result import Facts, facts_html, facts_text, nanoseconds
from ckptsim.scenarios import LINKS, Problem, ScenarioError, UserError
from ckptsim.scenarios.catalogue import all_names, by_name
from ckptsim.scenarios.composed import Pipeline
from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.files import plain, read, to_toml
from ckptsim.scenarios.job import Job
from ckptsim.scenarios.planning import assignments, with_parameters
from ckptsim.scenarios.store import StoreModel
from ckptsim.scenarios.sync import SyncModel

Value: TypeAlias = object
"""A value of an option: a text with its unit, a number, a bool, a timedelta, a list or a table."""

Named: TypeAlias = scenarios.Scenario | str | Path
"""A scenario, the name of one in the library, or the path of its file."""

ModelT = TypeVar("ModelT")
_SHOWN = 8  # vertices
_TABLE = re.compile(r"[.\[]")
_UNIT = re.compile(r"_(?:ns|bytes|per_s|bytes_per_s)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a scenario was loaded from, and which parameters were set since, by path."""

    source: str
    parameters: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Scenario(scenarios.Scenario):
    """One scenario. Everything that decides a run except seed and tie policy.

    It is frozen: `with_` returns a changed one.  One that you make yourself is checked as a file
    is. A wrong value raises ScenarioError with every problem found.
    origin: its file or name with later settings, for commands that repeat a run of it. None for one
    that you made.
    """

    origin: Origin | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Check the values, as the loader does."""
        if self.link not in LINKS:
            expected = f"one of {', '.join(LINKS)}"
            raise ScenarioError([Problem("Scenario: link", repr(self.link), expected)])
        model = LINKS[self.link].model
        if not isinstance(self.model, model):
            found = type(self.model).__name__
            raise ScenarioError([Problem("Scenario: model", found, f"a {model.__name__}")])
        read(plain(self), source="Scenario")

    def with_(self, changes: Mapping[str, Value] | None = None, /, **options: Value) -> Scenario:
        """Return the scenario with some options set. This one stays as it is.

        An option has the name that `--set` takes: a path of ours such as `job.network.latency`, the
        end of one where only one path ends so (`interval`), Flink's name, or
        `vertices.NAME.KEY`.  A name with dots goes into a mapping, or after `**`.
        Raises ScenarioError with every problem found.
        """
        wanted = {**(changes or {}), **options}
        set_now = parameters(self, wanted)
        found = with_parameters(scenario_of(self), set_now) if set_now else self
        if self.origin is None:
            return wrapped(found)
        again = {_UNIT.sub("", path) for path in set_now}
        kept = {p: v for p, v in self.origin.parameters.items() if _UNIT.sub("", p) not in again}
        origin = replace(self.origin, parameters={**kept, **set_now})
        return wrapped(found, origin)

    @property
    def job(self) -> Job:
        """The job. Raises UserError for a scenario of another kind."""
        return self._model(Job)

    @property
    def sync(self) -> SyncModel:
        """The sync. Raises UserError for a scenario of another kind."""
        return self._model(SyncModel)

    @property
    def store(self) -> StoreModel:
        """The checkpoint store. Raises UserError for a scenario of another kind."""
        return self._model(StoreModel)

    @property
    def pipeline(self) -> Pipeline:
        """The composed pipeline. Raises UserError for a scenario of another kind."""
        return self._model(Pipeline)

    def _model(self, kind: type[ModelT]) -> ModelT:
        if not isinstance(self.model, kind):
            found, expected = type(self.model).__name__, kind.__name__
            raise UserError(f"{self.name}: found a {found}, expected a {expected}")
        return self.model

    def _facts(self) -> Facts:
        facts: list[tuple[str, object]] = [
            ("name", f"{self.name} ({self.link})"),
            ("says", self.says),
        ]
        if isinstance(self.model, Job):
            vertices = [f"{v.name} x {v.parallelism}" for v in self.model.vertices]
            more = f" and {len(vertices) - _SHOWN} more" if len(vertices) > _SHOWN else ""
            every = self.model.checkpointing
            interval = duration_text(every.interval_ns)
            facts += [
                ("vertices", ", ".join(vertices[:_SHOWN]) + more),
                ("checkpoints", f"{every.mode} every {interval}"),
            ]
        if self.faults:
            facts.append(("faults", ", ".join(type(fault).__name__ for fault in self.faults)))
        if self.violates:
            facts.append(("violates", ", ".join(self.violates)))
        return facts

    def __repr__(self) -> str:
        return facts_text("Scenario", self._facts())

    def _repr_html_(self) -> str:
        return facts_html("Scenario", self._facts())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, scenarios.Scenario):
            return NotImplemented
        return _values(self) == _values(other)

    def __hash__(self) -> int:
        return hash(tuple(_values(self).values()))


def load(source: str | Path) -> Scenario:
    """Return a scenario of the library by its name, or the one in the TOML file at a path.

    A name is what `ckptsim list` shows. A path ends in `.toml` or has a slash. Raises
    ScenarioError, with every problem found, each with its path, the value found and the value
    expected.
    """
    return wrapped(by_name(str(source)), Origin(source=str(source)))


def loads(text: str, *, source: str = "text") -> Scenario:
    """Return the scenario in a TOML text of that name. Raises ScenarioError."""
    return wrapped(scenarios.loads(text, source=source))


def dumps(scenario: scenarios.Scenario) -> str:
    """Return a scenario as the TOML text of a file that `load` takes, without the defaults."""
    return to_toml(scenario)


def library() -> Mapping[str, Scenario]:
    """Return the scenarios of the program by name, in alphabetical order, loaded when looked up."""
    return _Library()


def vary(scenario: Named, parameters: Mapping[str, Value]) -> Scenario:
    """Return a scenario with some options set. The same as its method `with_`.

    scenario: one, or what `load` takes. parameters: option -> value, such as
    `{"sync.sockets.count": 4, "faults[0].at": "20 ms"}`.  A path with `[*]` sets every item of an
    array.  A key without its unit takes a text with one, a key such as `at_ns` takes the number.
    Raises ScenarioError with every problem found, as if the result had been a file.
    """
    found = scenario if isinstance(scenario, scenarios.Scenario) else load(scenario)
    found = found if isinstance(found, Scenario) else wrapped(found)
    return found.with_(parameters)


def scenario_of(scenario: Named) -> scenarios.Scenario:
    """Return the scenario that is meant, as the program has it: without the methods of ours."""
    if isinstance(scenario, Scenario):
        return scenarios.Scenario(**_values(scenario))
    return scenario if isinstance(scenario, scenarios.Scenario) else by_name(str(scenario))


def wrapped(scenario: scenarios.Scenario, origin: Origin | None = None) -> Scenario:
    """Return a scenario that was checked already, with the methods of ours."""
    found = object.__new__(Scenario)
    object.__setattr__(found, "origin", origin)
    for name, value in _values(scenario).items():
        object.__setattr__(found, name, value)
    return found


def parameters(scenario: scenarios.Scenario, options: Mapping[str, Value]) -> dict[str, object]:
    """Return what options come to, by paths of ours. Raises ScenarioError."""
    scalars = {n: v for n, v in options.items() if not isinstance(v, Mapping | list | tuple)}
    words = [f"{name}={text_of(value)}" for name, value in scalars.items()]
    tables = {_TABLE.split(path)[0] for path in plain(scenario)}
    try:
        if all(_TABLE.split(name)[0] in tables for name in scalars):
            found = assignments(words)
        else:
            from ckptsim.sim.infer.change import parameters_of  # with all that infers a job

            found = parameters_of(scenario, words)
    except ScenarioError as error:
        raise ScenarioError([_here(problem) for problem in error.problems]) from error
    return found | {n: _listed(v) for n, v in options.items() if n not in scalars}


def text_of(value: Value) -> str:
    """Return a value as `--set` has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, timedelta):
        return f"{nanoseconds(value, 'value')} ns"
    return "none" if value is None else str(value)


def _listed(value: Value) -> Value:
    return list(value) if isinstance(value, tuple) else value


def _here(problem: Problem) -> Problem:
    path = problem.path.removeprefix("--set").strip()
    return Problem(f"parameters: {path}".rstrip(": "), problem.found, problem.expected)


def _values(scenario: scenarios.Scenario) -> dict[str, Any]:
    return {one.name: getattr(scenario, one.name) for one in fields(scenarios.Scenario)}


class _Library(Mapping[str, Scenario]):
    def __getitem__(self, name: str) -> Scenario:
        if name not in all_names():
            raise KeyError(name)
        return load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(all_names())

    def __len__(self) -> int:
        return len(all_names())
