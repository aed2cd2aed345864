"""`ckptsim list`: the scenarios and sweep plans that come with the program."""

from __future__ import annotations

import argparse
import json

from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.scenarios.dialect import suggestion
from ckptsim.scenarios.errors import Problem, ScenarioError
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.planning import all_plans
from ckptsim.sim.answers.columns import aligned
from ckptsim.sim.cli.main import EXIT_FINE

EXAMPLES = """examples:
  ckptsim list
  ckptsim list notification               those with a word in name or meaning
  ckptsim list --link ordering
  ckptsim list --link                     the links themselves
  ckptsim list --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("word", nargs="?", metavar="WORD", help="only what has it in its text")
    parser.add_argument(
        "--link",
        nargs="?",
        const="",
        metavar="LINK",
        help="only this link of the chain; alone: the links themselves",
    )
    parser.add_argument("--json", action="store_true", help="print the list as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print name, link and meaning of every scenario, then the sweep plans."""
    if arguments.link == "":
        return _print_links(as_json=arguments.json)
    if arguments.link is not None and arguments.link not in LINKS:
        expected = "one of " + ", ".join(LINKS) + suggestion(arguments.link, LINKS)
        raise ScenarioError([Problem("--link", repr(arguments.link), expected)])
    scenarios = [
        {"name": scenario.name, "link": scenario.link, "says": scenario.says}
        for scenario in all_scenarios()
        if arguments.link in (None, scenario.link)
        and _has(arguments.word, scenario.name, scenario.link, scenario.says)
    ]
    link_of = {scenario.name: scenario.link for scenario in all_scenarios()}
    plans = [
        {"name": plan.name, "scenario": plan.scenario, "says": plan.says}
        for plan in all_plans()
        if arguments.link in (None, link_of.get(plan.scenario))
        and _has(arguments.word, plan.name, plan.scenario, plan.says)
    ]
    if arguments.json:
        print(json.dumps({"scenarios": scenarios, "plans": plans}, indent=1))
        return EXIT_FINE
    if not scenarios and not plans:
        words = f"no scenario or plan has {arguments.word!r} in its name or meaning"
        print(words + suggestion(arguments.word, link_of))
        return EXIT_FINE
    rows = [(s["name"], s["link"], s["says"]) for s in scenarios]
    if rows:
        print("\n".join(aligned(("scenario", "link", "what it shows"), rows)))
    if plans:
        rows = [(p["name"], p["scenario"], p["says"]) for p in plans]
        print("\n" + "\n".join(aligned(("sweep plan", "scenario", "what it shows"), rows)))
    print("\n`ckptsim explain NAME` shows every parameter of a scenario.")
    return EXIT_FINE


def _has(word: str | None, *texts: str) -> bool:
    """Tell whether a word stands in one of the texts, in whatever letters."""
    return word is None or any(word.lower() in text.lower() for text in texts)


def _print_links(*, as_json: bool) -> int:
    """Print the links of the chain and what each models."""
    if as_json:
        links = [{"name": link.name, "says": link.says} for link in LINKS.values()]
        print(json.dumps({"links": links}, indent=1))
    else:
        rows = [(link.name, link.says) for link in LINKS.values()]
        print("\n".join(aligned(("link", "what it models"), rows)))
    return EXIT_FINE
