"""Causes and pages of runs: why something took long or failed, and a page to walk through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckptsim._api.columns import frame_of, tidy
from ckptsim._api.result import CountPlots, Facts, Result
from ckptsim._api.runs.ran import RunResult
from ckptsim._api.scenario import Named, Value
from ckptsim._api.subject import Cores, Source, source_of
from ckptsim.analysis.templates import rendered
from ckptsim.analysis.viewer import view_of_find, view_of_recording, view_of_run, view_page
from ckptsim.scenarios import Scenario
from ckptsim.scenarios.files import written_whole
from ckptsim.sim import rows
from ckptsim.sim import why as causes
from ckptsim.sim.rows import RunResult as Rows
from ckptsim.sim.search.folder import Kept
from ckptsim.sim.why.answer import place_text
from ckptsim.sim.why.find import why_find
from ckptsim.sim.why.recorded import why_recorded
from ckptsim.sim.world import run_world

if TYPE_CHECKING:
    import pandas as pd


_STEP = ("vertex", "subtask", "phase", "from_ns", "until_ns", "because_of")
_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Why(Result):
    """A cause with the critical path that led there, and remedies with their simulated effects."""

    found: causes.Why

    @property
    def cause(self) -> causes.Cause | None:
        """Vertex, subtask, phase and share of the cause. None where nothing is known of it."""
        return self.found.cause

    @property
    def text(self) -> str:
        """The answer in at most six lines."""
        return str(self.found)

    def frame(self) -> pd.DataFrame:
        """Return one row per step of the critical path, from the trigger to the end."""
        return tidy(frame_of([step.document() for step in self.found.path], _STEP))

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim why --json` prints."""
        return self.found.document()

    @property
    def plot(self) -> CountPlots:
        """How long each step of the critical path took."""
        times = {
            f"{number}. {place_text(step.place)} {step.phase}": step.duration_ns // _NS_PER_MS
            for number, step in enumerate(self.found.path, start=1)
        }
        return CountPlots(times, "ms on the critical path")

    def _facts(self) -> Facts:
        names = ("happened", "cause", "reason", "path", "remedies", "note")
        return list(zip(names, self.found.lines, strict=False))


def why(
    found: Named | RunResult,
    target: int | str = causes.SLOWEST,
    *,
    seed: int = 0,
    ties: str = "structural",
    set: Mapping[str, Value] | None = None,
    core: Cores | None = None,
    mutant: str | None = None,
    allow_commands: bool = False,
) -> Why:
    """Return why a checkpoint or a recovery took so long, or why a checkpoint failed.

    found: a scenario, a run, the folder of a recording or of a find, or the name of a recording.
    target: the number of a checkpoint, "recovery N", "expired", "failed", or "slowest", which is a
    failed one where none completed.  seed, ties, set, core, mutant: as of `run`.
    allow_commands: as of `replay`.

    Raises UserError as `run` does, and for a target that is not there.
    """
    if isinstance(found, RunResult):
        return cause_of(found.subject, target, seed=found.run.seed, ties=found.run.ties)
    source = source_of(found, set, core, mutant, allow_commands=allow_commands)
    return cause_of(source, target, seed=seed, ties=ties)


def cause_of(source: Source, target: int | str, *, seed: int, ties: str) -> Why:
    """Return why a checkpoint or recovery took so long or failed. seed, ties: of a run."""
    if isinstance(source, Kept):
        return Why(found=why_find(source))
    if isinstance(source, Path):
        return Why(found=why_recorded(source, target))
    subject = source

    def again(varied: Scenario) -> Rows:
        return run_world(
            varied,
            seed=seed,
            ties=ties,
            keep_trace=True,
            cores=subject.cores,
            mutant=subject.mutant,
            judged=False,
        )

    return Why(found=causes.why(subject.scenario, target, seed=seed, ties=ties, run=again))


