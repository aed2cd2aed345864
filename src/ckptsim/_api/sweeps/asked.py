"""The plan that is asked for: one that is named, or a scenario with options that vary."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ckptsim._api.scenario import Named, Value, scenario_of
from ckptsim._api.scenario import Scenario as ApiScenario
from ckptsim._api.scenario import text_of as option_text
from ckptsim._api.subject import Cores, cores_of
from ckptsim.scenarios import Problem, Scenario, scenario_key
from ckptsim.scenarios.catalogue import LIBRARY, PLANS, by_name, text_of
from ckptsim.scenarios.dialect import suggestion
from ckptsim.scenarios.errors import ScenarioError, UserError
from ckptsim.scenarios.files import (
    cost_parameters,
    load_costs,
    parse,
    to_toml,
    write,
    written_whole,
)
from ckptsim.scenarios.planning import (
    CORE_AXIS,
    METRICS,
    SCENARIO_AXIS,
    Plan,
    document_of,
    is_design,
    is_plan,
    load_plan,
    plan_from,
    scenarios_of,
    with_parameters,
)
from ckptsim.sim.infer.change import axis_of, parameters_of
from ckptsim.sim.slots.resolve import name_of, read_cores

_UNIT = re.compile(r"_(?:ns|bytes|per_s|bytes_per_s)$")
_SAYS_MAX = 300  # characters, as a plan's file has it
_SEVERAL = 2
_SEEDS = 10
_KEY = 8  # digits of the name of a file


def asked_plan(
    name: str,
    *,
    vary: Mapping[str, Sequence[str]],
    change: Sequence[str] = (),
    seeds: int | None = None,
    costs: Path | None = None,
    metrics: Sequence[str] = (),
) -> Plan:
    """Return the plan that is named, or one of the scenario that is varied, as it was asked for.

    vary: option -> values. change: words such as `--set` has.  seeds: of each point. costs: a file
    of measured costs. metrics: those that answer.
    Raises ScenarioError for parameters and values that cannot be, UserError for designs.
    """
    for metric in metrics:
        if metric not in METRICS:
            expected = f"one of {', '.join(METRICS)}{suggestion(metric, METRICS)}"
            raise UserError(f"--metric: found {metric!r}, expected {expected}")
    plan = _of_scenario(name, list(vary)) if vary else None
    plan = plan or load_plan(name)
    if seeds is not None:
        plan = replace(plan, replications=seeds, seeds=())
    overrides: dict[str, object] = {}
    grid: dict[str, tuple[object, ...]] = {}
    words: dict[str, str] = {}
    for scenario in scenarios_of(plan):
        designs, others = designs_set(scenario, change)
        overrides |= {**designs, **parameters_of(scenario, others)}
        for option, path, values in _axes(scenario, vary):
            grid[path] = values
            if option != path and "." not in option:
                words[path] = option.replace("_", " ").replace("-", " ")
    swept = {_plain(path) for path in plan.axes}
    twice = [path for path in (*overrides, *grid) if _plain(path) in swept]
    twice += [path for path in overrides if _plain(path) in {_plain(one) for one in grid}]
    if twice:
        raise UserError(f"--set, --vary: found {twice[0]}, which is swept already")
    replaced = {_plain(path) for path in (*overrides, *grid)}
    own = {path: value for path, value in plan.overrides.items() if _plain(path) not in replaced}
    plan = replace(
        plan,
        overrides={**own, **overrides},
        grid={**plan.grid, **grid},
        words={**words, **plan.words},
        answers=tuple(metrics) or plan.answers,
    )
    if costs is not None:
        plan = with_costs(plan, load_costs(costs))
    # As if it had been a file: what a plan must not be, this one must not be either.
    return plan_from(document_of(plan, plan.folder), source=plan.source, folder=plan.folder)


def save_plan(plan: Plan, path: Path) -> None:
    """Write a plan as a file that sweeps the same."""
    written_whole(path, write(document_of(plan, str(path.parent))))


def _of_scenario(name: str, options: Sequence[str]) -> Plan | None:
    """Return a plan of a scenario without any axis yet. None for the name of a plan."""
    source, text = text_of(name, PLANS, LIBRARY)
    document = parse(text, source)
    if is_plan(document):
        return None
    scenario = by_name(name)
    *first, last = options
    axes = f"{', '.join(first)} and {last}" if first else last
    about = {
        "name": scenario.name,
        "scenario": name,
        "says": scenario.says[:_SAYS_MAX],
        "question": f"What changes with {axes}?"[:_SAYS_MAX],
    }
    return plan_from(about, source="--vary")


def _axes(
    scenario: Scenario, vary: Mapping[str, Sequence[str]]
) -> list[tuple[str, str, tuple[object, ...]]]:
    """Return what `--vary` calls each axis, its path, and its values."""
    found: list[tuple[str, str, tuple[object, ...]]] = []
    for option, texts in vary.items():
        if not all(texts):
            raise UserError(f"--vary {option}: found no value between two commas, expected one")
        if len(set(texts)) < len(texts):
            raise UserError(f"--vary {option}: found a value twice, expected each once")
        if option == SCENARIO_AXIS or is_design(option):
            path = option if option == SCENARIO_AXIS else design_path(option, scenario)
            found.append((option, path, tuple(texts)))
        else:
            found.append((option, *axis_of(scenario, option, texts)))
    return found


def designs_set(scenario: Scenario, words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return the designs that words such as `core.SLOT=MODULE:FACTORY` and `mutant=NAME` set.

    They come by the paths of plans, and with them the words that set anything else.
    Raises UserError where a word names no slot, and the scenario has several or none.
    """
    found: dict[str, str] = {}
    others: list[str] = []
    for word in words:
        path, equals, value = word.partition("=")
        if equals and is_design(path.strip()):
            found[design_path(path.strip(), scenario)] = value.strip()
        else:
            others.append(word)
    return found, others


