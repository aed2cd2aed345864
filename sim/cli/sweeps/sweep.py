"""`ckptsim sweep`: run a plan's points and seeds on Spark and write the result tables."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import LIBRARY, PLANS, by_name, text_of
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import cost_parameters, load_costs, parse
from ckptsim.scenarios.planning import (
    Plan,
    is_plan,
    load_plan,
    plan_from,
    scenarios_of,
    size_of,
)
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_VIOLATED
from ckptsim.sim.cli.options import (
    add_limit_arguments,
    add_property_argument,
    add_spark_arguments,
    limits_of,
    own_of,
    spark_settings,
)
from ckptsim.sim.cli.places import output_folder
from ckptsim.sim.cli.progress import ProgressBar, say
from ckptsim.sim.cli.subject import add_costs_argument, parameters_set, positive

EXAMPLES = """examples:
  ckptsim sweep upload_latency --out out/uploads
  ckptsim sweep my_plan.toml --out out/mine --master "local[4]"
  ckptsim sweep my_plan.toml --out out/mine --master spark://host:7077
  ckptsim sweep store_knee --costs out/measure-store/costs.toml --out out/knee
  ckptsim sweep my_plan.toml --out out/mine --report      # and the page, in one go
  ckptsim sweep my_plan.toml --set 'job.vertices[keyed].state=2 GB'
  ckptsim sweep job.toml --vary 'execution.checkpointing.interval=1 s,5 s' --replications 3
  ckptsim report out/mine

The same command resumes an interrupted sweep: runs that are in the tables are skipped."""

_MANY_RUNS = 100_000
_UNIT = re.compile(r"_(?:ns|bytes|per_s|bytes_per_s)$")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
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
        help="sweep these values too, in each combination with others; may be repeated",
    )
    parser.add_argument(
        "--replications", type=positive, metavar="N", help="runs of each point; default: the plan's"
    )
    parser.add_argument(
        "--out", type=output_folder, metavar="DIR", help="default: out/NAME of the plan"
    )
    parser.add_argument(
        "--resume",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="keep the runs that are there; --no-resume replaces an earlier sweep in DIR",
    )
    add_limit_arguments(parser, instead="becomes a row with the error")
    parser.add_argument(
        "--report", action="store_true", help="write the report too, in the same Spark session"
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    add_property_argument(parser)
    add_costs_argument(parser)
    add_spark_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the sweep and say what was done and where the tables are."""
    from ckptsim.analysis.spark.session import spark_session
    from ckptsim.analysis.sweeps.plan import prepare
    from ckptsim.analysis.sweeps.sweep import run_sweep
    from ckptsim.analysis.tables.store import SweepStore

    settings = spark_settings(arguments)
    properties = own_of(arguments)
    plan = _plan(arguments)
    if arguments.costs is not None:
        plan = with_costs(plan, load_costs(arguments.costs))
    out = arguments.out or Path("out") / plan.name
    limits = limits_of(arguments)
    store = SweepStore(out)
    say_size(plan)
    try:
        with store.writing():
            rows = prepare(plan, store, resume=arguments.resume, properties=properties)
            say(f"starting Spark on {arguments.master}")
            with (
                spark_session(arguments.master, settings=settings) as session,
                ProgressBar("runs") as bar,
            ):
                summary = run_sweep(
                    session,
                    rows,
                    store,
                    partitions=arguments.partitions,
                    limits=limits,
                    progress=bar,
                )
                page = _report(out, session) if arguments.report else None
    except KeyboardInterrupt as stop:
        kept = f"{len(store.run_keys())} of {size_of(plan).runs} runs are kept in {out}"
        raise KeyboardInterrupt(f"{kept}; the same command does the rest") from stop
    found = store.tally()
    if arguments.json:
        told = {"out": str(out), **asdict(summary), **asdict(found)}
        print(json.dumps(told if page is None else {**told, "report": str(page)}))
    else:
        rate = summary.done / summary.wall_s
        print(
            f"{summary.done} runs in {summary.wall_s:.1f} s ({rate:.1f} per second), "
            f"{summary.skipped} were there already"
        )
        print(
            f"{found.runs} runs in {out}: {found.errors} errors, "
            f"{found.violated} with a property violated"
        )
        print(f"next: ckptsim report {out}" if page is None else f"report: {page}")
    return EXIT_VIOLATED if found.errors or found.violated else EXIT_FINE


def _plan(arguments: argparse.Namespace) -> Plan:
    """Return the plan that is named, or one of the scenario that is varied, as it was asked for.

    Raises ScenarioError for parameters and values that cannot be.
    """
    plan = _of_scenario(arguments.plan) if arguments.vary else None
    plan = plan or load_plan(arguments.plan)
    if arguments.replications is not None:
        plan = replace(plan, replications=arguments.replications, seeds=())
    overrides: dict[str, object] = {}
    grid: dict[str, tuple[object, ...]] = {}
    for scenario in scenarios_of(plan):
        overrides |= parameters_set(scenario, arguments.set)
        grid |= _axes(scenario, arguments.vary)
    swept = {_plain(path) for path in plan.axes}
    twice = [path for path in (*overrides, *grid) if _plain(path) in swept]
    twice += [path for path in overrides if _plain(path) in {_plain(one) for one in grid}]
    if twice:
        raise UserError(f"--set, --vary: found {twice[0]}, which is swept already")
    replaced = {_plain(path) for path in (*overrides, *grid)}
    own = {path: value for path, value in plan.overrides.items() if _plain(path) not in replaced}
    return replace(plan, overrides={**own, **overrides}, grid={**plan.grid, **grid})


def _of_scenario(name: str) -> Plan | None:
    """Return a plan of a scenario without any axis yet; None for the name of a plan."""
    source, text = text_of(name, PLANS, LIBRARY)
    document = parse(text, source)
    if is_plan(document):
        return None
    return plan_from({"name": by_name(name).name, "scenario": name}, source="--vary")


def _axes(scenario: Scenario, words: Sequence[str]) -> dict[str, tuple[object, ...]]:
    """Return the values of each path that `--vary` sweeps."""
    if not words:
        return {}
    from ckptsim.sim.infer.change import axis_of, read_values

    return dict(axis_of(scenario, option, texts) for option, texts in read_values(words).items())


def _report(out: Path, session: Any) -> Path:
    from ckptsim.analysis.report import write_report

    return write_report(out, session)


def say_size(plan: Plan) -> None:
    """Say how much a plan is before anything is made of it: always where it is very much."""
    size = size_of(plan)
    said = f"sweep {plan.name}: {size}"
    if size.runs >= _MANY_RUNS:
        print(f"{said}; all of them are checked and listed first", file=sys.stderr, flush=True)
    else:
        say(said)


def with_costs(plan: Plan, costs: Mapping[str, object]) -> Plan:
    """Return the plan with measured costs at all points, but for those that it sweeps.

    They replace costs that the plan sets for all points, also where it has these by a short key.
    """
    links = {scenario.link for scenario in scenarios_of(plan)}
    measured: dict[str, object] = {}
    for link in sorted(links):
        measured |= cost_parameters(costs, link)
    if len(links) > 1:
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
