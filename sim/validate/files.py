"""Read files of measurements, one JSON object a line: checkpoints, or recoveries."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ckptsim.scenarios.errors import Problem, ScenarioError, UserError
from ckptsim.sim.validate import measured
from ckptsim.sim.validate.fields import object_problems, shown
from ckptsim.sim.validate.measured import MeasuredRun
from ckptsim.sim.validate.recoveries import measured as recoveries
from ckptsim.sim.validate.recoveries.measured import RecoveryRun
from ckptsim.sim.validate.state import measured as state
from ckptsim.sim.validate.state.measured import StateRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """The content of some files, in order: runs with checkpoints, and runs with recoveries."""

    runs: tuple[MeasuredRun, ...]
    recoveries: tuple[RecoveryRun, ...]
    states: tuple[StateRun, ...] = ()


def read_measurements(paths: Sequence[Path]) -> Measurements:
    """Read all lines of all files, in order. A line with `recoveries` is a run with failures.

    Raises UserError for a file that cannot be read, and ScenarioError with every problem of every
    line that is not in the schema: file, line and field, the value there, the allowed values.
    """
    kinds: tuple[tuple[Any, Any, list[Any]], ...] = (
        (state.is_state_run, state, []),
        (recoveries.is_recovery_run, recoveries, []),
        (lambda _: True, measured, []),
    )
    problems: list[Problem] = []
    for path in paths:
        for number, line in _lines(path):
            where = f"{path}:{number}"
            try:
                entry = json.loads(line)
            except (json.JSONDecodeError, RecursionError) as error:
                problems.append(Problem(where, f"no JSON ({error})", "a run as one JSON object"))
                continue
            schema, kept = next((module, kept) for fits, module, kept in kinds if fits(entry))
            wrong = _problems(entry, schema)
            problems += [Problem(f"{where}: {p.path}", p.found, p.expected) for p in wrong]
            if not wrong:
                kept.append(schema.run_of(entry))
    if problems:
        raise ScenarioError(problems)
    states, recovering, runs = (tuple(kept) for _, _, kept in kinds)
    if not runs and not recovering and not states:
        raise UserError("no measured run in " + ", ".join(str(path) for path in paths))
    return Measurements(runs=runs, recoveries=recovering, states=states)


def _problems(entry: object, schema: Any) -> list[Problem]:
    """Return what keeps a line from being read. schema: the module of its kind."""
    if not isinstance(entry, Mapping):
        return [Problem("the line", shown(entry), "a run as one JSON object")]
    found = object_problems(entry, schema.LINE, "")
    more = [] if schema is not recoveries else recoveries.more_problems(entry)
    return found or list(more)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as measured runs: {error}") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line
