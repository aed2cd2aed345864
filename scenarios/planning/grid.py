"""Sweep plans: which points of a parameter space are run, with which seeds and tie policies.

A plan is a TOML file.  `[grid]` lists values per parameter and takes every combination, the first
parameter varying slowest. `[zip]` lists values of several parameters that change together and
varies fastest. `[overrides]` sets parameters for all points alike.  Cores and mutants are swept as
parameters are (`designs`).  Each point is run once per tie policy and replication.

With common random numbers (the default) replication r has the same seed at every point, so that
points can be compared pairwise with less noise.  Without them each point has seeds of its own,
derived from its parameters, so that they do not change when the plan grows.

An axis `core.SLOT` sweeps the core of a slot: `builtin`, or what `--core` takes.  The axis `mutant`
sweeps mutants of ours by name, with `none` for the right cores.  Scenarios know neither.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ckptsim.scenarios.catalogue import PLANS, by_name, is_file, shelf, text_of
from ckptsim.scenarios.dialect import At, Bad, read_keys, shown
from ckptsim.scenarios.errors import Problem, ScenarioError
from ckptsim.scenarios.files import canonical, parse
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.planning.plan_keys import ENTRIES, SCENARIO_AXIS
from ckptsim.scenarios.planning.vary import with_parameters
from ckptsim.scenarios.spec import Link, Scenario

MUTANT_AXIS = "mutant"
CORE_AXIS = "core"
BUILT_IN = "builtin"
NO_MUTANT = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What runs a point in place of our cores: slot -> what `--core` takes, and a mutant."""

    cores: Mapping[str, str] = field(default_factory=dict)
    mutant: str | None = None


def is_design(path: str) -> bool:
    """Return whether a path of a plan sweeps cores or mutants, and no parameter of a scenario."""
    return path == MUTANT_AXIS or path.partition(".")[0] == CORE_AXIS


def slot_of(path: str) -> str:
    """Return the slot that a path sweeps. Empty for mutants, and where a path names none."""
    return path.partition(".")[2]


def design_of(values: Mapping[str, object]) -> Design:
    """Return the design among the values of a point. Its other values are of the scenario."""
    cores = {
        slot_of(path): str(value)
        for path, value in values.items()
        if is_design(path) and path != MUTANT_AXIS and value != BUILT_IN
    }
    mutant = values.get(MUTANT_AXIS, NO_MUTANT)
    return Design(cores=cores, mutant=None if mutant == NO_MUTANT else str(mutant))


def without_designs(values: Mapping[str, object]) -> dict[str, object]:
    """Return the values of a point that are parameters of its scenario."""
    return {path: value for path, value in values.items() if not is_design(path)}


MOST_POINTS = 100_000
MOST_RUNS = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A sweep plan as written. `grid`, `zip` and `overrides` are keyed by parameter paths.

    question: what the sweep asks. answers: the names of the metrics that answer it. words: what
    swept parameters are called, by path.  folder: of the plan's file, from where the user is. Empty
    for a plan without a file.
    """

    name: str
    says: str
    question: str
    answers: tuple[str, ...]
    words: Mapping[str, str]
    scenario: str
    grid: Mapping[str, tuple[object, ...]]
    zip: Mapping[str, tuple[object, ...]]
    overrides: Mapping[str, object]
    seeds: tuple[int, ...]
    first_seed: int
    replications: int
    ties: tuple[str, ...]
    common_random_numbers: bool
    source: str
    folder: str = ""

    @property
    def axes(self) -> tuple[str, ...]:
        """The paths of the swept parameters, the slowest varying first."""
        return (*self.grid, *self.zip)

    def reached(self, scenario: str) -> str:
        """Return a scenario that the plan names as one names it from where the user is."""
        return str(Path(self.folder, scenario)) if is_file(scenario) else scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One point: `parameters` is the canonical JSON of the swept ones, `design` its cores."""

    index: int
    parameters: str
    scenario: Scenario
    design: Design = field(default_factory=Design)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a plan. `replication` counts from 0 and pairs runs of different points."""

    point: Point
    replication: int
    seed: int
    ties: str


def load_plan(name: str) -> Plan:
    """Return the plan of that name or path. Raises ScenarioError with every problem found."""
    source, text = text_of(name, PLANS)
    return plan_from(parse(text, source), source=source, folder=folder_of(name))


def folder_of(name: str) -> str:
    """Return the folder from which the paths in a plan lead, by the plan's name or path."""
    return "" if name in shelf(PLANS) else str(Path(name).parent)


