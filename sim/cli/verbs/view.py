"""`view`: one page in which you walk through a run, a find or a recording."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.options import ALLOW_COMMANDS, SEED, SUBJECT, Verb, option, output_file, refuse
from ckptsim.sim.cli.subject import source_of


def _view(arguments: argparse.Namespace) -> int:
    from ckptsim._api.runs.causes import View, shown

    def document(given: argparse.Namespace) -> dict[str, Any]:
        source, how = source_of(given), {"seed": given.seed, "ties": given.ties}
        return shown(source, **how, checkpoint=given.checkpoint)

    refuse({"--vary": arguments.vary}, "a value, expected --beside for a second run")
    documents = [document(arguments)]
    if arguments.beside is not None:
        plain = {"set": [], "core": [], "mutant": None, "scenario": arguments.beside}
        documents.append(document(argparse.Namespace(**vars(arguments) | plain)))
    found = View(documents=documents)
    print(f"{found.save(arguments.out)}: {found.text}")
    return EXIT_FINE


VERBS = {
    "view": Verb(
        run=_view,
        options=(
            *SUBJECT,
            *SEED,
            option(
                "--checkpoint",
                "the checkpoint to begin with (default: of the violation, or the slowest)",
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
                output_file,
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
