"""Invariants of the user's: functions that look at the ground truth of a run that is over.

A function gets a `GroundTruth` and returns a sentence for a violation, or None.  It is named as
`package.module:function`, which is the name of its property.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from traceback import extract_tb
from typing import TypeAlias

from ckptsim.scenarios import UserError
from ckptsim.sim.rows import GroundTruth, RunResult, ViolationRow
from ckptsim.sim.run_spec import RunSpec
from ckptsim.sim.slots.resolve import load_callable, name_of

Function: TypeAlias = Callable[[GroundTruth], str | None]
Properties: TypeAlias = Mapping[str, Function]


def is_own(name: str) -> bool:
    """Return whether a property is a user's, by its name."""
    return ":" in name


def own_properties(given: Sequence[Function | str]) -> dict[str, Function]:
    """Return name -> function of properties that are functions or texts that name one.

    Raises UserError for a text that names none, and for what cannot be called with one argument.
    """
    found: dict[str, Function] = {}
    for each in given:
        name = name_of(each)
        where = f"--property {name}"
        function = load_callable(where, each) if isinstance(each, str) else each
        try:
            inspect.signature(function).bind(object())
        except (TypeError, ValueError) as error:
            expected = "a function of one argument, the ground truth of a run"
            raise UserError(f"{where}: found {error}, expected {expected}") from error
        found[name] = function
    return found


def violations_of(properties: Properties, spec: RunSpec, result: RunResult) -> list[ViolationRow]:
    """Return a violation for each property that says that it does not hold.

    Raises UserError for one that raises, or that returns neither a sentence nor None.
    """
    if not properties:
        return []
    truth = ground_truth(spec, result)
    rows: list[ViolationRow] = []
    for name, function in properties.items():
        try:
            says = function(truth)
        except Exception as error:
            raise UserError(f"--property {name}: {_raised(error)}, in {spec.replay}") from error
        if says is None:
            continue
        if not isinstance(says, str):
            found = f"returned a value of type {type(says).__name__}"
            raise UserError(f"--property {name}: {found}, expected a sentence or None")
        rows.append(spec.violation(name, result.run.ended_ns, says))
    return rows


def ground_truth(spec: RunSpec, result: RunResult) -> GroundTruth:
    """Return what properties look at of a run that is over."""
    records, commits = result.account()
    return GroundTruth(
        scenario=spec.scenario,
        run=result.run,
        records=tuple(records),
        checkpoints=tuple(result.checkpoints),
        task_checkpoints=tuple(result.task_checkpoints),
        commits=tuple(commits),
        recoveries=tuple(result.recoveries),
        tasks=tuple(result.tasks),
        figures=tuple(result.figures),
        goals=dict(result.goals),
    )


def _raised(error: Exception) -> str:
    last = extract_tb(error.__traceback__)[-1]
    return f"raised {type(error).__name__} at {last.filename}, line {last.lineno}: {error}"
