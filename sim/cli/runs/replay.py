"""`ckptsim replay`: the story of one run, one checkpoint or one find, as text and as pictures."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from ckptsim.scenarios.files import written_whole
from ckptsim.scenarios.job import Job
from ckptsim.sim.answers.ran import setting_document
from ckptsim.sim.answers.replaying import find_of, retell
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_VIOLATED
from ckptsim.sim.cli.options import add_likeness_argument, positive, refuse
from ckptsim.sim.cli.places import default_folder, output_folder
from ckptsim.sim.cli.subject import (
    add_seed_arguments,
    add_subject_arguments,
    setting_of,
    subject_of,
    violation_texts,
)
from ckptsim.sim.extras import ExtraMissing, extras_explained
from ckptsim.sim.kernel import Entry
from ckptsim.sim.rows import RunResult
from ckptsim.sim.search.folder import ALLOW, Kept, is_find
from ckptsim.sim.story import shortened

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
    kept = kept_of(arguments)
    subject = subject_of(arguments) if kept is None else kept.subject
    seed = arguments.seed if kept is None else kept.seed
    ties = arguments.ties if kept is None else kept.ties
    found = retell(subject, seed=seed, ties=ties, checkpoint=arguments.checkpoint, kept=kept)
    subject, result, files = found.subject, found.result, found.files
    folder = arguments.out or default_folder(Path("out", "replay", result.run.run_key[:12]))
    if found.barriers is not None:
        try:
            with extras_explained():
                files["barriers.svg"] = _barriers(found.entries, *found.barriers)
        except ExtraMissing as missing:  # all else can be told without it
            print(f"barriers.svg is not drawn: {missing}", file=sys.stderr)
    for name, text in files.items():
        written_whole(folder / name, text)
    rows = result.violations
    unexpected = any(row.property not in subject.scenario.violates for row in rows)
    code = EXIT_VIOLATED if unexpected else EXIT_FINE
    if arguments.json:
        document = {
            "digest": result.run.digest,
            "run_key": result.run.run_key,
            **setting_document(subject),
            "repeated": found.repeats,
            "story": [str(line) for line in found.lines],
            "violations": [row.property for row in rows],
            "files": [str(folder / name) for name in files],
        }
        print(json.dumps(document, indent=1))
        return code
    print("\n".join(shortened(found.lines, arguments.lines)))
    for text in violation_texts(rows):
        print("\n" + text)
    ran = "".join(f", {what} {name}" for what, name in setting_of(subject))
    print(f"\n{result.run.outcome}{ran}, digest {result.run.digest}")
    if kept is not None:
        print(_repeated(kept, result))
    print(f"written: {', '.join(str(folder / name) for name in files)}")
    print("the traces are for ui.perfetto.dev, Mermaid and ShiViz")
    return code


def kept_of(arguments: argparse.Namespace) -> Kept | None:
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
        "--like-ours": getattr(arguments, "like_ours", False),
        "--ignore": arguments.ignore,
        "--property": arguments.property,
        "--seed": arguments.seed,
        "--ties": arguments.ties != "structural",
    }
    refuse(given, f"together with {folder}, which decides it")
    found, imported = find_of(folder, allowed=arguments.allow_commands)
    for line in imported:
        print(line, file=sys.stderr)
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
    from ckptsim.sim.job.buffers import senders_of

    return svg(barrier_story(entries, senders_of(model), checkpoint))
