"""Causes from Python: why a checkpoint or a recovery took so long, or why a checkpoint failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckptsim._api.frames import frame_of, tidy
from ckptsim._api.plots import CountPlots
from ckptsim._api.result import Facts, Result
from ckptsim._api.runs.ran import RunResult
from ckptsim._api.scenario import Named, Value
from ckptsim._api.subject import Cores, Source, source_of
from ckptsim.scenarios import Scenario
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
    """Return why a checkpoint or a recovery took so long, or why one failed. seed, ties: of a run.

    The find that a folder repeats has one answer, whatever the target.
    """
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
