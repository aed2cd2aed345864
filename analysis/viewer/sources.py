"""What can be viewed: a run of a scenario, a find, a recording, and two runs beside each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ckptsim.analysis.viewer.document import document
from ckptsim.scenarios import UserError
from ckptsim.sim.rows import RunResult
from ckptsim.sim.search import Subject
from ckptsim.sim.search.folder import Kept
from ckptsim.sim.search.stories import stories
from ckptsim.sim.why.recorded import recorded
from ckptsim.sim.world import load_world

Document = dict[str, Any]


def view_of_run(
    subject: Subject,
    result: RunResult | None = None,
    *,
    seed: int = 0,
    ties: str = "structural",
    checkpoint: int | None = None,
    title: str = "",
) -> Document:
    """Return the data of a run. One that was run without its trace is run again.

    result: what the subject gave, if it has run.  checkpoint: the one that is selected.
    Violations without their stories get them, for which more runs are made.
    Raises UserError for a checkpoint that the run does not have.
    """
    if result is None:
        result = subject.run(seed, ties, keep_trace=True)
    elif not result.trace:
        again = subject.run(result.run.seed, result.run.ties, keep_trace=True)
        again.violations, result = result.violations, again
    if not all(row.story for row in result.violations):
        result.violations = stories(subject, result)
    vocabulary = load_world(subject.scenario.world).VOCABULARY
    _check(result, checkpoint, subject.scenario.name)
    name = title or _titled(subject)
    return document(subject.scenario, result, vocabulary, title=name, checkpoint=checkpoint)


def _titled(subject: Subject) -> str:
    """Return the name of a scenario with its changes."""
    changes = json.loads(subject.parameters).items()
    return ", ".join([subject.scenario.name, *(f"{path}={value}" for path, value in changes)])


def view_of_find(
    kept: Kept, result: RunResult | None = None, *, checkpoint: int | None = None
) -> Document:
    """Return the data of the run that a find repeats, with its violation and story.

    result: what it gave, if it has run.
    """
    found = view_of_run(
        kept.subject,
        result,
        seed=kept.seed,
        ties=kept.ties,
        checkpoint=checkpoint,
        title=f"{kept.property} in {kept.subject.scenario.name}",
    )
    found["violations"].sort(key=lambda one: one["property"] != kept.property)
    return found


def view_of_recording(
    place: Path, *, job: str | None = None, checkpoint: int | None = None
) -> Document:
    """Return the data of a recording: what its REST answers hold, without single barriers.

    Raises UserError for a folder without checkpoints, and for a checkpoint that is not there.
    """
    scenario, result = recorded(place, job=job)
    _check(result, checkpoint, str(place))
    return document(scenario, result, {}, title=place.name, checkpoint=checkpoint)


def _check(result: RunResult, checkpoint: int | None, where: str) -> None:
    known = [row.checkpoint_id for row in result.checkpoints]
    if checkpoint is not None and checkpoint not in known:
        expected = f"one from {min(known)} to {max(known)}" if known else "a run with checkpoints"
        raise UserError(f"{where}: found no checkpoint {checkpoint}, expected {expected}")
