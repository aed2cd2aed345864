"""`ckptsim explain`: every parameter of a scenario, what a sweep plan varies, or a topic."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from ckptsim.scenarios.catalogue import LIBRARY, PLANS, text_of
from ckptsim.scenarios.describe import describe
from ckptsim.scenarios.files import parse, read, scenario_key, to_toml
from ckptsim.scenarios.planning import (
    METRICS,
    Plan,
    folder_of,
    is_plan,
    plan_from,
    plan_values,
    points,
    size_of,
    with_parameters,
)
from ckptsim.scenarios.spec import Scenario
from ckptsim.sim.answers.columns import aligned
from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.options import repeated
from ckptsim.sim.cli.pages.reference import parameter_lines
from ckptsim.sim.cli.pages.topics import TOPICS, Page, load_topic
from ckptsim.sim.cli.subject import parameters_set

EXAMPLES = """examples:
  ckptsim explain                      shows the topics
  ckptsim explain ordering             every parameter and fault of a link
  ckptsim explain SCENARIO --json      a scenario's parameters for a program
  ckptsim explain SCENARIO --toml      a scenario as the smallest file that gives it
  ckptsim explain SCENARIO --set sync.sockets.count=4 --changed
  ckptsim explain PLAN                 what a sweep plan varies; checks all of its points"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("what", nargs="?", metavar="SCENARIO|PLAN|TOPIC", help="a name, or a file")
    repeated(parser, "--set", "PATH=VALUE", "vary a parameter")
    parser.add_argument("--changed", action="store_true", help="only what is not at its default")
    parser.add_argument("--toml", action="store_true", help="print the scenario as a file")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print what the scenario, plan or topic is about."""
    if arguments.what is None:
        print("\n".join(aligned(("topic", "about"), [(n, t.says) for n, t in TOPICS.items()])))
        return EXIT_FINE
    if arguments.what in TOPICS:
        _print_page(load_topic(TOPICS[arguments.what]), as_json=arguments.json)
        return EXIT_FINE
    source, text = text_of(arguments.what, LIBRARY, PLANS, others=TOPICS)
    document = parse(text, source)
    if is_plan(document):
        plan = plan_from(document, source=source, folder=folder_of(arguments.what))
        _print_page(plan_page(plan), as_json=arguments.json)
        return EXIT_FINE
    scenario = read(document, source=source)
    scenario = with_parameters(scenario, parameters_set(scenario, arguments.set), source="--set")
    if arguments.toml:
        print(to_toml(scenario), end="")
    elif arguments.json:
        print(json.dumps(_as_json(scenario), indent=1))
    else:
        _print_scenario(scenario, only_changed=arguments.changed)
    return EXIT_FINE


def _print_page(page: Page, *, as_json: bool) -> None:
    print(json.dumps(page.data, indent=1) if as_json else page.text)


def _as_json(scenario: Scenario) -> dict[str, object]:
    return {
        "name": scenario.name,
        "link": scenario.link,
        "says": scenario.says,
        "scenario_key": scenario_key(scenario),
        "parameters": [asdict(found) for found in describe(scenario)],
    }


def _print_scenario(scenario: Scenario, *, only_changed: bool) -> None:
    print(f"{scenario.name} ({scenario.link}): {scenario.says}\n")
    told = ("name", "link", "says")
    found = [item for item in describe(scenario) if item.path not in told]
    found = [item for item in found if item.changed or not only_changed]
    print("\n".join(parameter_lines(found)))
    print(f"\n* differs from the default.  Scenario key {scenario_key(scenario)}.")


MOST_SHOWN = 10_000  # an assumption: what can be made within some seconds


def plan_page(plan: Plan) -> Page:
    """Return a plan's axes and points.

    Raises ScenarioError when a point of the plan cannot be made.
    """
    size = size_of(plan)
    shown = points(plan, most=MOST_SHOWN)
    values = plan_values(plan)
    axes = [
        (
            path,
            plan.words.get(path, ""),
            "grid" if path in plan.grid else "zip",
            ", ".join(map(_shown, values[path])),
        )
        for path in plan.axes
    ]
    head = f"{plan.name} (sweep plan of {plan.scenario}): {plan.says}\n"
    seeds = "common random numbers" if plan.common_random_numbers else "seeds of their own"
    count = (
        f"points: {size.points}; tie policies: {', '.join(plan.ties)}; "
        f"replications: {size.replications}, with {seeds}; in all {size.runs} runs"
    )
    if len(shown) < size.points:
        count += f"\nchecked: the first {len(shown)} points; a sweep checks all before it begins"
    overrides = [(path, _shown(value)) for path, value in plan.overrides.items()]
    asked = [("question", plan.question)] if plan.question else []
    asked += [("answered by", f"{METRICS[name].says} ({name})") for name in plan.answers]
    if asked:
        head = "\n".join([head, *aligned((), asked), ""])
    lines = [head, *aligned(("parameter", "called", "in", "values"), axes), ""]
    if overrides:
        lines += [*aligned(("for all points", "value"), overrides), ""]
    data = {
        "name": plan.name,
        "says": plan.says,
        "question": plan.question,
        "answers": list(plan.answers),
        "words": dict(plan.words),
        "scenario": plan.scenario,
        "axes": {path: list(values[path]) for path in plan.axes},
        "overrides": dict(plan.overrides),
        "ties": list(plan.ties),
        "runs": size.runs,
        "points": [
            {
                "index": point.index,
                "parameters": json.loads(point.parameters),
                "scenario_key": scenario_key(point.scenario),
            }
            for point in shown
        ],
    }
    return Page(text="\n".join([*lines, count]), data=data)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
