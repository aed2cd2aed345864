"""What can be viewed: a run of a scenario, a find, a recording, and two runs beside each other."""

from __future__ import annotations

from collections.abc import Mapping
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
    told: Mapping[str, str] | None = None,
) -> Document:
    """Return the data of a run; one that was run without its trace is run again.

    result: what the subject gave, if it has run.  checkpoint: the one that is selected.
    told: the stories of violated properties by name, where they are known; else more runs are made.
    Raises UserError for a checkpoint that the run does not have.
    """
    if result is not None:
        seed, ties = result.run.seed, result.run.ties
    if result is None or not result.trace:
        result = subject.run(seed, ties, keep_trace=True)
    if told is None:
        told = {row.property: row.story for row in stories(subject, result)}
    vocabulary = load_world(subject.scenario.world).VOCABULARY
    _check(result, checkpoint, subject.scenario.name)
    return document(
        subject.scenario, result, vocabulary, title=title, checkpoint=checkpoint, stories=told
    )


def view_of_find(
    kept: Kept, *, checkpoint: int | None = None, story: str | None = None
) -> Document:
    """Return the data of the run that a find repeats, with its violation and story.

    story: of the violation, where it is known.
    """
    found = view_of_run(
        kept.subject,
        seed=kept.seed,
        ties=kept.ties,
        checkpoint=checkpoint,
        title=f"{kept.property} in {kept.subject.scenario.name}",
        told=None if story is None else {kept.property: story},
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
