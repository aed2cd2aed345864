"""What the verbs about one scenario have in common: how it is named, varied and shown."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import cost_parameters, load_costs
from ckptsim.scenarios.planning import design_of, with_parameters
from ckptsim.sim.answers.asked import designs_set
from ckptsim.sim.answers.columns import set_in
from ckptsim.sim.cli.options import add_judging_arguments, duration, judging_of, repeated
from ckptsim.sim.kernel import parse_ties
from ckptsim.sim.rows import ViolationRow
from ckptsim.sim.search.trial import Subject
from ckptsim.sim.slots.resolve import read_cores, refuse_uncompared, resolve, try_out


def add_subject_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare which scenario is meant, how it is varied, and with which core it runs."""
    parser.add_argument(
        "scenario", metavar="SCENARIO", help="a name that `ckptsim list` shows, or a TOML file"
    )
    repeated(
        parser,
        "--set",
        "PATH=VALUE",
        "set a parameter, such as sync.sockets.count=4, or an option by Flink's name; may be "
        "repeated",
    )
    repeated(
        parser,
        "--vary",
        "PATH=A,B,...",
        "do it once for each value, and for each combination with other --vary",
    )
    add_costs_argument(parser)
    add_core_arguments(parser)
    add_judging_arguments(parser)


def each_variant(arguments: argparse.Namespace) -> Iterator[argparse.Namespace]:
    """Yield the arguments of each combination of values that `--vary` asks for, as `--set`.

    Each has its heading on standard error and a folder of its own below `--out`.
    Raises ScenarioError for words that vary nothing.
    """
    from ckptsim.sim.infer.change import read_values

    varied = read_values(arguments.vary)
    for number, values in enumerate(product(*varied.values()), 1):
        words = [f"{path}={value}" for path, value in zip(varied, values, strict=True)]
        own: dict[str, Any] = {"set": [*arguments.set, *words], "vary": []}
        out = getattr(arguments, "out", None)
        if out is not None or arguments.verb == "hunt":  # whose default is the same for all
            own["out"] = (out or Path("out", "hunt")) / str(number)
        print(f"{number}: {', '.join(words)}", file=sys.stderr, flush=True)
        yield argparse.Namespace(**vars(arguments) | own)


def add_core_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare which cores run instead of ours."""
    repeated(
        parser,
        "--core",
        "[SLOT=]MODULE:FACTORY|process:COMMAND",
        "run this core instead of ours in a slot (`ckptsim explain slots`); may be repeated",
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
    scenario = by_name(arguments.scenario)
    designs, words = designs_set(scenario, arguments.set)
    parameters = parameters_set(scenario, words)
    if arguments.costs is not None:
        measured = cost_parameters(load_costs(arguments.costs), scenario.link)
        scenario = with_parameters(scenario, measured, source=str(arguments.costs))
        parameters = measured | parameters
    if parameters:
        scenario = with_parameters(scenario, parameters, source="--set")
    design = design_of(designs)
    given = [*arguments.core, *(f"{slot}={core}" for slot, core in design.cores.items())]
    cores = read_cores(given, (scenario.world,))
    if arguments.mutant is not None and design.mutant not in (None, arguments.mutant):
        raise UserError(f"--mutant: found {arguments.mutant} and {design.mutant}, expected one")
    mutant = arguments.mutant or design.mutant
    choice = resolve(scenario.world, cores=cores, mutant=mutant)
    try_out(cores)
    judging = judging_of(arguments, scenario.link)
    if judging.like_ours:
        refuse_uncompared([scenario.world], choice.factories)
    return Subject(
        scenario=scenario,
        cores=cores,
        mutant=mutant,
        source=arguments.scenario,
        parameters=json.dumps(parameters, sort_keys=True),
        judging=judging,
    )


def parameters_set(scenario: Scenario, words: Sequence[str]) -> dict[str, object]:
    """Return what `--set` says, by paths of ours; it takes the engine's names, too."""
    if not words:
        return {}
    from ckptsim.sim.infer.change import parameters_of  # with all of a job, which takes a while

    return parameters_of(scenario, words)


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


_LISTS = ("reached", "not reached")


def table(pairs: Sequence[tuple[str, Any]]) -> str:
    """Return names and values as aligned lines; long lists of situations are broken into lines."""
    width = max((len(name) for name, _ in pairs), default=0)
    texts = [set_in(str(value), width + 2) if name in _LISTS else value for name, value in pairs]
    return "\n".join(
        f"{name:<{width}}  {text}" for (name, _), text in zip(pairs, texts, strict=True)
    )


def ran_with(cores: Mapping[str, str], mutant: str | None) -> list[tuple[str, str]]:
    """Return the lines that say which cores were not ours; none where all were."""
    lines = [("core", f"{slot}={name}") for slot, name in sorted(cores.items())]
    return lines if mutant is None else [*lines, ("mutant", mutant)]


def setting_of(subject: Subject) -> list[tuple[str, str]]:
    """Return the lines that say what was not as it is by default: cores, and what was judged."""
    lines = ran_with(subject.names, subject.mutant)
    judging = subject.judging
    lines += [("not judged", ", ".join(judging.ignore))] if judging.ignore else []
    own = ", ".join(judging.property_names)
    return [*lines, ("judged too", own)] if own else lines


def violation_text(row: ViolationRow, *, replay: bool = True) -> str:
    """Return a violation as people read it: property, instant, story and the command."""
    concerned = "" if row.index is None else f" ({row.scope or 'checkpoint'}/{row.index})"
    times = f", {row.count} times" if row.count > 1 else ""
    lines = [f"  {line}" for line in row.story.splitlines()]
    at = duration_text(row.at_ns)
    return "\n".join(
        [
            f"VIOLATED {row.property} at {at}{concerned}{times}: {row.says}",
            *lines,
            *([f"replay: {row.replay}"] if replay and row.replay else []),
        ]
    )


def violation_texts(rows: Iterable[ViolationRow]) -> list[str]:
    """Return violations as people read them: per property one story, and no story twice.

    Later ones are one line, and the command where that is another one.
    """
    told: dict[str, None] = {}
    texts: list[str] = []
    replay = None
    for row in rows:
        seen = {row.property, row.story} & told.keys()
        shown = dataclasses.replace(row, story="") if seen else row
        told.update(dict.fromkeys([row.property, row.story]))
        texts.append(violation_text(shown, replay=row.replay != replay))
        replay = row.replay
    return texts
