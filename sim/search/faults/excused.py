"""Leave out the hazards of released systems into which drawn faults have led a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ckptsim.scenarios.generators.hazards import hazards
from ckptsim.sim.rows import ViolationRow
from ckptsim.sim.search.trial import Subject, Trial, trial


def without_hazards(subject: Subject, found: Trial) -> Trial:
    """Return a run without the violations that a right core cannot prevent under its faults.

    A core of the user's, or a mutant, is excused for what our own cores break in the same run.
    """
    known = hazards(subject.scenario)
    broken = _broken(found, known)
    if broken and (subject.cores or subject.mutant):
        ours = trial(replace(subject, cores={}, mutant=None), found.seed, found.ties)
        broken = _broken(ours, known)
    kept = tuple(row for row in found.violations if not _is_one_of(row, broken))
    return replace(found, violations=kept)


def _broken(found: Trial, known: Iterable[str]) -> list[str]:
    return [name for name in known if any(_is_one_of(row, (name,)) for row in found.violations)]


def _is_one_of(row: ViolationRow, names: Iterable[str]) -> bool:
    """Return whether a violation is of a property, or a restart of a job says that it is."""
    text = f"{row.property}: {row.says}"
    return any(f"{name}:" in text for name in names)