def all_plans() -> list[Plan]:
    """Return all sweep plans of the library, by name."""
    return [load_plan(name) for name in sorted(shelf(PLANS))]


def is_plan(found: Mapping[str, object]) -> bool:
    """Return whether a document is meant as a plan, rather than as a scenario."""
    return "scenario" in found and "link" not in found


def plan_from(found: Mapping[str, object], *, source: str, folder: str = "") -> Plan:
    """Return the plan in a document. folder: where its paths begin. Raises ScenarioError."""
    problems: list[Problem] = []
    at = At(source, "", problems)
    values = read_keys(ENTRIES, found, at)
    if isinstance(values, Bad):
        raise ScenarioError(problems)
    given = {entry.name: entry.default for entry in ENTRIES} | values
    plan = Plan(source=source, folder=folder, **given)  # type: ignore[arg-type]
    _check(plan, at, given_keys=frozenset(found))
    if problems:
        raise ScenarioError(problems)
    return plan


def document_of(plan: Plan, folder: str = "") -> dict[str, object]:
    """Return a plan as its file, without defaults. folder: where its paths lead from."""
    found: dict[str, object] = {}
    for entry in ENTRIES:
        value = getattr(plan, entry.name)
        if value not in (entry.default, ()):
            found[entry.name] = list(value) if isinstance(value, tuple) else value
    if plan.seeds:
        found.pop("replications", None)
        found.pop("first_seed", None)
    found["scenario"] = _from(plan, plan.scenario, folder)
    for table in ("grid", "zip"):
        if table in found:
            axes: Mapping[str, tuple[object, ...]] = getattr(plan, table)
            found[table] = {
                path: [
                    _from(plan, str(one), folder) if path == SCENARIO_AXIS else one
                    for one in values
                ]
                for path, values in axes.items()
            }
    return found


def _from(plan: Plan, scenario: str, folder: str) -> str:
    reached = plan.reached(scenario)
    if not is_file(scenario) or Path(reached).is_absolute():
        return reached
    path = os.path.relpath(reached, folder or ".")
    return path if is_file(path) else f"./{path}"


def _check(plan: Plan, at: At, *, given_keys: frozenset[str]) -> None:
    lengths = {len(values) for values in plan.zip.values()}
    if len(lengths) > 1:
        each = ", ".join(f"{path}: {len(values)}" for path, values in plan.zip.items())
        at.key("zip").note(f"arrays of different lengths ({each})", "arrays of one length")
    for path in plan.zip:
        if path in plan.grid:
            at.key("zip").note(f"{path}, which [grid] sweeps too", "each parameter in one of them")
    for path in plan.overrides:
        if path in plan.axes:
            at.key("overrides").note(f"{path}, which is swept", "parameters that are not swept")
    for path in plan.words:
        if path not in plan.axes:
            at.key("words").note(f"{path}, which is not swept", "parameters that are swept")
    _check_designs(plan, at)
    for key in sorted({"first_seed", "replications"} & given_keys):
        if plan.seeds:
            at.key(key).note("a value beside seeds", "either seeds or first_seed and replications")
    size = size_of(plan)
    if size.points > MOST_POINTS:
        at.key("grid").note(f"{size.points} points", f"at most {MOST_POINTS}")
    elif size.runs > MOST_RUNS:
        at.note(f"{size.runs} runs", f"points x ties x replications of at most {MOST_RUNS}")


def _check_designs(plan: Plan, at: At) -> None:
    for table in ("grid", "zip", "overrides"):
        for path, given in getattr(plan, table).items():
            values = given if isinstance(given, tuple) else (given,)
            if is_design(path) and not all(isinstance(value, str) and value for value in values):
                found = ", ".join(map(shown, values))
                at.key(table).key(path).note(found, "names of cores or mutants, as texts")


