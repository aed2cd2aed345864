"""The answer of `replay`: the story of one run, or of one checkpoint of it, with its pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ckptsim.scenarios import UserError
from ckptsim.scenarios.job import Job, Plane
from ckptsim.sim.answers.leave import check_leave
from ckptsim.sim.export import pictures
from ckptsim.sim.kernel import Entry
from ckptsim.sim.own_properties import own_properties
from ckptsim.sim.rows import CheckpointRow, RunResult
from ckptsim.sim.rules.beside import HostDuties
from ckptsim.sim.run_spec import prefer_processes
from ckptsim.sim.search import Subject
from ckptsim.sim.search.folder import Kept, read
from ckptsim.sim.search.stories import stories
from ckptsim.sim.slots.resolve import resolve, try_out
from ckptsim.sim.story import Target, concerning, tell, tells_of
from ckptsim.sim.world import check_properties, load_world


@dataclass(frozen=True, slots=True, kw_only=True)
class Retold:
    """A run that was made again, and its story.

    entries: of the trace, those that are told; lines: the story; files: the story and the files for
    three viewers, by name; kept: the find that was repeated, None where a scenario was run.
    The violations of the result have their stories.
    """

    subject: Subject
    result: RunResult
    entries: Sequence[Entry]
    lines: Sequence[Any]
    files: dict[str, str]
    target: Target | None
    kept: Kept | None

    @property
    def repeats(self) -> bool | None:
        """Return whether a find is as it was; None where no find was repeated."""
        return None if self.kept is None else self.kept.digest == self.result.run.digest

    @property
    def barriers(self) -> tuple[Job, int] | None:
        """Return the job and the checkpoint of the picture of barriers, where there is one."""
        model = self.subject.scenario.model
        if self.target is None or not isinstance(model, Job) or model.plane is not Plane.BUFFERS:
            return None
        return model, self.target.index


def find_of(folder: Path, *, allowed: bool) -> tuple[Kept, list[str]]:
    """Return what a folder of `hunt` repeats, and the lines that say what is imported for it.

    allowed: start the commands that it names, and import modules that lie in it.
    Raises UserError for a folder that is damaged, or that needs this leave.
    """
    found = read(folder)
    cores = {slot: str(core) for slot, core in found.subject.cores.items()}
    judging = found.subject.judging
    named = [*cores.values(), *judging.property_names]
    imported = check_leave(folder, named, allowed=allowed)
    resolve(found.subject.scenario.world, cores=cores, mutant=found.subject.mutant)
    try_out(cores)
    check_properties("--ignore", judging.ignore, found.subject.scenario.link)
    own_properties(judging.properties)
    return found, imported


def retell(
    subject: Subject,
    *,
    seed: int,
    ties: str,
    checkpoint: str | None = None,
    kept: Kept | None = None,
) -> Retold:
    """Run again with the trace kept, and tell the story; checkpoint: `[SCOPE/]INDEX`, of it alone.

    Raises UserError for a checkpoint that the run has not.
    """
    # Hosts are judged by their duties, so that what exploring found is found again.
    subject = replace(subject, watches=(HostDuties,))
    target = _target(checkpoint)
    result = subject.run(seed, ties, keep_trace=True, began=prefer_processes)
    vocabulary = load_world(subject.scenario.world).VOCABULARY
    entries = result.trace
    if target is not None:
        if not tells_of(entries, vocabulary, target):
            found = f"--checkpoint: found {str(target)!r}"
            raise UserError(f"{found}, expected {_known(result.checkpoints)}")
        entries = list(concerning(entries, vocabulary, target))
    files = pictures(entries, vocabulary, subject.scenario, result)
    result.violations = stories(subject, result)
    return Retold(
        subject=subject,
        result=result,
        entries=entries,
        lines=tell(entries, vocabulary),
        files=files,
        target=target,
        kept=kept,
    )


def _known(rows: Sequence[CheckpointRow]) -> str:
    """Say which checkpoints a run has, as one range per scope."""
    scopes: dict[str, list[int]] = {}
    for row in rows:
        scopes.setdefault(row.scope, []).append(row.checkpoint_id)
    ranges = [f"{scope}/{min(ids)} to {scope}/{max(ids)}" for scope, ids in scopes.items()]
    return f"one of this run: {', '.join(ranges)}" if ranges else "a run with checkpoints"


def _target(text: str | None) -> Target | None:
    if text is None:
        return None
    scope, slash, index = text.rpartition("/")
    if not (index.isascii() and index.isdigit()):
        raise UserError(f"--checkpoint: found {text!r}, expected INDEX or SCOPE/INDEX")
    return Target(int(index), scope if slash else None)
