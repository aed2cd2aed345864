"""`ckptsim why`: the cause of a checkpoint, a recovery or a find, with what would shorten it."""

from __future__ import annotations

import argparse
import json

from ckptsim.scenarios import Scenario, UserError
from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.runs.replay import kept_of
from ckptsim.sim.cli.subject import add_seed_arguments, add_subject_arguments, subject_of
from ckptsim.sim.infer.folder import place_named
from ckptsim.sim.rows import RunResult
from ckptsim.sim.search.folder import ALLOW
from ckptsim.sim.why import Why, why
from ckptsim.sim.world import run_world

EXAMPLES = """examples:
  ckptsim why back_pressure_aligned 3
  ckptsim why job.toml                # the slowest checkpoint, or why none completed
  ckptsim why job.toml expired
  ckptsim why job.toml recovery 1 --seed 7
  ckptsim why orders 17               # a recording: a folder of `capture`, or a shipped one
  ckptsim why out/hunt/reference-releases_without_gaps --json
exit codes: 0 done, 2 no such scenario, recording, checkpoint or recovery"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add_subject_arguments(parser)
    parser.add_argument(
        "target",
        nargs="*",
        metavar="CHECKPOINT|recovery N|expired|failed",
        help="what to explain; default: the slowest checkpoint, or why none completed",
    )
    add_seed_arguments(parser)
    parser.add_argument(
        ALLOW,
        action="store_true",
        help="start the commands that a find's folder names: only where you trust who made it",
    )
    parser.add_argument("--json", action="store_true", help="print cause, path and remedies")


def run(arguments: argparse.Namespace) -> int:
    """Explain one checkpoint, recovery or find."""
    found = _answer(arguments)
    print(json.dumps(found.document(), indent=1) if arguments.json else found)
    return EXIT_FINE


def _answer(arguments: argparse.Namespace) -> Why:
    place, target = place_named(arguments.scenario), target_of(arguments.target)
    kept = kept_of(arguments)
    if kept is not None:
        from ckptsim.sim.why.find import why_find

        return why_find(kept)
    if place.is_dir():
        given = {"--set": arguments.set, "--core": arguments.core, "--mutant": arguments.mutant}
        for option, value in given.items():
            if value:
                raise UserError(f"{option}: found with a recording, expected it with a scenario")
        from ckptsim.sim.why.recorded import why_recorded

        return why_recorded(place, target)
    subject = subject_of(arguments)

    def again(varied: Scenario) -> RunResult:
        return run_world(
            varied,
            seed=arguments.seed,
            ties=arguments.ties,
            keep_trace=True,
            cores=subject.cores,
            mutant=subject.mutant,
            judged=False,
        )

    return why(subject.scenario, target, seed=arguments.seed, ties=arguments.ties, run=again)


def target_of(words: list[str]) -> int | str:
    """Return what the words mean: a number, `recovery N`, `expired`, `failed` or `slowest`.

    Raises UserError for anything else.
    """
    text = " ".join(words)
    kind, _, number = text.partition(" ")
    if text.isascii() and text.isdigit():
        return int(text)
    if kind == "recovery" and (not number or number.isdigit()):
        return text
    if text in ("", "expired", "failed", "slowest"):
        return text or "slowest"
    expected = "a checkpoint's number, `recovery N`, `expired`, `failed` or nothing"
    raise UserError(f"target: found {text!r}, expected {expected}")
