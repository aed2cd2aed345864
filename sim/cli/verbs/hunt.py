"""`hunt`: search for a violation, shrink it, and write a folder that repeats it."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path

from ckptsim._api.columns import ran_with, table
from ckptsim._api.runs.found import Find
from ckptsim._api.runs.ran import extended, setting_document
from ckptsim._api.runs.verbs import SEEDS_TO_HUNT
from ckptsim.sim import search
from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.options import (
    FIRST,
    LIKE_OURS,
    SUBJECT,
    Verb,
    default_folder,
    json_of,
    many_ties,
    option,
    output_folder,
    positive,
)
from ckptsim.sim.cli.printing import show
from ckptsim.sim.cli.progress import ProgressBar
from ckptsim.sim.cli.subject import subject_of
from ckptsim.sim.own_properties import is_own
from ckptsim.sim.search import HuntStopped, Subject
from ckptsim.sim.search.faults import FaultDraw
from ckptsim.sim.search.folder import SCENARIO, slug
from ckptsim.sim.search.shrink import SECONDS_MAX, TRIALS_MAX
from ckptsim.sim.world import check_properties


def _hunt(arguments: argparse.Namespace) -> int:
    wanted = tuple(arguments.property)
    arguments.property = [name for name in wanted if is_own(name)]
    subject = subject_of(arguments)
    ours = [name for name in wanted if not is_own(name)]
    check_properties("--property", ours, subject.scenario.link)
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    draw = FaultDraw(subject.scenario, most=arguments.faults)

    def result(find: search.Find) -> Find:
        return extended(Find, find, subject=subject, draw=draw if draw.most else None)

    def broken(find: search.Find) -> None:
        row = _written(result(find), arguments, beside=False).violation
        if not arguments.json:
            says = f"VIOLATED {row.property} in run {find.runs}: {row.says}\nreplay: {row.replay}"
            most_s = arguments.shrink_seconds
            print(f"{says}\nshrinking it now, for at most {most_s} s\n", flush=True)

    try:
        with ProgressBar("searching") as searching, ProgressBar("shrinking") as shrinking:
            find = search.hunt(
                subject,
                seeds,
                ties=arguments.ties,
                faults=draw,
                property_names=wanted,
                seconds_max=arguments.shrink_seconds,
                searched=lambda done: searching(done=done, total=len(seeds)),
                broken=broken,
                shrunk=lambda done: shrinking(done=done, total=TRIALS_MAX),
            )
    except HuntStopped as stop:
        found = None if stop.find is None else result(stop.find)
        raise KeyboardInterrupt(_left_of(stop.runs, found, arguments)) from stop
    if find is None:
        print(_nothing(subject, len(seeds), draw, as_json=arguments.json))
        return EXIT_FINE
    return show(_written(result(find), arguments), as_json=arguments.json)


def _written(find: Find, arguments: argparse.Namespace, *, beside: bool = True) -> Find:
    name = f"{find.subject.scenario.name}-{slug(find.property)}"
    folder = arguments.out or default_folder(Path("out", "hunt", name))
    return find.written(folder, beside=beside)


def _left_of(runs: int, find: Find | None, arguments: argparse.Namespace) -> str:
    if find is not None:
        find = _written(find, arguments, beside=False)
        found = f"{find.property} broke after {find.runs} run(s)"
        kept = f"the smallest scenario so far is kept in {find.folder}: {find.violation.replay}"
        return f"{found}; {kept}; {_shrinks_on(find)} makes it smaller"
    # Policies are taken in turn: the rest begins with the first of them.
    done = runs - runs % len(arguments.ties)
    first, left = arguments.first + done, arguments.seeds - done
    rest = f"the same command with --first {first} --seeds {left} does the rest"
    return f"no violation in {runs} of {arguments.seeds} runs; {rest}"


def _shrinks_on(find: Find) -> str:
    subject, smallest, folder = find.subject, find.shrunk.trial, find.folder or Path()
    cores = [word for each in subject.names.items() for word in ("--core", "=".join(each))]
    cores += ["--mutant", subject.mutant] if subject.mutant else []
    cores += [word for name in subject.judging.ignore for word in ("--ignore", name)]
    how = ["--first", str(smallest.seed), "--seeds", "1", "--ties", smallest.ties]
    words = ["ckptsim", "hunt", str(folder / SCENARIO), *how, "--property", find.property]
    cores += ["--like-ours"] if subject.judging.like_ours else []
    return shlex.join([*words, *cores, "--out", str(folder)])


def _nothing(subject: Subject, runs: int, draw: FaultDraw, *, as_json: bool) -> str:
    if as_json:
        nothing = {"found": None, "runs": runs} | setting_document(subject)
        return json.dumps(nothing | ({"faults": draw.tally.document()} if draw.most else {}))
    cores = "".join(f" with {name}" for _, name in ran_with(subject.names, subject.mutant))
    ignored = ", ".join(subject.judging.ignore)
    not_judged = f", {ignored} not judged" if ignored else ""
    found = f"no violation in {runs} runs of {subject.scenario.name}{cores}{not_judged}"
    return "\n".join([found, table(draw.tally.rows())]) if draw.most else found


VERBS = {
    "hunt": Verb(
        run=_hunt,
        options=(
            *SUBJECT,
            LIKE_OURS,
            option(
                "--seeds",
                f"how many (default {SEEDS_TO_HUNT})",
                type_=positive,
                default=SEEDS_TO_HUNT,
            ),
            FIRST,
            option(
                "--ties",
                "tie policies taken in turn (default random,pct,structural)",
                "POLICY[,POLICY]",
                many_ties,
                default=("random", "pct", "structural"),
            ),
            option(
                "--faults",
                "add up to so many random faults per seed (default 0)",
                type_=int,
                default=0,
            ),
            option(
                "--shrink-seconds",
                f"of shrinking (default {SECONDS_MAX:.0f})",
                type_=positive,
                default=round(SECONDS_MAX),
            ),
            option(
                "--out",
                "gets scenario, decisions, pytest file, story, pictures (out/hunt/...)",
                "DIR",
                output_folder,
            ),
            json_of("the find"),
        ),
        examples="""examples:
  ckptsim hunt reference --mutant cursor_before_send --faults 3
  ckptsim hunt reference --seeds 5000 --faults 3
  ckptsim hunt my_scenario.toml --core handler=my_package.my_module:make_core --out smallest""",
    )
}
