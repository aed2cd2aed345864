"""The plan that a command line asks for: one that is named, or a scenario with what is varied."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import LIBRARY, PLANS, by_name, text_of
from ckptsim.scenarios.dialect import suggestion
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import cost_parameters, load_costs, parse, write, written_whole
from ckptsim.scenarios.planning import (
    METRICS,
    SCENARIO_AXIS,
    Plan,
    document_of,
    is_design,
    is_plan,
    load_plan,
    plan_from,
    scenarios_of,
)
from ckptsim.sim.cli.subject import design_path, designs_set, parameters_set, positive

_UNIT = re.compile(r"_(?:ns|bytes|per_s|bytes_per_s)$")
_SAYS_MAX = 300  # characters, as a plan's file has it
_SEVERAL = 2


def add_asked_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what is swept, with which seeds, and what is asked of it."""
    parser.add_argument(
        "plan",
        metavar="PLAN|SCENARIO",
        help="a plan's name or the path of its file; with --vary also a scenario's",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help="set a parameter at all points, by its path or Flink's name; may be repeated",
    )
    parser.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="PATH=A,B,...",
        help="sweep these values, in each combination with others: of a parameter, of core.SLOT "
        "(`builtin` is ours), or of `mutant` (`none` is right); may be repeated",
    )
    parser.add_argument(
        "--seeds",
        "--replications",
        type=positive,
        metavar="N",
        help="runs of each point; default: the plan's, of a scenario 10",
    )
    parser.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="M",
        help="answer with this metric, such as ended_ns; default: the plan's; may be repeated",
    )
    parser.add_argument(
        "--save-plan", type=Path, metavar="FILE", help="write what is swept as a plan, too"
    )


def asked_plan(arguments: argparse.Namespace) -> Plan:
    """Return the plan that is named, or one of the scenario that is varied, as it was asked for.

    Raises ScenarioError for parameters and values that cannot be, UserError for designs.
    """
    for metric in arguments.metric:
        if metric not in METRICS:
            expected = f"one of {', '.join(METRICS)}{suggestion(metric, METRICS)}"
            raise UserError(f"--metric: found {metric!r}, expected {expected}")
    plan = _of_scenario(arguments) if arguments.vary else None
    plan = plan or load_plan(arguments.plan)
    if arguments.seeds is not None:
        plan = replace(plan, replications=arguments.seeds, seeds=())
    overrides: dict[str, object] = {}
    grid: dict[str, tuple[object, ...]] = {}
    words: dict[str, str] = {}
    for scenario in scenarios_of(plan):
        designs, others = designs_set(scenario, arguments.set)
        overrides |= {**designs, **parameters_set(scenario, others)}
        for option, path, values in _axes(scenario, arguments.vary):
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
        answers=tuple(arguments.metric) or plan.answers,
    )
    if arguments.costs is not None:
        plan = with_costs(plan, load_costs(arguments.costs))
    # As if it had been a file: what a plan must not be, this one must not be either.
    return plan_from(document_of(plan, plan.folder), source=plan.source, folder=plan.folder)


def save_plan(plan: Plan, path: Path) -> None:
    """Write a plan as a file that sweeps the same."""
    written_whole(path, write(document_of(plan, str(path.parent))))


def _of_scenario(arguments: argparse.Namespace) -> Plan | None:
    """Return a plan of a scenario without any axis yet; None for the name of a plan."""
    name = arguments.plan
    source, text = text_of(name, PLANS, LIBRARY)
    document = parse(text, source)
    if is_plan(document):
        return None
    scenario = by_name(name)
    *first, last = [word.partition("=")[0].strip() for word in arguments.vary]
    axes = f"{', '.join(first)} and {last}" if first else last
    about = {
        "name": scenario.name,
        "scenario": name,
        "says": scenario.says[:_SAYS_MAX],
        "question": f"What changes with {axes}?"[:_SAYS_MAX],
    }
    return plan_from(about, source="--vary")


def _axes(scenario: Scenario, words: Sequence[str]) -> list[tuple[str, str, tuple[object, ...]]]:
    """Return what `--vary` calls each axis, its path, and its values."""
    if not words:
        return []
    from ckptsim.sim.infer.change import axis_of, read_values

    found: list[tuple[str, str, tuple[object, ...]]] = []
    for option, texts in read_values(words).items():
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


def with_costs(plan: Plan, costs: Mapping[str, object]) -> Plan:
    """Return the plan with measured costs at all points, but for those that it sweeps.

    They replace costs that the plan sets for all points, also where it has these by a short key.
    """
    links = {scenario.link for scenario in scenarios_of(plan)}
    measured: dict[str, object] = {}
    for link in sorted(links):
        measured |= cost_parameters(costs, link)
    if len(links) >= _SEVERAL:
        found = " and ".join(f"'{link}'" for link in sorted(links))
        raise UserError(f"--costs: found scenarios of links {found}, expected those of one link")
    swept = {_plain(path) for path in plan.axes}
    kept = {path: value for path, value in measured.items() if _plain(path) not in swept}
    replaced = {_plain(path) for path in kept}
    own = {path: v for path, v in plan.overrides.items() if _plain(path) not in replaced}
    return replace(plan, overrides={**own, **kept})


def _plain(path: str) -> str:
    """Return a path with the key that takes a value with a unit in place of the base unit's."""
    return _UNIT.sub("", path)
