"""What advice weighs besides time: prices of bytes and requests, time-outs, and other settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import cast

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.job import Backend, Job, Mode
from ckptsim.sim.infer.advice.curve import Failures, Point
from ckptsim.sim.rows import RunResult

_GB, _THOUSAND = 1e9, 1_000
# From this part of its time-out on a checkpoint is near it: durations vary by some factor.
_NEAR = 0.5
_SAME = 1.001  # what differs by less is one


@dataclass(frozen=True, slots=True)
class Prices:
    """What a storage asks for 1,000,000,000 bytes that are written, and for 1,000 requests."""

    gigabyte: float = 0.0
    requests: float = 0.0

    def of(self, point: Point) -> float:
        """Return the price of a day."""
        written = point.written_bytes_per_day / _GB * self.gigabyte
        return written + point.requests_per_day / _THOUSAND * self.requests


def requests_of(run: RunResult, inline_bytes: int) -> float:
    """Return how many files a checkpoint creates in the mean, with its metadata."""
    done = {row.checkpoint_id for row in run.checkpoints if row.status == "completed"}
    parts = [row for row in run.task_checkpoints if row.checkpoint_id in done]
    sizes = [size for row in parts for size in (row.state_bytes, row.persisted_bytes)]
    return 1 + sum(size > inline_bytes for size in sizes) / max(1, len(done))


def commits_in_time(job: Job, failures: Failures) -> Callable[[Point], bool]:
    """Return whether transactions of a point outlive an interval, a checkpoint and a restart."""
    timeout_ns = job.costs.transaction_timeout_ns

    def outlive(point: Point) -> bool:
        needed_s = point.effective_s + point.duration_s + failures.restart_s
        return timeout_ns is None or point.mode is Mode.AT_LEAST_ONCE or needed_s * 1e9 < timeout_ns

    return outlive


def expiry_warnings(job: Job, point: Point) -> Iterator[str]:
    """Yield how near a checkpoint is to its time-out."""
    timeout_ns = job.checkpointing.timeout_ns
    if point.duration_s * 1e9 > _NEAR * timeout_ns:
        yield (
            f"a checkpoint takes {duration_text(point.duration_s * 1e9)} of its time-out of"
            f" {duration_text(timeout_ns)}: one that is late expires (job.checkpointing.timeout)"
        )


def alternatives(scenario: Scenario) -> Iterator[tuple[str, Scenario]]:
    """Yield the settings of state that a job does not have and can have, each with their name."""
    job = cast("Job", scenario.model)
    if not _with_state(job):
        return
    incremental = replace(job.state, backend=Backend.ROCKSDB, incremental=True)
    tables = [("incremental checkpoints of RocksDB", incremental)]
    tables += [("local recovery", replace(job.state, local_recovery=True))]
    for name, table in tables:
        other = replace(job, state=table)
        unknown = table.incremental and _unknown_delta(other)
        if table != job.state and not unknown and not other.problems():
            yield name, replace(scenario, model=other)


def unseen(job: Job) -> str:
    """Return what advice says nothing of."""
    found = ["other time-outs and pauses", "parallelism", "buffer debloating", "restart strategies"]
    if names := _unknown_delta(job):
        found.insert(0, f"incremental checkpoints (say state_delta or keys of {', '.join(names)})")
    if not _with_state(job):
        found.insert(0, "state, as no vertex has any")
    return f"not looked at: {', '.join(found)}"


def compared(name: str, other: Point, best: Point) -> str:
    """Return what another setting comes to at the interval that is advised."""
    says = [f"one takes {duration_text(round(other.duration_s * 1e9))}"]
    if other.written_bytes_per_day < best.written_bytes_per_day / _SAME:
        share = other.written_bytes_per_day / best.written_bytes_per_day
        says.append(f"writes {share:.0%} of the bytes")
    if other.caught_up_s is not None and best.caught_up_s is not None:
        says.append(f"caught up {other.caught_up_s:,.0f} s after a failure")
    return f"with {name}: {', '.join(says)}; together {other.cost:.2%} of the time"


def _with_state(job: Job) -> bool:
    return any(one.state_bytes or one.keys or one.subtask_state_bytes for one in job.vertices)


def _unknown_delta(job: Job) -> list[str]:
    """Return the vertices with state and without the size of a delta."""
    return [
        one.name
        for one in job.vertices
        if one.state_bytes and one.keys is None and one.state_delta_bytes is None
    ]
