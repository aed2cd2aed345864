"""What the verbs about one scenario have in common: how it is named, varied and shown."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.files import cost_parameters, load_costs
from ckptsim.scenarios.planning import assignments, with_parameters
from ckptsim.sim.cli.options import duration
from ckptsim.sim.kernel import parse_ties
from ckptsim.sim.rows import ViolationRow
from ckptsim.sim.search import Subject
from ckptsim.sim.slots.resolve import read_cores, resolve, try_out
from ckptsim.sim.story import milliseconds


def add_subject_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare which scenario is meant, how it is varied, and with which core it runs."""
    parser.add_argument(
        "scenario", metavar="SCENARIO", help="a name that `ckptsim list` shows, or a TOML file"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help="set a parameter, such as sync.sockets.count=4; may be repeated",
    )
    add_costs_argument(parser)
    add_core_arguments(parser)


def add_core_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare which cores run instead of ours."""
    parser.add_argument(
        "--core",
        action="append",
        default=[],
        metavar="[SLOT=]MODULE:FACTORY|process:COMMAND",
        help="run this core instead of ours in a slot (`ckptsim explain slots`); may be repeated",
    )
    parser.add_argument(
        "--core-timeout",
        type=duration,
        metavar="TIME",
        help="what a core of yours may take for one call, of CPU (default 10 s)",
    )
    parser.add_argument(
        "--mutant", metavar="NAME", help="run a mutant of ours (`ckptsim explain mutants`)"
    )


def add_costs_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the file with the measured costs of a store's steps."""
    parser.add_argument(
        "--costs",
        type=Path,
        metavar="FILE",
        help="costs of a store's steps, as `ckptsim measure-store` writes them",
    )


def subject_of(arguments: argparse.Namespace) -> Subject:
    """Return the scenario that the arguments mean, with its core.

    Raises UserError when there is no such scenario, parameter, slot, core or mutant.
    """
    parameters = assignments(arguments.set)
    scenario = by_name(arguments.scenario)
    if arguments.costs is not None:
        measured = cost_parameters(load_costs(arguments.costs), scenario.link)
        scenario = with_parameters(scenario, measured, source=str(arguments.costs))
        parameters = measured | parameters
    if parameters:
        scenario = with_parameters(scenario, parameters, source="--set")
    cores = read_cores(arguments.core, (scenario.world,))
    resolve(scenario.world, cores=cores, mutant=arguments.mutant)
    try_out(cores)
    return Subject(
        scenario=scenario,
        cores=cores,
        mutant=arguments.mutant,
        source=arguments.scenario,
        parameters=json.dumps(parameters, sort_keys=True),
    )


def add_seed_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare seed and tie policy of a single run."""
    parser.add_argument("--seed", type=int, default=0, help="of all random streams (default 0)")
    parser.add_argument(
        "--ties",
        type=one_ties,
        default="structural",
        metavar="POLICY",
        help="order of simultaneous events: structural (default), random, pct, pct:DEPTH",
    )


def one_ties(text: str) -> str:
    """Return the text of a tie policy; raises argparse's error for any other."""
    try:
        return parse_ties(text, 0).name
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def many_ties(text: str) -> tuple[str, ...]:
    """Return tie policies separated by commas."""
    return tuple(one_ties(word) for word in text.split(","))


def positive(text: str) -> int:
    """Return a number from 1; raises argparse's error for anything else."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a whole number from 1")
    return int(text)


def table(pairs: Sequence[tuple[str, Any]]) -> str:
    """Return names and values as aligned lines."""
    width = max((len(name) for name, _ in pairs), default=0)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in pairs)


def ran_with(cores: Mapping[str, str], mutant: str | None) -> list[tuple[str, str]]:
    """Return the lines that say which cores were not ours; none where all were."""
    lines = [("core", f"{slot}={name}") for slot, name in sorted(cores.items())]
    return lines if mutant is None else [*lines, ("mutant", mutant)]


def violation_text(row: ViolationRow) -> str:
    """Return a violation as people read it: property, instant, story and the command."""
    concerned = "" if row.index is None else f" ({row.scope or 'checkpoint'}/{row.index})"
    story = "\n".join(f"  {line}" for line in row.story.splitlines())
    return (
        f"VIOLATED {row.property} at {milliseconds(row.at_ns)}{concerned}: {row.says}\n"
        f"{story}\n"
        f"replay: {row.replay}"
    )
