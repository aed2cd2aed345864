"""Whom an exception is put down to that comes out of a run with a core that is not ours."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from traceback import extract_tb

from ckptsim.sim.kernel import Environment
from ckptsim.sim.rows import RunResult
from ckptsim.sim.run_spec import RunSpec
from ckptsim.sim.slots import Factory
from ckptsim.sim.slots.process import CoreFailedError

# The property that is violated when a core raises what no core may raise.
CORE_RAISED = "the_core_raises_protocol_errors_only"
OUTCOME_RAISED = "error"
_LINES = 4


def raised_by_core(spec: RunSpec, factories: Mapping[str, Factory], error: Exception) -> RunResult:
    """Return the result of a run that such an exception ended: a violation of the core's duty.

    The core is one whose module is on the exception's way; where none is, because a world could not
    use what a core gave it, all that are not ours are named.
    """
    text = f"{type(error).__name__}: {error}"
    result = spec.result(Environment(spec.seed), outcome=OUTCOME_RAISED, error=text)
    result.run = replace(result.run, digest="")
    if isinstance(error, CoreFailedError):
        found = [error.slot]
    else:
        found = [slot for slot, made in factories.items() if _is_on_the_way(made, error)]
    names = ", ".join(_name(spec, slot) for slot in found or factories)
    verb = "raised" if found else "made a run raise"
    row = spec.violation(CORE_RAISED, 0, f"{names} {verb} {text}", story=_where(error))
    result.violations.append(row)
    return result


def _name(spec: RunSpec, slot: str) -> str:
    return f"core {slot}={spec.chosen[slot]}" if slot in spec.chosen else f"mutant {spec.mutant}"


def _is_on_the_way(factory: Factory, error: Exception) -> bool:
    """Say whether the exception came through the factory's module, or its package."""
    module = sys.modules.get(getattr(factory, "__module__", ""))
    path = getattr(module, "__file__", None)
    if module is None or path is None:
        return False
    top = module.__name__.partition(".")[0]
    inside = str(Path(path).parent) + os.sep
    own = top != module.__name__ and top != __name__.partition(".")[0]
    return any(
        frame.filename == path or (own and frame.filename.startswith(inside))
        for frame in extract_tb(error.__traceback__)
    )


def _where(error: Exception) -> list[str]:
    """Return the last places of an exception's way, oldest first."""
    frames = extract_tb(error.__traceback__)[-_LINES:]
    return [f"{frame.name}, line {frame.lineno}: {frame.line}" for frame in frames]
