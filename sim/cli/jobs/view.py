"""`ckptsim view`: one page in which you walk through a run, a find or a recording."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckptsim.scenarios import UserError
from ckptsim.scenarios.files import written_whole
from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.options import refuse
from ckptsim.sim.cli.runs.replay import kept_of
from ckptsim.sim.cli.subject import add_seed_arguments, add_subject_arguments, subject_of
from ckptsim.sim.infer.folder import place_named
from ckptsim.sim.search.folder import ALLOW

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EXAMPLES = """examples:
  ckptsim view back_pressure_aligned                    # writes view.html
  ckptsim view job.toml --checkpoint 12 --out twelve.html
  ckptsim view orders --checkpoint 17                   # a recording
  ckptsim view out/hunt/reference-releases_without_gaps # a find, with its violation
  ckptsim view job.toml --set mode=unaligned --beside job.toml
exit codes: 0 done, 2 no such scenario, find, recording or checkpoint"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add_subject_arguments(parser)
    add_seed_arguments(parser)
    parser.add_argument(
        "--checkpoint",
        type=int,
        metavar="N",
        help="the one that is selected first; default: that of a violation, or the slowest",
    )
    parser.add_argument(
        "--beside",
        metavar="SCENARIO",
        help="a second scenario, find or recording, shown beside it in one time base",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("view.html"),
        metavar="FILE",
        help="where the page is written; default: %(default)s",
    )
    parser.add_argument(
        ALLOW,
        action="store_true",
        help="start the commands that a find's folder names: only where you trust who made it",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the page."""
    refuse({"--vary": arguments.vary}, "a value, expected --beside for a second run")
    shown = [_document(arguments)]
    if arguments.beside is not None:
        plain = {"set": [], "core": [], "mutant": None, "scenario": arguments.beside}
        shown.append(_document(argparse.Namespace(**vars(arguments) | plain)))
    write_view(shown, arguments.out)
    return EXIT_FINE


def write_view(documents: Sequence[Mapping[str, Any]], out: Path) -> None:
    """Write the page of one run, or of two beside each other, and say where it is."""
    from ckptsim.analysis.viewer import view_page

    if out.is_dir():
        raise UserError(f"--out: found the folder {out}, expected a file")
    written_whole(out, view_page(documents))
    left = sum(one["left_out"] for one in documents)
    more = f"; {left:,} events of other checkpoints have no room, choose with --checkpoint"
    print(f"{out}: {' beside '.join(str(one['title']) for one in documents)}{more if left else ''}")


def _document(arguments: argparse.Namespace) -> dict[str, Any]:
    from ckptsim.analysis.viewer import view_of_find, view_of_recording, view_of_run

    place, checkpoint = place_named(arguments.scenario), arguments.checkpoint
    kept = kept_of(arguments)
    if kept is not None:
        return view_of_find(kept, checkpoint=checkpoint)
    if place.is_dir():
        given = {"--set": arguments.set, "--core": arguments.core, "--mutant": arguments.mutant}
        refuse(given, "it together with a recording, expected a scenario")
        return view_of_recording(place, checkpoint=checkpoint)
    subject = subject_of(arguments)
    return view_of_run(
        subject,
        seed=arguments.seed,
        ties=arguments.ties,
        checkpoint=checkpoint,
        title=", ".join([subject.scenario.name, *arguments.set]),
    )
