"""What decides how an answer is to be read, said with it: overload, too few checkpoints, limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean

from ckptsim.scenarios.dialect import units
from ckptsim.scenarios.job import Job, Mode
from ckptsim.sim.infer.advice.budget import loads_of, subtask_loads
from ckptsim.sim.infer.advice.curve import Failures, Point
from ckptsim.sim.infer.verdict import ENOUGH_CHECKPOINTS
from ckptsim.sim.recording import Recording

# Above this part of its capacity a task has long queues most of the time.
_NEARLY = 0.95
# A subtask is hot that has so many times the mean of its vertex.  Assumption: less is chance.
_HOT = 1.3


def warnings_of(job: Job, recording: Recording | None = None) -> Iterator[str]:
    """Yield what an answer about a job must say, one sentence each."""
    bursts = loads_of(_at_highest(job))
    hot = {name for name, _ in hot_subtasks(job)}
    yield from (says for _, says in hot_subtasks(job))
    for name, load in loads_of(job).items():
        if name in hot:
            continue
        if load > 1:
            yield (
                f"{name} is overloaded: sources with a rate ask for {load:.2g} times what it can"
                " do, so its backlog grows; simulated sources drop what they miss"
            )
        elif load > _NEARLY:
            yield f"{name} is at {load:.0%} of its capacity: a little more load changes everything"
        elif bursts[name] > 1:
            yield (
                f"{name} is asked for {bursts[name]:,.3g} times what it can do while its sources"
                " are at their highest rate: queues grow then, and checkpoints take the longer the"
                " sooner behind that they are triggered"
            )
    unlimited = [v.name for v in job.vertices if v.is_source and v.rate_per_s is None]
    if unlimited:
        yield (
            f"{', '.join(unlimited)}: as fast as the slowest task takes records, since no rate of"
            " its own could be seen; if it has one, say so with source.NAME.rate"
        )
    if job.storage.write_bytes_per_s is None:
        yield (
            "the storage has no limit: what is written beyond the recorded sizes is an"
            " extrapolation; say one with job.storage.write"
        )
    if recording is not None:
        yield from _of_recording(job, recording)


def hot_subtasks(job: Job) -> Iterator[tuple[str, str]]:
    """Yield each vertex with a subtask at its limit while others have room, and a sentence."""
    for name, loads in subtask_loads(job).items():
        load, mean = max(loads), fmean(loads)
        if load > _NEARLY and load > _HOT * mean:
            which = f"subtask {loads.index(load)} of {name}"
            says = f"is busy {load:.2g} times its capacity" if load > 1 else f"is at {load:.0%}"
            grows = ", so its backlog grows" if load > 1 else " of its capacity"
            yield name, f"{which} {says}{grows}; the vertex is at {mean:.0%}"


def transaction_warnings(job: Job, point: Point, failures: Failures) -> Iterator[str]:
    """Yield the lost part where a transaction ends before a failure is over.

    A transaction is open from one checkpoint to the commit after the next one. A failure before
    that commit adds the restart.
    """
    timeout_ns = job.costs.transaction_timeout_ns
    if timeout_ns is None or point.mode is Mode.AT_LEAST_ONCE:
        return
    needed_s = point.effective_s + point.duration_s + failures.restart_s
    if timeout_ns < needed_s * 1e9:
        yield (
            f"the transaction time-out of {units.write(timeout_ns, units.DURATION_UNITS)} is"
            " shorter than interval + duration + restart:"
            f" {point.effective_s:,.1f} s + {point.duration_s:,.1f} s + {failures.restart_s:,.1f} s"
            f" = {needed_s:,.0f} s. A failure between completion and commit then loses what the"
            " checkpoint covers. Raise job.costs.transaction_timeout above that sum"
        )


def _at_highest(job: Job) -> Job:
    """Return a job with the highest rate of its sources."""
    vertices = tuple(
        replace(v, rate_per_s=v.rate_per_s * max(c.factor for c in v.rate_changes))
        if v.rate_per_s and any(c.factor for c in v.rate_changes)
        else v
        for v in job.vertices
    )
    return replace(job, vertices=vertices)


def _of_recording(job: Job, recording: Recording) -> Iterator[str]:
    count = len(recording.completed)
    if count < ENOUGH_CHECKPOINTS:
        yield f"only {count} completed checkpoints were recorded, expected {ENOUGH_CHECKPOINTS}"
    interval_ms = job.checkpointing.interval_ns / 1e6
    if recording.duration_ms and interval_ms > recording.duration_ms:
        yield (
            f"the interval of {interval_ms / 1000:,.0f} s is longer than the recording of"
            f" {recording.duration_ms / 1000:,.0f} s: what relaxes in between was not seen"
        )
    if recording.job_state not in (None, "RUNNING"):
        yield f"the job was {recording.job_state} when it was recorded, not RUNNING"
    failed = sum(1 for one in recording.checkpoints if one.status == "FAILED")
    if failed > 1:
        yield f"{failed} recorded checkpoints failed, which no replay shows"
