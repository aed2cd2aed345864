"""`view`: one page in which you walk through a run, a find or a recording."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ckptsim.scenarios import UserError
from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.options import ALLOW_COMMANDS, SEED, SUBJECT, Verb, option, refuse
from ckptsim.sim.cli.subject import kept_of, subject_of
from ckptsim.sim.infer.folder import place_named


def _view(arguments: argparse.Namespace) -> int:
    """Write the page of one run, or of two beside each other, and say where it is."""
    from ckptsim._api.runs.viewing import View

    refuse({"--vary": arguments.vary}, "a value, expected --beside for a second run")
    shown = [_document(arguments)]
    if arguments.beside is not None:
        plain = {"set": [], "core": [], "mutant": None, "scenario": arguments.beside}
        shown.append(_document(argparse.Namespace(**vars(arguments) | plain)))
    if arguments.out.is_dir():
        raise UserError(f"--out: found the folder {arguments.out}, expected a file")
    found = View(documents=shown)
    print(f"{found.save(arguments.out)}: {found.text}")
    return EXIT_FINE


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


VERBS = {
    "view": Verb(
        run=_view,
        options=(
            *SUBJECT,
            *SEED,
            option(
                "--checkpoint",
                "the one that is selected first; default: that of a violation, or the slowest",
                "N",
                int,
            ),
            option(
                "--beside",
                "a second scenario, find or recording, shown beside it in one time base",
                "SCENARIO",
            ),
            option(
                "--out",
                "where the page is written; default: %(default)s",
                "FILE",
                Path,
                default=Path("view.html"),
            ),
            ALLOW_COMMANDS,
        ),
        examples="""examples:
  ckptsim view back_pressure_aligned                    # writes view.html
  ckptsim view job.toml --checkpoint 12 --out twelve.html
  ckptsim view orders --checkpoint 17                   # a recording
  ckptsim view out/hunt/reference-releases_without_gaps # a find, with its violation
  ckptsim view job.toml --set mode=unaligned --beside job.toml
exit codes: 0 done, 2 no such scenario, find, recording or checkpoint""",
    )
}
