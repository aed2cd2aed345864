"""The answer of `import`: a scenario of a recording, how it was found, and how well it replays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import written_whole
from ckptsim.scenarios.job import Job, Profile
from ckptsim.sim.answers.columns import aligned, notes_lines
from ckptsim.sim.infer.advice.budget import bounded
from ckptsim.sim.infer.advice.warnings import warnings_of
from ckptsim.sim.infer.change import changed
from ckptsim.sim.infer.folder import job_named, lasting
from ckptsim.sim.infer.job import Imported
from ckptsim.sim.infer.measures import Measures, predicted, simulated
from ckptsim.sim.infer.tasks.machine import MachineChoice
from ckptsim.sim.infer.text import text_of
from ckptsim.sim.infer.verdict import Row, Verdict, figure_text, verdict_of
from ckptsim.sim.recording import Recording
from ckptsim.sim.rows import RunResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedJob:
    """A job made of a recording, with the text of its file.

    replay: its runs as it is, none where it was not simulated; verdict: how far they agree with
    what was measured, None where one of both is not known.
    """

    scenario: Scenario
    text: str
    recording: Recording
    imported: Imported
    measures: Measures | None
    replay: Sequence[RunResult]
    verdict: Verdict | None
    warnings: Sequence[str]

    def lines(self, out: Path | None) -> Iterator[str]:
        """Yield what was found, what is asked for, the comparison, and the verdict."""
        rows = [(f.name, f.value, f.sure.value, f"{f.how}") for f in self.imported.findings]
        yield from aligned(("value", "found", "how sure", "how"), rows)
        if self.imported.asked:
            yield "\nnot in the recording; the file has a default for each (change it with --set):"
            asked = self.imported.asked
            yield from aligned((), [(f.name, f"{f.how}; {f.effect}") for f in asked])
        if self.recording.notes:
            yield "\nthe recording lacks:"
            yield from (f"  {note}" for note in self.recording.notes)
        if self.verdict is not None:
            yield ""
            yield from comparison_lines(self.verdict.rows)
        yield from notes_lines(self.warnings)
        if out is not None:
            yield f"\nwritten: {out}"
        if self.verdict is not None:
            yield f"replay: {self.verdict}"

    def document(self, out: Path | None) -> dict[str, Any]:
        """Return what `--json` prints."""
        verdict = self.verdict
        return {
            "written": None if out is None else str(out),
            "flink_version": self.recording.version,
            "job": self.recording.job_name,
            "findings": [asdict(one) for one in self.imported.findings],
            "asked": [one.name for one in self.imported.asked],
            "lacks": [str(note) for note in self.recording.notes],
            "warnings": list(self.warnings),
            "replay": None
            if verdict is None
            else {
                "verdict": verdict.word.value,
                "because": list(verdict.because),
                "figures": [asdict(row) for row in verdict.rows],
            },
        }


def import_job(
    folder: Path,
    change: Mapping[str, str],
    *,
    out: Path | None = None,
    job: str | None = None,
    machine: MachineChoice = MachineChoice.QUIET,
    profile: Profile = Profile.PLAIN,
    seeds: int = 3,
    progress: Callable[[int], object] = int,
) -> ImportedJob:
    """Make a scenario of a recording, write its file where one is wanted, and replay it.

    change: what is known better, by option.  seeds: of the replay, 0 for none; progress: is called
    with the number of runs done.
    Raises UserError for a place that is no recording, or one that says too little.
    """
    named = job_named(folder, job=job, machine=machine, profile=profile)
    if named.recording is None or named.imported is None:
        raise UserError(f"{folder}: found a file, expected the folder of a recording")
    scenario = lasting(changed(named.scenario, change), named.measures)
    head = f"Made by `ckptsim import` of a recording of job {named.recording.job_name!r}."
    text = text_of(replace(named.imported, scenario=scenario), named.recording, head=head)
    if out is not None:
        written_whole(out, text)
    results: list[RunResult] = []
    if seeds:
        recorded = job_named(folder, job=job, machine=MachineChoice.RECORDED, profile=profile)
        as_it_is = bounded(changed(recorded.scenario, change))
        for seed in range(1, seeds + 1):
            results += simulated(as_it_is, seeds=(seed,))
            progress(seed)
    verdict = None
    if results and named.measures is not None:
        verdict = verdict_of(named.measures, predicted(results))
    return ImportedJob(
        scenario=scenario,
        text=text,
        recording=named.recording,
        imported=named.imported,
        measures=named.measures,
        replay=results,
        verdict=verdict,
        warnings=list(warnings_of(cast("Job", scenario.model), named.recording)),
    )


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
