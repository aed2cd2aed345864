"""`ckptsim hunt`: search for a violation, shrink it, and write a folder that repeats it."""

from __future__ import annotations

import argparse
import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ckptsim.sim.cli.main import EXIT_FINE, EXIT_VIOLATED
from ckptsim.sim.cli.places import default_folder, output_folder
from ckptsim.sim.cli.progress import ProgressBar
from ckptsim.sim.cli.subject import (
    add_subject_arguments,
    many_ties,
    positive,
    ran_with,
    subject_of,
    table,
    violation_text,
)
from ckptsim.sim.rows import ViolationRow
from ckptsim.sim.search import Find, HuntStopped, Subject, hunt
from ckptsim.sim.search.folder import SCENARIO, keep
from ckptsim.sim.search.shrink import TRIALS_MAX

EXAMPLES = """examples:
  ckptsim hunt reference --mutant cursor_before_send
  ckptsim hunt reference --seeds 5000 --faults 3
  ckptsim hunt my_scenario.toml --core handler=my_package.my_module:make_core --out smallest"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add_subject_arguments(parser)
    parser.add_argument("--seeds", type=positive, default=1000, help="how many (default 1000)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument(
        "--ties",
        type=many_ties,
        default=("random", "pct", "structural"),
        metavar="POLICY[,POLICY]",
        help="tie policies taken in turn (default random,pct,structural)",
    )
    parser.add_argument(
        "--faults", type=int, default=0, help="add up to so many random faults per seed (default 0)"
    )
    parser.add_argument(
        "--property", metavar="NAME", help="look for this property's violation only"
    )
    parser.add_argument(
        "--out",
        type=output_folder,
        metavar="DIR",
        help="gets scenario, decisions, pytest file, story, pictures (out/hunt/...)",
    )
    parser.add_argument("--json", action="store_true", help="print the find as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Hunt, write the smallest scenario that breaks the property, and print its story."""
    subject = subject_of(arguments)
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    try:
        with ProgressBar("searching") as searching, ProgressBar("shrinking") as shrinking:
            find = hunt(
                subject,
                seeds,
                ties=arguments.ties,
                faults=arguments.faults,
                property_name=arguments.property,
                searched=lambda done: searching(done=done, total=len(seeds)),
                shrunk=lambda done: shrinking(done=done, total=TRIALS_MAX),
            )
    except HuntStopped as stop:
        raise KeyboardInterrupt(_left_of(stop, subject, arguments)) from stop
    if find is None:
        print(_nothing(subject, len(seeds), as_json=arguments.json))
        return EXIT_FINE
    path = _place(arguments, subject, find)
    row = _written(find, subject, path)
    print(
        json.dumps(_document(find, subject, row, path), indent=1)
        if arguments.json
        else _text(find, subject, row, path)
    )
    return EXIT_VIOLATED


def _place(arguments: argparse.Namespace, subject: Subject, find: Find) -> Path:
    named: Path | None = arguments.out
    name = f"{subject.scenario.name}-{find.property}"
    return named or default_folder(Path("out", "hunt", name))


def _left_of(stop: HuntStopped, subject: Subject, arguments: argparse.Namespace) -> str:
    """Say what an interrupted hunt has seen and keeps, and what does the rest."""
    find = stop.find
    if find is not None:
        path = _place(arguments, subject, find)
        _written(find, subject, path)
        found = f"{find.property} broke after {find.runs} run(s)"
        kept = f"the smallest scenario so far is kept in {path}"
        return f"{found}; {kept}; {_going_on(find, subject, path)} makes it smaller"
    # Policies are taken in turn: the rest begins with the first of them.
    done = stop.runs - stop.runs % len(arguments.ties)
    first, left = arguments.first + done, arguments.seeds - done
    rest = f"the same command with --first {first} --seeds {left} does the rest"
    return f"no violation in {stop.runs} of {arguments.seeds} runs; {rest}"


def _going_on(find: Find, subject: Subject, path: Path) -> str:
    """Return the command that shrinks the written scenario further."""
    ran = [word for each in subject.names.items() for word in ("--core", "=".join(each))]
    ran += ["--mutant", subject.mutant] if subject.mutant else []
    smallest = find.shrunk.trial
    how = ["--first", str(smallest.seed), "--seeds", "1", "--ties", smallest.ties]
    words = ["ckptsim", "hunt", str(path / SCENARIO), *how, "--property", find.property, *ran]
    return shlex.join([*words, "--out", str(path)])


def _written(find: Find, subject: Subject, path: Path) -> ViolationRow:
    """Write the folder of the smallest scenario, and return its violation with the story."""
    smallest = Subject(
        scenario=find.shrunk.scenario, cores=subject.cores, mutant=subject.mutant, source=str(path)
    )
    found = find.shrunk.trial
    return keep(path, smallest, seed=found.seed, ties=found.ties, name=find.property)


def _nothing(subject: Subject, runs: int, *, as_json: bool) -> str:
    if as_json:
        return json.dumps({"found": None, "runs": runs} | _ran(subject))
    cores = "".join(f" with {name}" for _, name in ran_with(subject.names, subject.mutant))
    return f"no violation in {runs} runs of {subject.scenario.name}{cores}"


def _ran(subject: Subject) -> dict[str, Any]:
    return {"cores": subject.names, "mutant": subject.mutant}


def _document(find: Find, subject: Subject, row: ViolationRow, path: Path) -> dict[str, Any]:
    return _ran(subject) | {
        "found": find.property,
        "runs": find.runs,
        "seed": find.shrunk.trial.seed,
        "ties": find.shrunk.trial.ties,
        "decisions": find.shrunk.decisions,
        "faults_before": len(find.scenario.faults),
        "faults_after": len(find.shrunk.scenario.faults),
        "shrinking_runs": find.shrunk.trials,
        "folder": str(path),
        "violation": asdict(row),
        "replay": row.replay,
    }


def _text(find: Find, subject: Subject, row: ViolationRow, path: Path) -> str:
    before, after = len(find.scenario.faults), len(find.shrunk.scenario.faults)
    shrunk = f"{find.shrunk.steps} steps, {find.shrunk.trials} runs; faults {before} -> {after}"
    how = find.shrunk.trial
    decided = (
        f"{find.shrunk.decisions} (faults, instants of ties); seed {how.seed}, {how.ties} ties"
    )
    summary = table(
        [
            *ran_with(subject.names, subject.mutant),
            ("found", f"after {find.runs} run(s), seed {find.found.seed}, {find.found.ties} ties"),
            ("shrunk", shrunk),
            ("decisions", decided),
            ("written", path),
        ]
    )
    return f"{violation_text(row)}\n\n{summary}"
