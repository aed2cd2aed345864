"""What a share of a sweep's runs comes to, small enough to travel, in a form that can be merged.

A share is made from whole runs: of one piece of the store, in this process or on a worker.  Shares
are merged by adding integers and putting lists together; nothing depends on how the runs were
divided, because everything that is ordered is ordered by what it says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from ckptsim.analysis.findings.runs import Ints

OUTLIERS = 10
EXAMPLES_OF_A_PROPERTY = 3
SCALE = 10**9  # means over subtasks are sums of integers: the order of adding makes no difference
TASK_MEANS = (
    "records_per_s",
    "busy_ratio",
    "backpressured_ratio",
    "idle_ratio",
    "input_queue_buffers_mean",
    "output_queue_buffers_mean",
)
Point = tuple[str, str]  # scenario and parameters
KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Durations:
    """The checkpoints of a point: how long each took or lasted, and which ended by completing.

    statuses: how many ended in each way.
    """

    elapsed_ns: Ints
    ended: npt.NDArray[np.bool_]
    statuses: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A property that runs of a point broke: how many runs, and the first examples."""

    runs: int
    examples: tuple[tuple[Any, ...], ...]  # (seed, ties, at_ns, says, story, replay), ascending


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What some runs come to.

    runs: one row per run: `point`, `seed`, `ties`, `outcome`, `violations`, `attempts` and the
    metrics of `runs.run_metrics`.  waits: checkpoints with parts, the sums of these, and of their
    durations.  tasks: per point and task (subtasks, rows, scaled sums of TASK_MEANS).  errors: per
    point and text (runs, the first (seed, ties, replay)).  goals: (runs, runs that reached it,
    times).  outliers: (-elapsed_ns, run_key, values of OUTLIER_COLUMNS), ascending.
    """

    runs: pd.DataFrame
    durations: dict[Point, Durations]
    delays: dict[Point, Ints]
    waits: dict[Point, tuple[int, ...]]
    tasks: dict[tuple[Point, str], tuple[int, ...]]
    violations: dict[tuple[Point, str], Broken]
    errors: dict[tuple[Point, str], tuple[int, tuple[Any, ...]]]
    goals: dict[str, tuple[int, int, int]]
    outliers: list[tuple[Any, ...]]


OUTLIER_COLUMNS = (
    *("scenario", "parameters", "seed", "ties", "run_key", "scope", "checkpoint_id", "attempt"),
    *("status", "reason", "triggered_ns", "elapsed_ns", "replay"),
)


def merge(shares: Iterable[Share]) -> Share:
    """Return what the runs of several shares come to together.

    Raises ValueError without a share.
    """
    every = list(shares)
    if not every:
        raise ValueError("there is nothing to merge")
    runs = pd.concat([share.runs for share in every], ignore_index=True)
    return Share(
        runs=runs.sort_values(["point", "seed", "ties"], kind="stable", ignore_index=True),
        durations=_joined(every, lambda share: share.durations, _join_durations),
        delays=_joined(every, lambda share: share.delays, np.concatenate),
        waits=_joined(every, lambda share: share.waits, _sums),
        tasks=_joined(every, lambda share: share.tasks, _folded(add_task)),
        violations=_joined(every, lambda share: share.violations, _folded(add_broken)),
        errors=_joined(every, lambda share: share.errors, _folded(add_error)),
        goals=_joined(every, lambda share: share.goals, _sums),
        outliers=sorted(entry for share in every for entry in share.outliers)[:OUTLIERS],
    )


def _joined(
    shares: Sequence[Share],
    part: Callable[[Share], Mapping[KeyT, ValueT]],
    join: Callable[[list[ValueT]], Any],
) -> dict[KeyT, Any]:
    """Return one part of all shares: values of the same key joined at once."""
    collected: dict[KeyT, list[ValueT]] = {}
    for share in shares:
        for key, value in part(share).items():
            collected.setdefault(key, []).append(value)
    return {key: join(values) for key, values in collected.items()}


def _folded(add: Callable[[ValueT, ValueT], ValueT]) -> Callable[[list[ValueT]], ValueT]:
    def fold(values: list[ValueT]) -> ValueT:
        whole = values[0]
        for value in values[1:]:
            whole = add(whole, value)
        return whole

    return fold


def _sums(values: list[tuple[int, ...]]) -> Any:
    return tuple(sum(column) for column in zip(*values, strict=True))


def _join_durations(values: list[Durations]) -> Durations:
    statuses: dict[str, int] = {}
    for value in values:
        for name, count in value.statuses.items():
            statuses[name] = statuses.get(name, 0) + count
    return Durations(
        elapsed_ns=np.concatenate([value.elapsed_ns for value in values]),
        ended=np.concatenate([value.ended for value in values]),
        statuses=statuses,
    )


def add_task(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """Add rows and sums; a task has as many subtasks as in the run where it has most."""
    return (max(one[0], other[0]), *(a + b for a, b in zip(one[1:], other[1:], strict=True)))


def add_broken(one: Broken, other: Broken) -> Broken:
    """Add runs that broke a property, and keep the first examples."""
    examples = sorted((*one.examples, *other.examples))[:EXAMPLES_OF_A_PROPERTY]
    return Broken(runs=one.runs + other.runs, examples=tuple(examples))


def add_error(
    one: tuple[int, tuple[Any, ...]], other: tuple[int, tuple[Any, ...]]
) -> tuple[int, tuple[Any, ...]]:
    """Add runs that ended in an error, and keep the first."""
    return one[0] + other[0], min(one[1], other[1])


def add_counts(one: tuple[int, ...], other: tuple[int, ...]) -> Any:
    """Add counts one by one."""
    return tuple(a + b for a, b in zip(one, other, strict=True))