def points(
    plan: Plan, *, links: Mapping[str, Link] = LINKS, most: int | None = None
) -> list[Point]:
    """Return a plan's (first) points in order. Raises ScenarioError with every problem, once."""
    bases = _bases(plan, links)
    found: list[Point] = []
    problems: dict[Problem, None] = {}
    for index, chosen in enumerate(itertools.islice(_combinations(plan), most)):
        values = {path: plan_values(plan)[path][place] for path, place in chosen.items()}
        name = str(values.get(SCENARIO_AXIS, plan.scenario))
        swept = {path: value for path, value in values.items() if path != SCENARIO_AXIS}
        every = {**plan.overrides, **swept}
        try:
            scenario = with_parameters(
                bases[name], without_designs(every), source=plan.source, links=links
            )
        except ScenarioError as error:
            problems |= dict.fromkeys(_at_home(plan, p, chosen, index) for p in error.problems)
            continue
        parameters, design = _canonical(values), design_of(every)
        found.append(Point(index=index, parameters=parameters, scenario=scenario, design=design))
    if problems:
        raise ScenarioError(list(problems))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much a plan is, by multiplication alone."""

    points: int
    ties: int
    replications: int

    @property
    def runs(self) -> int:
        """Return the number of all runs."""
        return self.points * self.ties * self.replications

    def __str__(self) -> str:
        ties = f" x {self.ties} tie policies" if self.ties > 1 else ""
        counts = f"{self.points:,} points x {self.replications:,} replications{ties}"
        return f"{counts} = {self.runs:,} runs"


def size_of(plan: Plan) -> Size:
    """Return how much a plan is, without making any of it."""
    rows = min((len(values) for values in plan.zip.values()), default=1)
    return Size(
        points=math.prod(len(values) for values in plan.grid.values()) * rows,
        ties=len(plan.ties),
        replications=len(plan.seeds) or plan.replications,
    )


def scenarios_of(plan: Plan, *, links: Mapping[str, Link] = LINKS) -> list[Scenario]:
    """Return every scenario that a plan names. Raises ScenarioError with every problem found."""
    return list(_bases(plan, links).values())


def plan_values(plan: Plan) -> dict[str, tuple[object, ...]]:
    """Return the values of each swept parameter by its path."""
    return {**plan.grid, **plan.zip}


def _canonical(values: Mapping[str, object]) -> str:
    return canonical(dict(values))


def _bases(plan: Plan, links: Mapping[str, Link]) -> dict[str, Scenario]:
    names = dict.fromkeys([plan.scenario, *map(str, plan_values(plan).get(SCENARIO_AXIS, ()))])
    problems: list[Problem] = []
    bases: dict[str, Scenario] = {}
    for name in names:
        try:
            bases[name] = by_name(plan.reached(name), links=links)
        except ScenarioError as error:
            where = f"{plan.source}: scenario: "
            problems.extend(Problem(where + p.path, p.found, p.expected) for p in error.problems)
    if problems:
        raise ScenarioError(problems)
    return bases


def _combinations(plan: Plan) -> Iterator[dict[str, int]]:
    axes = [[{path: place} for place in range(len(values))] for path, values in plan.grid.items()]
    if plan.zip:
        length = min(len(values) for values in plan.zip.values())
        axes.append([dict.fromkeys(plan.zip, place) for place in range(length)])
    for choice in itertools.product(*axes):
        yield {path: place for part in choice for path, place in part.items()}


def _at_home(plan: Plan, problem: Problem, chosen: Mapping[str, int], index: int) -> Problem:
    """Return a point's problem with its place in the plan: the value that caused it, if one did."""
    path = problem.path.removeprefix(f"{plan.source}: ")
    for axis, place in chosen.items():
        if path == axis or path.startswith((f"{axis}.", f"{axis}[")):
            table = "grid" if axis in plan.grid else "zip"
            full = f'{plan.source}: {table}."{axis}"[{place}]{path.removeprefix(axis)}'
            return Problem(full, problem.found, problem.expected)
    if any(path == key or path.startswith((f"{key}.", f"{key}[")) for key in plan.overrides):
        return Problem(f"{plan.source}: overrides: {path}", problem.found, problem.expected)
    full = f"{plan.source}: point {index}: {path}"
    return Problem(full, problem.found, problem.expected)


def runs(plan: Plan, *, links: Mapping[str, Link] = LINKS) -> list[Run]:
    """Return the runs of a plan in order: by point, then by tie policy, then by replication."""
    return [
        Run(point=point, replication=replication, seed=seed, ties=ties)
        for point in points(plan, links=links)
        for ties in plan.ties
        for replication, seed in enumerate(_seeds(plan, point))
    ]


def _seeds(plan: Plan, point: Point) -> list[int]:
    common = list(plan.seeds) or [plan.first_seed + r for r in range(plan.replications)]
    if plan.common_random_numbers:
        return common
    return [_own_seed(seed, point.parameters) for seed in common]


def _own_seed(seed: int, parameters: str) -> int:
    """Derive a seed of 62 bits from the plan's seed and the point's parameters."""
    digest = hashlib.blake2b(f"{seed}|{parameters}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 2
