"""`ckptsim import`: make a scenario of a recording, and say how every value was found."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import written_whole
from ckptsim.scenarios.job import Job
from ckptsim.sim.cli.columns import aligned, notes_lines
from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.options import positive, repeated
from ckptsim.sim.cli.places import output_file
from ckptsim.sim.cli.progress import ProgressBar
from ckptsim.sim.infer.advice.budget import bounded
from ckptsim.sim.infer.advice.warnings import warnings_of
from ckptsim.sim.infer.change import changed, read_change
from ckptsim.sim.infer.folder import Named, job_named, lasting, place_named
from ckptsim.sim.infer.measures import Measures, predicted, simulated
from ckptsim.sim.infer.tasks.machine import MachineChoice
from ckptsim.sim.infer.text import text_of
from ckptsim.sim.infer.verdict import Row, Verdict, figure_text, verdict_of
from ckptsim.sim.recording import Recording

EXAMPLES = """examples:
  ckptsim import orders --out job.toml             a recording that is shipped
  ckptsim import recorded/ --out job.toml
  ckptsim import recorded/ --out job.toml --set 'source.orders.rate=3900 /s'
  ckptsim import recorded/ --out job.toml --machine recorded --seeds 9
  ckptsim import recorded/ --out job.toml --json > imported.json

A recording is a folder that `ckptsim capture` wrote, or one made with curl in the same format.  The
last line says how far a replay of the job as it is agrees with what was measured: good, fair, or do
not trust, with the reason.
exit codes: 0 the scenario was written, 2 the recording says too little of a job"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument(
        "folder", type=place_named, metavar="DIR", help="a recording; `orders` is shipped"
    )
    parser.add_argument(
        "--out", type=output_file, required=True, metavar="JOB.toml", help="the file to write"
    )
    add_import_arguments(parser)
    parser.add_argument("--seeds", type=positive, default=3, help="of the replay (default: 3)")
    parser.add_argument("--no-replay", action="store_true", help="do not simulate the job as it is")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def add_import_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what decides how a recording becomes a scenario."""
    parser.add_argument("--job", metavar="ID", help="which one, if several were recorded")
    parser.add_argument(
        "--machine",
        type=MachineChoice,
        choices=list(MachineChoice),
        default=MachineChoice.QUIET,
        help="the machine that answers are for: one with nothing else to do (default), or as busy "
        "as while it was recorded",
    )
    repeated(
        parser,
        "--set",
        "OPTION=VALUE",
        "say what the recording does not, by the engine's name or ours; may be repeated",
    )


def run(arguments: argparse.Namespace) -> int:
    """Import a recording, write the scenario, replay it and compare."""
    change = read_change(arguments.set)
    named = job_named(arguments.folder, job=arguments.job, machine=arguments.machine)
    recording, imported = named.recording, named.imported
    if recording is None or imported is None:
        raise UserError(f"{arguments.folder}: found a file, expected the folder of a recording")
    scenario = lasting(changed(named.scenario, change), named.measures)
    head = f"Made by `ckptsim import` of a recording of job {recording.job_name!r}."
    text = text_of(replace(imported, scenario=scenario), recording, head=head)
    written_whole(arguments.out, text)
    replay = None if arguments.no_replay else _replay(arguments, change)
    verdict = None
    if replay is not None and named.measures is not None:
        verdict = verdict_of(named.measures, replay)
    warnings = list(warnings_of(cast("Job", scenario.model), recording))
    if arguments.json:
        print(json.dumps(_document(arguments.out, named, verdict, warnings), indent=1))
    else:
        print("\n".join(_lines(arguments.out, named, verdict, warnings)))
    return EXIT_FINE


def _replay(arguments: argparse.Namespace, change: dict[str, str]) -> Measures:
    """Return what the job as it is does in simulation, on the machine that was recorded."""
    named = job_named(arguments.folder, job=arguments.job, machine=MachineChoice.RECORDED)
    scenario = bounded(changed(named.scenario, change))
    results = []
    with ProgressBar("replay", total=arguments.seeds) as bar:
        for seed in range(1, arguments.seeds + 1):
            results += simulated(scenario, seeds=(seed,))
            bar.step()
    return predicted(results)


def _lines(
    out: Path, named: Named, verdict: Verdict | None, warnings: Sequence[str]
) -> Iterator[str]:
    """Yield what was found, what is asked for, the comparison, and the verdict."""
    recording, imported = named.recording, named.imported
    if recording is None or imported is None:
        return
    rows = [(f.name, f.value, f.sure.value, f"{f.how}") for f in imported.findings]
    yield from aligned(("value", "found", "how sure", "how"), rows)
    if imported.asked:
        yield "\nnot in the recording; the file has a default for each (change it with --set):"
        yield from aligned((), [(f.name, f"{f.how}; {f.effect}") for f in imported.asked])
    if recording.notes:
        yield "\nthe recording lacks:"
        yield from (f"  {note}" for note in recording.notes)
    if verdict is not None:
        yield ""
        yield from comparison_lines(verdict.rows)
    yield from notes_lines(warnings)
    yield f"\nwritten: {out}"
    if verdict is not None:
        yield f"replay: {verdict}"


def comparison_lines(rows: Sequence[Row]) -> list[str]:
    """Return a table of measured and simulated figures; what is 0 on both sides is left out."""
    shown = [
        (
            row.name,
            figure_text(row.measured, row.unit, none="-"),
            figure_text(row.simulated, row.unit, none="-"),
            "" if row.word is None else row.word.value,
        )
        for row in rows
        if row.measured or row.simulated
    ]
    return aligned(("of the job as it is", "measured", "simulated", ""), shown)


def _document(
    out: Path, named: Named, verdict: Verdict | None, warnings: Sequence[str]
) -> dict[str, Any]:
    """Return what `--json` prints."""
    recording = cast("Recording", named.recording)
    findings = () if named.imported is None else named.imported.findings
    asked = () if named.imported is None else named.imported.asked
    return {
        "written": str(out),
        "flink_version": recording.version,
        "job": recording.job_name,
        "findings": [asdict(one) for one in findings],
        "asked": [one.name for one in asked],
        "lacks": [str(note) for note in recording.notes],
        "warnings": list(warnings),
        "replay": None
        if verdict is None
        else {
            "verdict": verdict.word.value,
            "because": list(verdict.because),
            "figures": [asdict(row) for row in verdict.rows],
        },
    }
