"""Promises of a core that vectors rest on, and that its user may decline."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from ckptsim.scenarios.dialect import suggestion
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.conform.runner import VectorOutcome, names_of

# Without them a core may release fewer states than a vector has, and no others.
PROMISES: tuple[str, ...] = ("every_state_is_released", "releases_without_gaps")


def check_ignored(paths: Sequence[Path], ignore: Sequence[str]) -> None:
    """Raise UserError for a name that is neither a promise nor a vector of the files."""
    if all(name in PROMISES for name in ignore):
        return
    known = [*PROMISES, *(name for path in paths for name in names_of(path))]
    for name in ignore:
        if name not in known:
            hint = suggestion(name, known)
            expected = f"a vector of these files or one of {', '.join(PROMISES)}"
            raise UserError(f"--ignore: found {name!r}, expected {expected}{hint}")


def declined(outcome: VectorOutcome, ignore: Collection[str]) -> VectorOutcome:
    """Return an outcome, skipped where its vector or what it rests on is declined."""
    if outcome.name in ignore:
        return replace(outcome, mismatch=None, skipped="declined")
    taken = [name for name in PROMISES if name in ignore]
    if not taken or outcome.suite != "ordering" or outcome.mismatch is None:
        return outcome
    try:
        expected = json.loads(outcome.mismatch.expected)
        found = json.loads(outcome.mismatch.found)
    except ValueError:  # the mismatch is of another kind
        return outcome
    both_lists = isinstance(expected, list) and isinstance(found, list)
    if not both_lists or not _is_part(found, expected):
        return outcome
    return replace(outcome, mismatch=None, skipped=f"rests on {' or '.join(taken)}, declined")


def _is_part(found: list[object], expected: list[object]) -> bool:
    """Say whether a list is another one without some of its items."""
    rest = iter(expected)
    return all(any(one == other for other in rest) for one in found)
