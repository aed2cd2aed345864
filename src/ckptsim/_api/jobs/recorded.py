"""Jobs of recordings: what `import` makes of one, and how far it can be trusted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from ckptsim import scenarios
from ckptsim._api.columns import aligned, frame_of, notes_lines
from ckptsim._api.jobs.plots import CheckpointPlots
from ckptsim._api.result import Facts, Result
from ckptsim._api.scenario import Named, Scenario, Value, scenario_of, wrapped
from ckptsim._api.scenario import text_of as option_text
from ckptsim.scenarios.catalogue import all_names
from ckptsim.scenarios.dialect import one_of
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import written_whole
from ckptsim.scenarios.files.json_schema import with_schema
from ckptsim.scenarios.job import Job, Profile
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.infer import folder
from ckptsim.sim.infer.advice.budget import bounded, shortened
from ckptsim.sim.infer.advice.warnings import warnings_of
from ckptsim.sim.infer.change import changed, read_change
from ckptsim.sim.infer.folder import job_named, lasting, place_named
from ckptsim.sim.infer.job import Imported
from ckptsim.sim.infer.measures import Measures, predicted, simulated
from ckptsim.sim.infer.tasks.machine import MachineChoice
from ckptsim.sim.infer.text import text_of
from ckptsim.sim.infer.verdict import Row, Verdict, figure_text, verdict_of
from ckptsim.sim.recording import Recording
from ckptsim.sim.rows import RunResult

if TYPE_CHECKING:
    import pandas as pd


_HEADER = re.compile(r"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\x20-\x7e]*)")
_NS_PER_MS, _NS_PER_S = 1_000_000, 1_000_000_000
_SIZES = ("checkpointed_bytes", "processed_bytes", "persisted_bytes")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ImportedJob(Result):
    """A scenario that was made of a recording, with the origin of every value.

    replay: its runs as it is, none where it was not simulated. verdict: how far they agree with
    the measurement, None where one of both is not known.  contents: the text of its file. written:
    where that is, None where it was not written.
    """

    scenario: Scenario
    contents: str
    written: Path | None
    recording: Recording
    imported: Imported
    measures: Measures | None
    replay: Sequence[RunResult]
    verdict: Verdict | None
    warnings: Sequence[str]

    def save(self, path: str | Path) -> Path:
        """Write the scenario as a file in which every value says how it was found."""
        written_whole(Path(path), with_schema(Path(path), self.contents))
        return Path(path)

    def frame(self) -> pd.DataFrame:
        """Return one row per value that was found: value, how sure it is, and how."""
        columns = ("name", "value", "sure", "how")
        rows = [(f.name, f.value, f.sure.value, f.how) for f in self.imported.findings]
        return frame_of(rows, columns)

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim import --json` prints."""
        return {
            "written": None if self.written is None else str(self.written),
            "flink_version": self.recording.version,
            "job": self.recording.job_name,
            "findings": [asdict(one) for one in self.imported.findings],
            "asked": [one.name for one in self.imported.asked],
            "lacks": [str(note) for note in self.recording.notes],
            "warnings": list(self.warnings),
            "replay": None
            if self.verdict is None
            else {
                "verdict": self.verdict.word.value,
                "because": list(self.verdict.because),
                "figures": [asdict(row) for row in self.verdict.rows],
            },
        }

    @property
    def plot(self) -> CheckpointPlots:
        """The figures of the recording, beside its replay."""
        return CheckpointPlots(self.recording, self.replay)

    @property
    def text(self) -> str:
        """The values found and asked for, the comparison and the verdict."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
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
            yield from _comparison(self.verdict.rows)
        yield from notes_lines(self.warnings)
        if self.written is not None:
            yield f"\nwritten: {self.written}"
        if self.verdict is not None:
            yield f"replay: {self.verdict}"

    def _facts(self) -> Facts:
        sure = Counter(one.sure.value for one in self.imported.findings)
        rows = [] if self.verdict is None else [row for row in self.verdict.rows if row.measured]
        return [
            ("job", self.recording.job_name),
            ("values", ", ".join(f"{count} {name}" for name, count in sure.items())),
            ("asked", ", ".join(one.name for one in self.imported.asked) or "nothing"),
            *(
                (row.name, f"{row.measured:,.0f} {row.unit}, replay {row.simulated or 0:,.0f}")
                for row in rows[:3]
            ),
            ("replay", self.verdict or "not compared"),
        ]


def import_job(
    recording: str | Path,
    *,
    out: str | Path | None = None,
    spans: str | Path | None = None,
    job: str | None = None,
    machine: str = "quiet",
    profile: str = "plain",
    set: Mapping[str, Value] | None = None,
    seeds: int = 3,
    progress: Callable[[int], object] = int,
) -> ImportedJob:
    """Make a scenario of a recording, and say how every value was found.

    recording: a folder, an archive of the history server, a file of spans, or the name of one that
    is shipped, such as `orders`.  out: the file to write. Without it nothing is written.
    spans: a file of OTLP JSON with more of its checkpoints and with its restores.
    job: its id, where several were recorded.
    machine: "quiet" for one with nothing else to do, "recorded" for as busy as it was.
    profile: the profile of constants, "plain", or "rig" for the shipped recordings.
    set: what the recording does not say, by the engine's option names or ours.
    seeds: of the replay of the job as it is, 0 for none.  progress: called with runs done.

    Raises UserError for a folder that is no recording, or says too little of a job.
    """
    place, change = place_named(str(recording)), change_of(set)
    kept = one_named(Profile, "profile", profile)
    choice = one_named(MachineChoice, "machine", machine)
    more = None if spans is None else Path(spans)
    named = job_named(place, job=job, machine=choice, profile=kept, spans=more)
    if named.recording is None or named.imported is None:
        raise UserError(f"{place}: found a file, expected the folder of a recording")
    scenario = lasting(changed(named.scenario, change), named.measures)
    head = f"Made by `ckptsim import` of a recording of job {named.recording.job_name!r}."
    text = text_of(replace(named.imported, scenario=scenario), named.recording, head=head)
    written = None if out is None else Path(out)
    if written is not None:
        text = with_schema(written, text)
        written_whole(written, text)
    results: list[RunResult] = []
    if seeds:
        recorded = job_named(place, job=job, machine=MachineChoice.RECORDED, profile=kept)
        as_it_is = bounded(changed(recorded.scenario, change))
        for seed in range(1, seeds + 1):
            results += simulated(as_it_is, seeds=(seed,))
            progress(seed)
    verdict = None
    if results and named.measures is not None:
        verdict = verdict_of(named.measures, predicted(results))
    return ImportedJob(
        scenario=wrapped(scenario),
        contents=text,
        written=written,
        recording=named.recording,
        imported=named.imported,
        measures=named.measures,
        replay=results,
        verdict=verdict,
        warnings=list(warnings_of(cast("Job", scenario.model), named.recording)),
    )


def change_of(options: Mapping[str, Value] | None) -> dict[str, str]:
    """Return options of a job as the texts that `--set` has."""
    return read_change([f"{name}={option_text(v)}" for name, v in (options or {}).items()])


Choice = TypeVar("Choice", bound=StrEnum)


def one_named(choices: type[Choice], key: str, name: str) -> Choice:
    """Return the choice of a name. Raises UserError for another name."""
    known = [choice.value for choice in choices]
    if name not in known:
        raise UserError(f"{key}: found {name!r}, expected {one_of(name, known)}")
    return choices(name)


def _comparison(rows: Sequence[Row]) -> list[str]:
    """Return a table of measured and simulated figures. Zeros on both sides are left out."""
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


AnyJob: TypeAlias = Named | ImportedJob
"""A scenario of a job on buffers, the path of its file, the folder of a recording, an import."""


def named_job(
    job: AnyJob, machine: str, job_id: str | None = None, profile: str = "plain"
) -> folder.Named:
    """Return a job with its recording and measures. job_id: where several were recorded."""
    choice = one_named(MachineChoice, "machine", machine)
    kept = one_named(Profile, "profile", profile)
    if isinstance(job, ImportedJob):
        named = folder.job_of(scenario_of(job.scenario))
        return replace(named, recording=job.recording, measures=job.measures)
    if isinstance(job, scenarios.Scenario):
        return folder.job_of(scenario_of(job))
    place = folder.place_named(str(job))
    if not place.exists() and str(job) in all_names():
        return folder.job_of(scenario_of(job))
    return folder.job_named(place, job=job_id, machine=choice, profile=kept)


def asked_for(
    named: folder.Named, *, full: bool, quick: bool
) -> tuple[folder.Named, Sequence[str]]:
    """Return a job as `--full` or `--quick` asks for it, with notes for the reader."""
    parameters, notes = shortened(named.scenario, full=full, quick=quick)
    if parameters:
        named = replace(named, scenario=with_parameters(named.scenario, parameters))
    return named, notes


def with_options(named: folder.Named, options: Mapping[str, Value] | None) -> folder.Named:
    """Return a job with some options set."""
    return replace(named, scenario=changed(named.scenario, change_of(options)))
