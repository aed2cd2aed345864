"""The one question: why a checkpoint or a recovery took so long, or why a checkpoint failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from statistics import median_low

from ckptsim.scenarios import Scenario, UserError
from ckptsim.scenarios.job import Job
from ckptsim.sim.rows import CheckpointRow, RunResult
from ckptsim.sim.why.answer import Cause, Step, Why, duration
from ckptsim.sim.why.failed import failed_path, reason_why
from ckptsim.sim.why.observed import Observed, ended_ns
from ckptsim.sim.why.path import cause_of, checkpoint_path
from ckptsim.sim.why.recovery import recovery_path
from ckptsim.sim.why.remedies import Run, remedies
from ckptsim.sim.why.words import because, there
from ckptsim.sim.world import run_world

SLOWEST, EXPIRED, FAILED = "slowest", "expired", "failed"
Target = int | str
_FAILED = ("expired", "aborted", "failed")


def why(
    scenario: Scenario,
    target: Target = SLOWEST,
    *,
    seed: int = 0,
    ties: str = "structural",
    simulate: bool = True,
    run: Callable[[Scenario], RunResult] | None = None,
) -> Why:
    """Run a scenario and return the cause of what the target names.

    target: the number of a checkpoint, `recovery N`, `expired`, `failed`, or `slowest`, which is
    the slowest completed one, or a failed one where none completed.  simulate: also try remedies.
    run: runs a scenario with its trace, if not `run_world` with the seed.
    Raises UserError for a scenario without a job, and for a target that the run does not have.
    """
    check(scenario)

    def again(varied: Scenario) -> RunResult:
        return run_world(varied, seed=seed, ties=ties, keep_trace=True, judged=False)

    again = again if run is None else run
    return why_of(scenario, again(scenario), target, again=again if simulate else None)


def check(scenario: Scenario) -> None:
    """Raise UserError for a scenario that has no job with coordinated checkpoints."""
    model = scenario.model
    if not isinstance(model, Job):
        expected = "a job on buffers or on records"
        raise UserError(f"{scenario.name}: found link {scenario.link}, expected {expected}")
    if model.checkpointing.enabled and not model.checkpointing.coordinated:
        found = f"protocol {model.checkpointing.protocol}"
        raise UserError(f"{scenario.name}: found {found}, expected coordinated checkpoints")


def why_of(
    scenario: Scenario, result: RunResult, target: Target = SLOWEST, *, again: Run | None = None
) -> Why:
    """Return the cause of what happened in a run with its trace; again: runs it with remedies."""
    run = Observed(scenario, result)
    if isinstance(target, str) and target.startswith("recovery"):
        return _recovery(scenario, run, target, again)
    if not result.checkpoints:
        return Why(happened=f"{_none(run)} No checkpoint was triggered.")
    if isinstance(target, int) and (never := _never(run, target)) is not None:
        return never
    row, others = _chosen(run, target)
    if row.status == "completed":
        return _completed(scenario, run, row, again)
    return _failed(scenario, run, row, others, again)


def _never(run: Observed, target: int) -> Why | None:
    """Return why a checkpoint that was due was never triggered; None of one that was not due."""
    last, ended = run.result.checkpoints[-1], run.result.run.ended_ns
    intervals = target - last.checkpoint_id
    due_ns = last.triggered_ns + intervals * run.job.checkpointing.interval_ns
    if intervals < 1 or due_ns > ended:
        return None
    happened = f"Checkpoint {target} was due at {duration(due_ns)} and was never triggered."
    found, path = failed_path(run, last) if last.status != "completed" else (None, [])
    if found is None:
        return Why(happened=happened, because=_none(run))
    told = f"Checkpoint {last.checkpoint_id} was under way: " + because(run, found, path, last)
    cause = replace(found, phase="trigger_delay", share=1.0)
    return Why(happened=happened, because=told, cause=cause, path=path)


def _chosen(run: Observed, target: Target) -> tuple[CheckpointRow, list[CheckpointRow]]:
    """Return the checkpoint that a target means, and those that failed as it did."""
    rows = run.result.checkpoints
    done = [row for row in rows if row.status == "completed"]
    if target == SLOWEST:
        if done:
            return max(done, key=lambda row: row.duration_ns or 0), []
        failed = [row for row in rows if row.status in _FAILED]
        return _largest_group(run, failed or rows)
    if target in (EXPIRED, FAILED):
        wanted = _FAILED if target == FAILED else (EXPIRED,)
        failed = [row for row in rows if row.status in wanted]
        if not failed:
            raise UserError(f"{target}: found no such checkpoint, expected {_known(rows)}")
        return _largest_group(run, failed)
    for row in rows:
        if row.checkpoint_id == target:
            return row, [row]
    raise UserError(f"checkpoint: found {target}, expected {_known(rows)}")


def _largest_group(
    run: Observed, rows: Sequence[CheckpointRow]
) -> tuple[CheckpointRow, list[CheckpointRow]]:
    """Return the first checkpoint of the cause that most of them have, with all of that cause."""
    groups: dict[tuple[object, ...], list[CheckpointRow]] = {}
    for row in rows:
        cause, _ = failed_path(run, row)
        key = (row.status, row.reason, cause and (cause.place, cause.phase))
        groups.setdefault(key, []).append(row)
    found = max(groups.values(), key=len)
    return found[0], found


def _known(rows: Sequence[CheckpointRow]) -> str:
    first, last = rows[0].checkpoint_id, rows[-1].checkpoint_id
    found = [
        f"{sum(row.status == s for row in rows)} {s}"
        for s in dict.fromkeys(row.status for row in rows)
    ]
    return f"one of {first} to {last} ({', '.join(found)})"


def _completed(scenario: Scenario, run: Observed, row: CheckpointRow, again: Run | None) -> Why:
    path = checkpoint_path(run, row)
    cause = cause_of(path)
    happened = f"Checkpoint {row.checkpoint_id} took {duration(row.duration_ns)}{_usual(run, row)}"
    took_ns = sum(step.duration_ns for step in path)
    if cause is None:
        return Why(happened=happened)
    if cause.phase == "trigger_delay" and cause.share == _share_of_late(path):
        happened += f" It was triggered {duration(row.triggered_ns - path[0].from_ns)} late."
    elif cause.phase == "commit":
        happened += f" It was committed {duration(took_ns)} after its trigger."

    def measure(other: Observed) -> int | None:
        same = [one for one in other.result.checkpoints if one.checkpoint_id == row.checkpoint_id]
        if not same or same[0].status != "completed":
            return None
        return _length(checkpoint_path(other, same[0]), cause)

    return _answer(
        scenario, run, cause, path, row,
        happened=happened, until_ns=path[-1].until_ns, again=again, measure=measure,
    )  # fmt: skip


def _share_of_late(path: Sequence[Step]) -> float:
    late_ns = sum(step.duration_ns for step in path if step.phase == "trigger_delay")
    return late_ns / max(1, sum(step.duration_ns for step in path))


def _length(path: Sequence[Step], cause: Cause) -> int:
    """Return how long a path takes, from the trigger unless a late one is the cause."""
    late = cause.phase == "trigger_delay"
    return sum(step.duration_ns for step in path if late or step.phase != "trigger_delay")


def _usual(run: Observed, row: CheckpointRow) -> str:
    others = [
        one.duration_ns
        for one in run.result.checkpoints
        if one.status == "completed" and one is not row and one.duration_ns is not None
    ]
    return f"; {duration(median_low(others))} is usual." if others else "."


def _failed(
    scenario: Scenario,
    run: Observed,
    row: CheckpointRow,
    others: Sequence[CheckpointRow],
    again: Run | None,
) -> Why:
    cause, path = failed_path(run, row)
    happened = _outcome(run, row, others)
    if cause is None:
        return Why(happened=happened)

    def measure(other: Observed) -> int | None:
        same = [one for one in other.result.checkpoints if one.checkpoint_id == row.checkpoint_id]
        return same[0].duration_ns if same and same[0].status == "completed" else None

    until_ns = ended_ns(row) or run.result.run.ended_ns
    return _answer(
        scenario, run, cause, path, row,
        happened=happened, until_ns=until_ns, again=again, measure=measure,
    )  # fmt: skip


def _outcome(run: Observed, row: CheckpointRow, others: Sequence[CheckpointRow]) -> str:
    settings, name = run.job.checkpointing, f"Checkpoint {row.checkpoint_id}"
    done = sum(one.status == "completed" for one in run.result.checkpoints)
    alike = f" {len(others)} ended so." if len(others) > 1 else ""
    none = " No checkpoint completed." if not done else ""
    if row.status == "expired":
        return f"{name} expired after its time-out of {duration(settings.timeout_ns)}.{alike}{none}"
    if row.status == "pending":
        left_ns = run.result.run.ended_ns - row.triggered_ns
        return f"{name} was under way for {duration(left_ns)} when the run ended.{none}"
    took = duration(row.duration_ns)
    return f"{name} failed after {took}: {row.reason or 'no reason'}.{alike}{none}"


def _recovery(scenario: Scenario, run: Observed, target: str, again: Run | None) -> Why:
    rows = run.result.recoveries
    number = target.removeprefix("recovery").strip() or "1"
    if not number.isdigit() or not 1 <= int(number) <= len(rows):
        expected = f"one from 1 to {len(rows)}" if rows else "a run with recoveries"
        raise UserError(f"recovery: found {number}, expected {expected}")
    index = int(number)
    row, path = rows[index - 1], recovery_path(run, index)
    total_ns = sum(step.duration_ns for step in path)
    happened = f"Recovery {index} took {duration(total_ns)} after a failure: {row.cause}."
    cause = _longest(path)
    if cause is None:
        return Why(happened=happened)

    def measure(other: Observed) -> int | None:
        if len(other.result.recoveries) < index:
            return None
        return sum(step.duration_ns for step in recovery_path(other, index))

    return _answer(
        scenario, run, cause, path, None,
        happened=happened, until_ns=path[-1].until_ns, again=again, measure=measure,
    )  # fmt: skip


def _longest(path: Sequence[Step]) -> Cause | None:
    """Return the longest phase of a recovery."""
    sums: dict[str, int] = {}
    for step in path:
        sums[step.phase] = sums.get(step.phase, 0) + step.duration_ns
    if not sums:
        return None
    phase = max(sums, key=lambda one: sums[one])
    vertex, subtask = next(step.place for step in path if step.phase == phase)
    share = sums[phase] / sum(sums.values())
    return Cause(vertex=vertex, subtask=subtask, phase=phase, share=share)


def _answer(
    scenario: Scenario,
    run: Observed,
    cause: Cause,
    path: list[Step],
    row: CheckpointRow | None,
    *,
    happened: str,
    until_ns: int,
    again: Run | None,
    measure: Callable[[Observed], int | None],
) -> Why:
    found = Why(
        happened=happened,
        because=because(run, cause, path, row),
        there=there(run, cause, row),
        cause=cause,
        path=path,
    )
    reason = reason_why(run, row, cause) if row is not None and row.status in _FAILED else ""
    if reason:
        found = replace(found, because=reason, there="")
    if again is None:
        return found
    tried = remedies(
        scenario, run, cause, path=path, until_ns=until_ns, again=again, measure=measure
    )
    return replace(found, remedies=tried)


def _none(run: Observed) -> str:
    """Say why a run has not a single checkpoint."""
    settings, ended = run.job.checkpointing, run.result.run.ended_ns
    first_ns = settings.first_trigger_ns
    if not settings.enabled:
        return "Checkpoints are off (job.checkpointing.enabled)."
    if (settings.interval_ns if first_ns is None else first_ns) > ended:
        due = duration(settings.interval_ns if first_ns is None else first_ns)
        return f"The run ended at {duration(ended)}, before the first trigger at {due}."
    if run.result.recoveries:
        count = len(run.result.recoveries)
        return f"The job failed {count} times, each time before the next trigger."
    done = [f"{row.task}[{row.subtask}]" for row in run.result.tasks if row.finished_ns is not None]
    if done and not settings.after_finish:
        return f"{done[0]} had finished, and no checkpoint follows (after_finish is off)."
    return f"The run ended at {duration(ended)}."


def cause_lines(scenario: Scenario, result: RunResult) -> Iterator[str]:
    """Yield a line for the slowest checkpoint, the failed ones by group, and each recovery.

    The run must have kept its trace.  Of links without a job, and of many recoveries, none.
    """
    model = scenario.model
    if not isinstance(model, Job) or not model.checkpointing.coordinated:
        return
    run = Observed(scenario, result)
    done = [row for row in result.checkpoints if row.status == "completed"]
    if done:
        found = _completed(scenario, run, _chosen(run, SLOWEST)[0], None)
        yield f"{found.happened} {found.because}".strip()
    left = [row for row in result.checkpoints if row.status in _FAILED]
    while left:
        row, group = _largest_group(run, left)
        found = _failed(scenario, run, row, group, None)
        yield f"{found.happened} {found.because}".strip()
        left = [one for one in left if one not in group]
    for number in range(1, min(len(result.recoveries), _RECOVERIES_MAX) + 1):
        found = _recovery(scenario, run, f"recovery {number}", None)
        yield f"{found.happened} {found.because}".strip()


_RECOVERIES_MAX = 5
