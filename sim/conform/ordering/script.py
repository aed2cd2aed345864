"""What the scripts of all suites share: a step's place, its expected error, comparison of parts."""

from __future__ import annotations

import json
from typing import Any

from ckptsim.sim.conform.runner import Mismatch

Step = dict[str, Any]


def place(number: int, step: Step) -> str:
    """Return a step's place in its vector, counted from 1."""
    return f"step {number} ({step['op']})"


def as_text(value: object) -> str:
    """Return a value as compact JSON, for messages."""
    return json.dumps(value, default=str, ensure_ascii=False)


def allowed_errors(step: Step) -> list[str]:
    """Return the error kinds that the step must fail with, any of them; empty: must succeed."""
    error = step.get("error")
    if error is None:
        return []
    return [error] if isinstance(error, str) else list(error)


def compare_error(where: str, step: Step, kind: str | None) -> Mismatch | None:
    """Compare a step's outcome, an error kind or None, with what it must be."""
    allowed = allowed_errors(step)
    if kind is None and not allowed:
        return None
    if kind is not None and str(kind) in allowed:
        return None
    return Mismatch(where, " or ".join(allowed) or "no error", str(kind or "no error"))


def compare(where: str, expected: object, found: object) -> Mismatch | None:
    """Compare two values."""
    if expected == found:
        return None
    return Mismatch(where, as_text(expected), as_text(found))