def design_path(path: str, scenario: Scenario) -> str:
    """Return the path of a plan for a design. `core` alone means the only slot that there is."""
    if path != CORE_AXIS:
        return path
    (slot,) = read_cores(["of:any"], (scenario.world,))
    return f"{CORE_AXIS}.{slot}"


def with_costs(plan: Plan, costs: Mapping[str, object]) -> Plan:
    """Return the plan with measured costs at all points, except those that it sweeps."""
    links = {scenario.link for scenario in scenarios_of(plan)}
    measured: dict[str, object] = {}
    for link in sorted(links):
        measured |= cost_parameters(costs, link)
    if len(links) >= _SEVERAL:
        found = " and ".join(f"'{link}'" for link in sorted(links))
        raise UserError(
            f"--costs: found scenarios of links {found}, expected scenarios of one link"
        )
    swept = {_plain(path) for path in plan.axes}
    kept = {path: value for path, value in measured.items() if _plain(path) not in swept}
    replaced = {_plain(path) for path in kept}
    own = {path: v for path, v in plan.overrides.items() if _plain(path) not in replaced}
    return replace(plan, overrides={**own, **kept})


def _plain(path: str) -> str:
    return _UNIT.sub("", path)


# From Python -------------------------------------------------------------------------------------


def plan_of(
    plan: Plan | Mapping[str, object] | Named,
    *,
    vary: Mapping[str, Sequence[Value]],
    change: Mapping[str, Value],
    seeds: int | None,
    costs: str | Path | None,
    metrics: Sequence[str],
    base: Path,
) -> tuple[Plan, dict[str, str]]:
    """Return the plan that is asked for, and how its swept parameters were called, by path."""
    if isinstance(plan, Plan | Mapping):
        if vary or change or metrics or costs is not None:
            raise UserError("sweep: found vary, set, core or costs beside a plan, expected its own")
        found = plan if isinstance(plan, Plan) else plan_from(plan, source="plan")
        return (replace(found, replications=seeds, seeds=()) if seeds else found), {}
    source, own = str(plan), dict[str, object]()
    if isinstance(plan, Scenario):
        source, own = _source_of(plan, base)
    words = [f"{name}={option_text(value)}" for name, value in {**own, **change}.items()]
    if not vary and not isinstance(plan, Scenario):
        found = load_plan(source)
        if not words and not metrics and costs is None:
            return (replace(found, replications=seeds, seeds=()) if seeds else found), {}
    axes = {name: [_axis_text(one) for one in values] for name, values in vary.items()}
    if not axes and isinstance(plan, Scenario):
        raise UserError("vary: found nothing, expected option -> values that are swept")
    try:
        asked = asked_plan(
            source,
            vary=axes,
            change=words,
            seeds=seeds or (_SEEDS if vary else None),
            costs=None if costs is None else Path(costs),
            metrics=metrics,
        )
    except ScenarioError as error:
        raise ScenarioError([_here(problem) for problem in error.problems]) from error
    return asked, dict(zip([*asked.grid][len(asked.grid) - len(vary) :], vary, strict=True))


def _here(problem: Problem) -> Problem:
    path = problem.path.replace("--vary", "vary", 1).replace("--set", "set", 1)
    return Problem(path, problem.found, problem.expected)


def _source_of(scenario: Scenario, base: Path) -> tuple[str, dict[str, object]]:
    bare = scenario_of(scenario)
    if isinstance(scenario, ApiScenario) and scenario.origin is not None:
        origin = scenario.origin
        scalars = not any(isinstance(v, list | dict) for v in origin.parameters.values())
        try:
            now = with_parameters(by_name(origin.source), origin.parameters)
        except ScenarioError:
            now = None
        if scalars and now == bare:
            return origin.source, dict(origin.parameters)
    path = base / f"{bare.name}-{scenario_key(bare)[:_KEY]}.toml"
    written_whole(path, to_toml(bare))
    return str(path), {}


def _axis_text(value: Value) -> str:
    """Return a value of an axis as text. A core as the name by which workers import it."""
    return importable(value) if callable(value) else option_text(value)


def designs_of(
    plan: Plan | Mapping[str, object] | Named, core: Cores | None, mutant: str | None
) -> dict[str, str]:
    """Return the cores and the mutant of all points, by the paths of plans."""
    designs = {} if mutant is None else {"mutant": mutant}
    if core is None:
        return designs
    if isinstance(core, Mapping):
        named = dict(core)
    else:
        if isinstance(plan, Plan | Mapping):
            raise UserError("core: found a text beside a plan, expected slot -> core")
        named = cores_of(scenario_of(plan), core)
    return designs | {
        f"core.{slot}": importable(one) if callable(one) else one for slot, one in named.items()
    }


def importable(function: Any) -> str:
    """Return `package.module:name` of a function that workers can import. Raises UserError."""
    name = name_of(function)
    module, _, inside = name.partition(":")
    if module == "__main__" or "<" in inside:
        expected = "one of a module, which the workers can import"
        raise UserError(f"sweep: found {name}, a function of this session, expected {expected}")
    return name
