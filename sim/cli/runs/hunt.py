"""`ckptsim hunt`: search for a violation, shrink it, and write a folder that repeats it."""

from __future__ import annotations

import argparse
import json
import shlex
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ckptsim.sim.answers.ran import find_document, others, setting_document
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_VIOLATED
from ckptsim.sim.cli.options import add_likeness_argument, positive
from ckptsim.sim.cli.places import default_folder, output_folder
from ckptsim.sim.cli.progress import ProgressBar
from ckptsim.sim.cli.subject import (
    add_subject_arguments,
    many_ties,
    ran_with,
    setting_of,
    subject_of,
    table,
    violation_text,
)
from ckptsim.sim.own_properties import is_own
from ckptsim.sim.rows import ViolationRow
from ckptsim.sim.search import Find, HuntStopped, Subject, hunt
from ckptsim.sim.search.faults import FaultDraw
from ckptsim.sim.search.folder import SCENARIO, keep, slug
from ckptsim.sim.search.shrink import SECONDS_MAX, TRIALS_MAX
from ckptsim.sim.world import check_properties

EXAMPLES = """examples:
  ckptsim hunt reference --mutant cursor_before_send --faults 3
  ckptsim hunt reference --seeds 5000 --faults 3
  ckptsim hunt my_scenario.toml --core handler=my_package.my_module:make_core --out smallest"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add_subject_arguments(parser)
    add_likeness_argument(parser)
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
        "--shrink-seconds",
        type=positive,
        default=round(SECONDS_MAX),
        help=f"of shrinking; what is smallest by then has to do (default {SECONDS_MAX:.0f})",
    )
    parser.add_argument(
        "--out",
        type=output_folder,
        metavar="DIR",
        help="gets scenario, decisions, pytest file, story, pictures (out/hunt/...)",
    )
    parser.add_argument("--json", action="store_true", help="print the find as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Hunt, write the smallest scenario that breaks the property, and print its story.

    Properties that are named are looked for alone, be they ours or the user's.
    """
    wanted = tuple(arguments.property)
    arguments.property = [name for name in wanted if is_own(name)]
    subject = subject_of(arguments)
    check_properties(
        "--property", (name for name in wanted if not is_own(name)), subject.scenario.link
    )
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    draw = FaultDraw(subject.scenario, most=arguments.faults)
    try:
        with ProgressBar("searching") as searching, ProgressBar("shrinking") as shrinking:
            find = hunt(
                subject,
                seeds,
                ties=arguments.ties,
                faults=draw,
                property_names=wanted,
                seconds_max=arguments.shrink_seconds,
                searched=lambda done: searching(done=done, total=len(seeds)),
                broken=lambda found: _save(found, subject, arguments),
                shrunk=lambda done: shrinking(done=done, total=TRIALS_MAX),
            )
    except HuntStopped as stop:
        raise KeyboardInterrupt(_left_of(stop, subject, arguments)) from stop
    if find is None:
        print(_nothing(subject, len(seeds), draw, as_json=arguments.json))
        return EXIT_FINE
    path = _place(arguments, subject, find)
    row = _written(find, subject, path)
    print(
        json.dumps(_document(find, subject, row, path) | _drawn(draw), indent=1)
        if arguments.json
        else _text(find, subject, row, path, draw)
    )
    return EXIT_VIOLATED


def _save(find: Find, subject: Subject, arguments: argparse.Namespace) -> None:
    """Write the violation as it was found and say so, before shrinking makes it smaller."""
    path = _place(arguments, subject, find)
    row = _written(find, subject, path, beside=False)
    if not arguments.json:
        says = f"VIOLATED {row.property} in run {find.runs}: {row.says}\nreplay: {row.replay}"
        print(f"{says}\nshrinking it now, for at most {arguments.shrink_seconds} s\n", flush=True)


def _place(arguments: argparse.Namespace, subject: Subject, find: Find) -> Path:
    named: Path | None = arguments.out
    name = f"{subject.scenario.name}-{slug(find.property)}"
    return named or default_folder(Path("out", "hunt", name))


def _left_of(stop: HuntStopped, subject: Subject, arguments: argparse.Namespace) -> str:
    """Say what an interrupted hunt has seen and keeps, and what does the rest."""
    find = stop.find
    if find is not None:
        path = _place(arguments, subject, find)
        row = _written(find, subject, path, beside=False)
        found = f"{find.property} broke after {find.runs} run(s)"
        kept = f"the smallest scenario so far is kept in {path}: {row.replay}"
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
    ran += [word for name in subject.judging.ignore for word in ("--ignore", name)]
    ran += ["--like-ours"] if subject.judging.like_ours else []
    smallest = find.shrunk.trial
    how = ["--first", str(smallest.seed), "--seeds", "1", "--ties", smallest.ties]
    words = ["ckptsim", "hunt", str(path / SCENARIO), *how, "--property", find.property, *ran]
    return shlex.join([*words, "--out", str(path)])


def _written(find: Find, subject: Subject, path: Path, *, beside: bool = True) -> ViolationRow:
    """Write the folder of the smallest scenario, and return its violation with the story."""
    smallest = replace(subject, scenario=find.shrunk.scenario, source=str(path), parameters="{}")
    found, name = find.shrunk.trial, find.property
    return keep(path, smallest, seed=found.seed, ties=found.ties, name=name, beside=beside)


def _nothing(subject: Subject, runs: int, draw: FaultDraw, *, as_json: bool) -> str:
    if as_json:
        nothing = {"found": None, "runs": runs} | setting_document(subject)
        return json.dumps(nothing | _drawn(draw))
    cores = "".join(f" with {name}" for _, name in ran_with(subject.names, subject.mutant))
    ignored = ", ".join(subject.judging.ignore)
    not_judged = f", {ignored} not judged" if ignored else ""
    found = f"no violation in {runs} runs of {subject.scenario.name}{cores}{not_judged}"
    return "\n".join([found, table(draw.tally.rows())]) if draw.most else found


def _drawn(draw: FaultDraw) -> dict[str, Any]:
    return {"faults": draw.tally.document()} if draw.most else {}


def _document(find: Find, subject: Subject, row: ViolationRow, path: Path) -> dict[str, Any]:
    return find_document(find, subject) | {
        "folder": str(path),
        "violation": asdict(row),
        "replay": row.replay,
    }


def _text(find: Find, subject: Subject, row: ViolationRow, path: Path, draw: FaultDraw) -> str:
    before, after = len(find.scenario.faults), len(find.shrunk.scenario.faults)
    shrunk = f"{find.shrunk.steps} steps, {find.shrunk.trials} runs; faults {before} -> {after}"
    how = find.shrunk.trial
    decided = (
        f"{find.shrunk.decisions} (faults, instants of ties); seed {how.seed}, {how.ties} ties"
    )
    summary = table(
        [
            *setting_of(subject),
            ("found", f"after {find.runs} run(s), seed {find.found.seed}, {find.found.ties} ties"),
            ("shrunk", shrunk),
            ("decisions", decided),
            *([("also violated", ", ".join(more))] if (more := others(find)) else []),
            ("written", path),
            *(draw.tally.rows() if draw.most else ()),
        ]
    )
    return f"{violation_text(row)}\n\n{summary}"
