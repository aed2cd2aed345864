"""`ckptsim list`: the scenarios and sweep plans that come with the program."""

from __future__ import annotations

import argparse
import json

from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.scenarios.errors import Problem, ScenarioError
from ckptsim.scenarios.grid import all_plans
from ckptsim.scenarios.kinds import suggestion
from ckptsim.scenarios.links import LINKS
from ckptsim.sim.cli.columns import aligned
from ckptsim.sim.cli.main import EXIT_FINE

EXAMPLES = """examples:
  ckptsim list
  ckptsim list --link ordering
  ckptsim list --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("--link", metavar="LINK", help="only scenarios of this link of the chain")
    parser.add_argument("--json", action="store_true", help="print the list as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print name, link and meaning of every scenario, then the sweep plans."""
    if arguments.link is not None and arguments.link not in LINKS:
        expected = "one of " + ", ".join(LINKS) + suggestion(arguments.link, LINKS)
        raise ScenarioError([Problem("--link", repr(arguments.link), expected)])
    scenarios = [
        {"name": scenario.name, "link": scenario.link, "says": scenario.says}
        for scenario in all_scenarios()
        if arguments.link in (None, scenario.link)
    ]
    plans = [
        {"name": plan.name, "scenario": plan.scenario, "says": plan.says} for plan in all_plans()
    ]
    if arguments.json:
        print(json.dumps({"scenarios": scenarios, "plans": plans}, indent=1))
        return EXIT_FINE
    rows = [(s["name"], s["link"], s["says"]) for s in scenarios]
    print("\n".join(aligned(("scenario", "link", "what it shows"), rows)))
    if plans and arguments.link is None:
        rows = [(p["name"], p["scenario"], p["says"]) for p in plans]
        print("\n" + "\n".join(aligned(("sweep plan", "scenario", "what it shows"), rows)))
    print("\n`ckptsim explain NAME` shows every parameter of a scenario.")
    return EXIT_FINE
