"""`ckptsim replay`: the story of one run, one checkpoint or one find, as text and as pictures."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.machinery import PathFinder
from pathlib import Path

from ckptsim.scenarios import UserError
from ckptsim.scenarios.files import written_whole
from ckptsim.scenarios.job import Job, Plane
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_VIOLATED
from ckptsim.sim.cli.options import add_likeness_argument, positive, refuse
from ckptsim.sim.cli.places import default_folder, output_folder
from ckptsim.sim.cli.subject import (
    add_seed_arguments,
    add_subject_arguments,
    setting_document,
    setting_of,
    subject_of,
    violation_texts,
)
from ckptsim.sim.export import pictures
from ckptsim.sim.extras import ExtraMissing, extras_explained
from ckptsim.sim.kernel import Entry
from ckptsim.sim.own_properties import own_properties
from ckptsim.sim.rows import CheckpointRow, RunResult
from ckptsim.sim.search.folder import ALLOW, DECISIONS, Kept, is_find, read
from ckptsim.sim.search.stories import stories
from ckptsim.sim.slots.process import PREFIX
from ckptsim.sim.slots.resolve import resolve, try_out
from ckptsim.sim.story import Target, concerning, shortened, tell, tells_of
from ckptsim.sim.world import check_properties, load_world

EXAMPLES = """examples:
  ckptsim replay reference --seed 7
  ckptsim replay reference --seed 7 --ties random --checkpoint users/3
  ckptsim replay pipeline --checkpoint job/2
  ckptsim replay alignment_timeout --checkpoint 3   # also draws its barriers: barriers.svg
  ckptsim replay out/hunt/reference-releases_without_gaps   # what `hunt` has written
  ckptsim replay my_scenario.toml --mutant arrival_order --out pictures"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add_subject_arguments(parser)
    add_likeness_argument(parser)
    add_seed_arguments(parser)
    parser.add_argument(
        "--checkpoint", metavar="[SCOPE/]INDEX", help="tell the story of this checkpoint only"
    )
    parser.add_argument(
        ALLOW,
        action="store_true",
        help="start the commands that a find's folder names: only where you trust who made it",
    )
    parser.add_argument(
        "--lines",
        type=positive,
        default=120,
        help="print at most so many lines of the story; its file has all (default 120)",
    )
    parser.add_argument(
        "--out",
        type=output_folder,
        metavar="DIR",
        help="where the pictures go (out/replay/RUN_KEY)",
    )
    parser.add_argument("--json", action="store_true", help="print story and files as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Run again with the trace kept, tell it, and write it for three viewers."""
    kept = _kept(arguments)
    subject = subject_of(arguments) if kept is None else kept.subject
    seed = arguments.seed if kept is None else kept.seed
    ties = arguments.ties if kept is None else kept.ties
    # With the rules of cores beside them, so that what exploring found is found again.
    subject = replace(subject, differential=True)
    target = _target(arguments.checkpoint)
    result = subject.run(seed, ties, keep_trace=True)
    vocabulary = load_world(subject.scenario.world).VOCABULARY
    entries = result.trace
    if target is not None:
        if not tells_of(entries, vocabulary, target):
            found = f"--checkpoint: found {str(target)!r}"
            raise UserError(f"{found}, expected {_known(result.checkpoints)}")
        entries = list(concerning(entries, vocabulary, target))
    lines = tell(entries, vocabulary)
    folder = arguments.out or default_folder(Path("out", "replay", result.run.run_key[:12]))
    files = pictures(entries, vocabulary, subject.scenario, result)
    model = subject.scenario.model
    if target is not None and isinstance(model, Job) and model.plane is Plane.BUFFERS:
        try:
            with extras_explained():
                files["barriers.svg"] = _barriers(entries, model, target.index)
        except ExtraMissing as missing:  # all else can be told without it
            print(f"barriers.svg is not drawn: {missing}", file=sys.stderr)
    for name, text in files.items():
        written_whole(folder / name, text)
    rows = stories(subject, result)
    unexpected = any(row.property not in subject.scenario.violates for row in result.violations)
    code = EXIT_VIOLATED if unexpected else EXIT_FINE
    if arguments.json:
        document = {
            "digest": result.run.digest,
            "run_key": result.run.run_key,
            **setting_document(subject),
            "repeated": None if kept is None else kept.digest == result.run.digest,
            "story": [str(line) for line in lines],
            "violations": [row.property for row in rows],
            "files": [str(folder / name) for name in files],
        }
        print(json.dumps(document, indent=1))
        return code
    print("\n".join(shortened(lines, arguments.lines)))
    for text in violation_texts(rows):
        print("\n" + text)
    ran = "".join(f", {what} {name}" for what, name in setting_of(subject))
    print(f"\n{result.run.outcome}{ran}, digest {result.run.digest}")
    if kept is not None:
        print(_repeated(kept, result))
    print(f"written: {', '.join(str(folder / name) for name in files)}")
    print("the traces are for ui.perfetto.dev, Mermaid and ShiViz")
    return code


def _kept(arguments: argparse.Namespace) -> Kept | None:
    """Return what a folder of `hunt` repeats; None where a scenario is meant.

    Raises UserError for arguments that the folder decides.
    """
    folder = Path(arguments.scenario)
    if not is_find(folder):
        return None
    given = {
        "--set": arguments.set,
        "--costs": arguments.costs,
        "--core": arguments.core,
        "--mutant": arguments.mutant,
        "--like-ours": arguments.like_ours,
        "--ignore": arguments.ignore,
        "--property": arguments.property,
        "--seed": arguments.seed,
        "--ties": arguments.ties != "structural",
    }
    refuse(given, f"together with {folder}, which decides it")
    found = read(folder)
    cores = {slot: str(core) for slot, core in found.subject.cores.items()}
    named = [*cores.values(), *found.subject.property_names]
    check_leave(folder, named, allowed=arguments.allow_commands)
    resolve(found.subject.scenario.world, cores=cores, mutant=found.subject.mutant)
    try_out(cores)
    check_properties("--ignore", found.subject.ignore, found.subject.scenario.link)
    own_properties(found.subject.properties)
    return found


def _repeated(kept: Kept, result: RunResult) -> str:
    """Say whether a find is as it was, and if not, whether the property holds by now."""
    if kept.digest == result.run.digest:
        return "repeated: the digest is the one that was kept"
    holds = all(row.property != kept.property for row in result.violations)
    now = "holds" if holds else "breaks in another run"
    return f"not repeated: {kept.property} {now}; scenario, program or core have changed"


def _barriers(entries: Sequence[Entry], model: Job, checkpoint: int) -> str:
    """Draw the barriers of one checkpoint on their way through a job on buffers."""
    from ckptsim.analysis.figures.run.barrier_story import barrier_story
    from ckptsim.analysis.figures.style import svg
    from ckptsim.sim.job.buffers.world import senders_of

    return svg(barrier_story(entries, senders_of(model), checkpoint))


def _known(rows: Sequence[CheckpointRow]) -> str:
    """Say which checkpoints a run has, as one range per scope."""
    scopes: dict[str, list[int]] = {}
    for row in rows:
        scopes.setdefault(row.scope, []).append(row.checkpoint_id)
    ranges = [f"{scope}/{min(ids)} to {scope}/{max(ids)}" for scope, ids in scopes.items()]
    return f"one of this run: {', '.join(ranges)}" if ranges else "a run with checkpoints"


def _target(text: str | None) -> Target | None:
    if text is None:
        return None
    scope, slash, index = text.rpartition("/")
    if not (index.isascii() and index.isdigit()):
        raise UserError(f"--checkpoint: found {text!r}, expected INDEX or SCOPE/INDEX")
    return Target(int(index), scope if slash else None)


def check_leave(folder: Path, cores: Iterable[str], *, allowed: bool) -> None:
    """Refuse a folder that names commands, or modules that lie in it, unless they are allowed.

    Modules from elsewhere are the user's, and those of the folder's author are not: what is
    imported is said.
    Raises UserError with what would be started.
    """
    asked = []
    for core in cores:
        found = None if core.startswith(PREFIX) else _file_of(core.partition(":")[0])
        if core.startswith(PREFIX):
            asked.append(f"starts the command {core.removeprefix(PREFIX)!r}")
        elif found is not None and found.is_relative_to(folder.resolve()):
            asked.append(f"imports {core}, which lies in the folder: {found}")
        elif found is not None:
            print(f"imports {core}, which the folder names, from {found}", file=sys.stderr)
    if asked and not allowed:
        what = "; ".join(asked)
        raise UserError(
            f"{folder / DECISIONS}: repeating this find {what}. Where you trust whoever made it, "
            f"add {ALLOW}"
        )


def _file_of(module: str) -> Path | None:
    """Return the file or folder of a module's package, which is not imported for that."""
    found = PathFinder.find_spec(module.partition(".")[0], [str(Path.cwd()), *sys.path])
    if found is None:
        return None
    places = [*(found.submodule_search_locations or ()), found.origin]
    return next((Path(place).resolve() for place in places if place), None)