PAGE = "view.html"  # in the folder of a find
_HEIGHT = 900  # pixels in a notebook


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class View(Result):
    """A page in which you walk through a run, or through two beside each other."""

    documents: Sequence[Mapping[str, Any]]

    @property
    def html(self) -> str:
        """The page: one file without any request."""
        return view_page(self.documents)

    def save(self, path: str | Path) -> Path:
        """Write the page to a file and return its path."""
        written_whole(Path(path), self.html)
        return Path(path)

    def frame(self) -> pd.DataFrame:
        """Return one row per event of the (first) run: `at`, `lane`, `kind`, its fields as text."""
        first = self.documents[0]
        found = [
            (at, first["lanes"][lane], first["kinds"][kind][0], " ".join(map(str, fields)))
            for at, kind, lane, *fields in first["events"]
        ]
        return tidy(frame_of(found, ("at_ns", "lane", "kind", "fields")))

    def to_dict(self) -> dict[str, Any]:
        """Return the data of the page, one document per run."""
        return {"runs": [dict(one) for one in self.documents]}

    @property
    def plot(self) -> CountPlots:
        """How many events each lane of the (first) run has."""
        first = self.documents[0]
        counts = dict.fromkeys(first["lanes"], 0)
        for _, _, lane, *_ in first["events"]:
            counts[first["lanes"][lane]] += 1
        return CountPlots(counts, "events")

    @property
    def text(self) -> str:
        """The runs that are shown, and how many events have no room."""
        left = sum(one["left_out"] for one in self.documents)
        more = f"; {left:,} events of other checkpoints have no room, choose with --checkpoint"
        titles = " beside ".join(str(one["title"]) for one in self.documents)
        return f"{titles}{more if left else ''}"

    def _facts(self) -> Facts:
        facts: list[tuple[str, object]] = []
        for one in self.documents:
            facts += [("run", one["title"]), *one["facts"]]
        return facts

    def _repr_html_(self) -> str:
        return rendered("frame.html", html=self.html, height=_HEIGHT)


def pages_of_find(kept: Kept, result: rows.RunResult) -> dict[str, str]:
    """Return the page of a find by its name in the folder. result: of the run that it repeats."""
    return {PAGE: view_page([view_of_find(kept, result)])}


def shown(source: Source, *, seed: int, ties: str, checkpoint: int | None) -> dict[str, Any]:
    """Return the data of the page of a scenario, a find or a recording. seed, ties: of a run."""
    if isinstance(source, Kept):
        return view_of_find(source, checkpoint=checkpoint)
    if isinstance(source, Path):
        return view_of_recording(source, checkpoint=checkpoint)
    return view_of_run(source, seed=seed, ties=ties, checkpoint=checkpoint)


def view(
    found: Named | RunResult,
    *,
    beside: Named | RunResult | None = None,
    checkpoint: int | None = None,
    seed: int = 0,
    ties: str = "structural",
    set: Mapping[str, Value] | None = None,
    core: Cores | None = None,
    mutant: str | None = None,
    allow_commands: bool = False,
) -> View:
    """Return a page in which you walk through a run, a find or a recording.

    found: a scenario, a run, the folder of a recording or of a find, or the name of a recording.
    beside: a second one, shown in the same time base.  checkpoint: the one that is selected first,
    if not the one of a violation, or the slowest.  seed, ties, set, core, mutant: as of `run`. Set,
    core and mutant are for `found` alone.  allow_commands: as of `replay`.

    Raises UserError as `run` does, and for a checkpoint that is not there.
    """

    def document(
        one: Named | RunResult,
        set: Mapping[str, Value] | None = None,
        core: Cores | None = None,
        mutant: str | None = None,
    ) -> dict[str, Any]:
        if isinstance(one, RunResult):
            return view_of_run(one.subject, one, checkpoint=checkpoint)
        source = source_of(one, set, core, mutant, allow_commands=allow_commands)
        return shown(source, seed=seed, ties=ties, checkpoint=checkpoint)

    documents = [document(found, set, core, mutant)]
    if beside is not None:
        documents.append(document(beside))
    return View(documents=documents)
