"""A violation that a hunt found, and the story of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckptsim._api.columns import (
    frame_of,
    frame_of_rows,
    setting_of,
    table,
    tidy,
    violation_text,
    violation_texts,
)
from ckptsim._api.result import Facts, Result
from ckptsim._api.runs.plots import RunPlots, barriers_figure, job_on_buffers, pending_figure
from ckptsim._api.runs.ran import RunResult, run_result, setting_document
from ckptsim._api.scenario import Scenario, wrapped
from ckptsim.scenarios.files import written_whole
from ckptsim.sim import rows, search
from ckptsim.sim.kernel import Entry
from ckptsim.sim.search import Subject
from ckptsim.sim.story import Target, shortened

if TYPE_CHECKING:
    import pandas as pd

    from ckptsim.sim.search.faults import FaultDraw
    from ckptsim.sim.search.folder import Kept


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Find(Result, search.Find):
    """A violation that was found, and the smallest scenario that breaks the property.

    draw: the random faults of the search, if any were drawn.  folder, row: where the find is
    written, and its violation as it is reported there. None where it is not written.
    """

    subject: Subject
    draw: FaultDraw | None = None
    folder: Path | None = None
    row: rows.ViolationRow | None = None

    @property
    def failed(self) -> bool:
        """Whether a property broke, which is so."""
        return True

    @property
    def smallest(self) -> Scenario:
        """The smallest scenario that breaks the property, as one that you can change and run."""
        return wrapped(self.shrunk.scenario)

    @property
    def violation(self) -> rows.ViolationRow:
        """The violation in the run of the smallest scenario."""
        found = self.shrunk.trial.violations
        return self.row or next((one for one in found if one.property == self.property), found[0])

    def save(self, folder: str | Path) -> Path:
        """Write what `ckptsim hunt` writes: scenario, decisions, a test, the story, pictures."""
        self.written(Path(folder))
        return Path(folder)

    def written(self, folder: Path, *, beside: bool = True) -> Find:
        """Write the folder, and return the find with its place and story. beside: as of `keep`."""
        from ckptsim._api.runs.causes import pages_of_find
        from ckptsim.sim.search.folder import keep

        seed, ties = self.shrunk.trial.seed, self.shrunk.trial.ties
        row = keep(
            folder,
            self._smallest,
            seed=seed,
            ties=ties,
            name=self.property,
            beside=beside,
            pages=pages_of_find if beside else None,
        )
        return replace(self, folder=folder, row=row)

    @property
    def _smallest(self) -> Subject:
        return replace(self.subject, scenario=self.shrunk.scenario)

    def frame(self) -> pd.DataFrame:
        """Return the violations of the run of the smallest scenario, one row each."""
        return frame_of_rows("violations", self.shrunk.trial.violations)

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim hunt --json` prints. Of one that is not written, no folder."""
        shrunk = self.shrunk
        found = setting_document(self.subject) | {
            "found": self.property,
            "runs": self.runs,
            "seed": shrunk.trial.seed,
            "ties": shrunk.trial.ties,
            "decisions": shrunk.decisions,
            "faults_before": len(self.scenario.faults),
            "faults_after": len(shrunk.scenario.faults),
            "shrinking_runs": shrunk.trials,
            "also_violated": self._others,
        }
        if self.row is not None:
            violation = asdict(self.row)
            found |= {"folder": str(self.folder), "violation": violation, "replay": self.row.replay}
        return found | ({"faults": self.draw.tally.document()} if self.draw else {})

    @property
    def _others(self) -> list[str]:
        return [row.property for row in self.found.violations if row.property != self.property]

    @property
    def plot(self) -> RunPlots:
        """The figures of the run of the smallest scenario."""
        subject, trial = self._smallest, self.shrunk.trial
        return run_result(subject.run(trial.seed, trial.ties, keep_trace=True), subject).plot

    @property
    def text(self) -> str:
        """The violation with its story, then how it was found and shrunk."""
        return f"{violation_text(self.violation)}\n\n{table(self._pairs())}"

    def _pairs(self) -> list[tuple[str, object]]:
        before, after = len(self.scenario.faults), len(self.shrunk.scenario.faults)
        steps = f"{self.shrunk.steps} steps, {self.shrunk.trials} runs"
        first, last = self.found, self.shrunk.trial
        how = f"{self.shrunk.decisions} (faults, instants of ties); seed {last.seed}"
        return [
            *setting_of(self.subject),
            ("found", f"after {self.runs} run(s), seed {first.seed}, {first.ties} ties"),
            ("shrunk", f"{steps}; faults {before} -> {after}"),
            ("decisions", f"{how}, {last.ties} ties"),
            *([("also violated", ", ".join(self._others))] if self._others else []),
            *([("written", self.folder)] if self.folder else []),
            *(self.draw.tally.rows() if self.draw else ()),
        ]

    def _facts(self) -> Facts:
        facts = [("property", self.property), ("says", self.violation.says), *self._pairs()]
        return [*facts, ("next", "ckptsim.replay(find), find.smallest, find.save(folder)")]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Replay(Result):
    """A run that was made again, with its story. `result` has its rows and its trace.

    entries: of the trace, those that are reported. lines: the story. files: the story and the files
    for three viewers, by name. target: the checkpoint that is reported alone. kept: the find that
    was repeated.
    """

    result: RunResult
    entries: Sequence[Entry]
    lines: Sequence[Any]
    files: dict[str, str]
    target: Target | None
    kept: Kept | None

    @property
    def failed(self) -> bool:
        """Whether the run violates a property that its scenario does not expect to break."""
        return self.result.failed

    @property
    def story(self) -> list[str]:
        """The story, line by line."""
        return [str(line) for line in self.lines]

    @property
    def text(self) -> str:
        """The story, the violations, and how the run ended."""
        return self.told(len(self.lines))

    def told(self, most: int) -> str:
        """Return the text with at most so many lines of the story."""
        run = self.result.run
        ran = "".join(f", {what} {name}" for what, name in setting_of(self.result.subject))
        parts = ["\n".join(shortened(self.lines, most)), *violation_texts(self.result.violations)]
        ended = f"{run.outcome}{ran}, digest {run.digest}"
        return "\n\n".join([*parts, "\n".join([ended, *self._repeated()])])

    def _repeated(self) -> list[str]:
        if self.kept is None:
            return []
        if self.repeats:
            return ["repeated: the digest is the one that was kept"]
        holds = all(row.property != self.kept.property for row in self.result.violations)
        now = f"{self.kept.property} {'holds' if holds else 'breaks in another run'}"
        return [f"not repeated: {now}; scenario, program or core have changed"]

    @property
    def repeats(self) -> bool | None:
        """Whether a find in a folder is as it was. None where nothing was kept."""
        return None if self.kept is None else self.kept.digest == self.result.run.digest

    @property
    def barriers(self) -> str | None:
        """The barriers of the checkpoint that is reported, as SVG. None where it has none."""
        if self.target is None or job_on_buffers(self.result) is None:
            return None
        from ckptsim.analysis.figures.style import svg

        return svg(barriers_figure(self.result, self.target.index, self.entries))

    @property
    def pending(self) -> str | None:
        """The pending states of a sync over time, as SVG. None of anything else."""
        if not self.result.pending:
            return None
        from ckptsim.analysis.figures.style import svg

        return svg(pending_figure(self.result))

    def save(self, folder: str | Path) -> Path:
        """Write the story and the files for Perfetto, Mermaid and ShiViz."""
        for name, text in self.files.items():
            written_whole(Path(folder) / name, text)
        return Path(folder)

    def frame(self) -> pd.DataFrame:
        """Return the entries that are reported, one row each: time, kind, entity and fields."""
        columns = ("time_ns", "kind", "entity", "fields")
        rows = [(at, kind, who, rest) for at, kind, who, *rest in self.entries]
        return tidy(frame_of(rows, columns))

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim replay --json` prints, without its files."""
        return {
            "digest": self.result.run.digest,
            "run_key": self.result.run.run_key,
            **setting_document(self.result.subject),
            "repeated": self.repeats,
            "story": self.story,
            "violations": [row.property for row in self.result.violations],
        }

    @property
    def plot(self) -> RunPlots:
        """The figures of the run."""
        return self.result.plot

    def _facts(self) -> Facts:
        facts = [("story", f"{len(self.lines)} lines: print(replay.text)")]
        facts += [] if self.repeats is None else [("repeats", str(self.repeats))]
        return [*facts, *self.result._facts()]  # noqa: SLF001 - of the same kind
