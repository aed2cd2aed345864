"""The one question: why a checkpoint or a recovery took so long, or why a checkpoint failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median_low

from ckptsim.scenarios import Scenario, UserError
from ckptsim.scenarios.dialect import in_units
from ckptsim.scenarios.job import Job
from ckptsim.sim.rows import CheckpointRow, RunResult
from ckptsim.sim.why.answer import Cause, Step, Why, duration, length
from ckptsim.sim.why.failed import failed_path, late_trigger, reason_why
from ckptsim.sim.why.observed import Observed, ended_ns
from ckptsim.sim.why.path import cause_of, checkpoint_path
from ckptsim.sim.why.recovery import longest, recovery_path
from ckptsim.sim.why.remedies import Measure, Run, affordable, changes, remedies
from ckptsim.sim.why.words import because, storage_faults, there
from ckptsim.sim.world import run_world

SLOWEST, EXPIRED, FAILED, RECOVERY = "slowest", "expired", "failed", "recovery"
Target = int | str
_FAILED = ("expired", "aborted", "failed")
_TOO_LONG = "No change was simulated, as this run is long; `ckptsim whatif` simulates changes."
_EACH_MAX = 50  # failed checkpoints for a look at each
_RECOVERIES_MAX = 5  # with a cause from `run`


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
    model = scenario.model
    if not isinstance(model, Job) or (
        model.checkpointing.enabled and not model.checkpointing.coordinated
    ):
        expected = "a job with coordinated checkpoints"
        raise UserError(f"{scenario.name}: found link {scenario.link}, expected {expected}")

    def as_told(varied: Scenario) -> RunResult:
        return run_world(varied, seed=seed, ties=ties, keep_trace=True, judged=False)

    again = as_told if run is None else run
    return why_of(scenario, again(scenario), target, again=again if simulate else None)


def why_of(
    scenario: Scenario, result: RunResult, target: Target = SLOWEST, *, again: Run | None = None
) -> Why:
    """Return the cause of what happened in a run. again: runs a scenario as this one was run."""
    asked = _Asked(scenario, Observed(scenario, result), again)
    if isinstance(target, str) and target.startswith(RECOVERY):
        return asked.recovery(target.removeprefix(RECOVERY).strip() or "1")
    if not result.checkpoints:
        return Why(happened=f"No checkpoint was triggered. {asked.nothing()}")
    rows = result.checkpoints
    if isinstance(target, int):
        found = [row for row in rows if row.checkpoint_id == target]
        return asked.checkpoint(found) if found else asked.never(target)
    done = [row for row in rows if row.status == "completed"]
    if target == SLOWEST and done:
        return asked.checkpoint([max(done, key=lambda row: row.duration_ns or 0)])
    wanted = (EXPIRED,) if target == EXPIRED else _FAILED
    failed = [row for row in rows if row.status in wanted]
    if target != SLOWEST and not failed:
        raise UserError(f"{target}: found no such checkpoint, expected {asked.known()}")
    return asked.checkpoint(max(asked.groups(failed or rows), key=len))


def cause_lines(scenario: Scenario, result: RunResult) -> Iterator[str]:
    """Yield a line for the slowest checkpoint, the failed ones by group, and each recovery.

    None of a scenario without coordinated checkpoints, and of recoveries after the first ones.
    """
    model = scenario.model
    if not isinstance(model, Job) or not model.checkpointing.coordinated:
        return
    asked, rows = _Asked(scenario, Observed(scenario, result), None), result.checkpoints
    if not rows and model.checkpointing.enabled:
        yield f"No checkpoint was triggered. {asked.nothing()}"
    done = [row for row in rows if row.status == "completed"]
    slowest = [[max(done, key=lambda row: row.duration_ns or 0)]] if done else []
    failed = [row for row in rows if row.status in _FAILED]
    found = [asked.checkpoint(group) for group in [*slowest, *asked.groups(failed)]]
    count = min(len(result.recoveries), _RECOVERIES_MAX)
    found += [asked.recovery(str(number)) for number in range(1, count + 1)]
    yield from (one.line for one in found)
    if left := len(result.recoveries) - count:
        yield f"{left} more recoveries. `ckptsim why` explains each: recovery {count + 1}, ..."


def causes_of(
    scenario: Scenario, run: Observed, checkpoints: Sequence[int]
) -> Iterator[tuple[str, Why]]:
    """Yield the causes of some checkpoints of a job's run, by number, and of each recovery.

    None of a scenario without coordinated checkpoints.
    """
    if not run.job.checkpointing.coordinated:
        return
    asked, result = _Asked(scenario, run, None), run.result
    for number in dict.fromkeys(checkpoints):
        rows = [row for row in result.checkpoints if row.checkpoint_id == number]
        if rows:
            yield str(number), asked.checkpoint(rows)
    for place in range(1, min(len(result.recoveries), _RECOVERIES_MAX) + 1):
        yield f"{RECOVERY} {place}", asked.recovery(str(place))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A run about which is asked. again: runs a scenario as this one was run, None for no more."""

    scenario: Scenario
    run: Observed
    again: Run | None

    def groups(self, rows: Sequence[CheckpointRow]) -> list[list[CheckpointRow]]:
        """Return checkpoints that have not completed, the ones of one cause together.

        Of very many the later ones go with the latest one that ended for the same reason.
        """
        found: dict[object, list[CheckpointRow]] = {}
        latest: dict[object, object] = {}
        for count, row in enumerate(rows):
            kind = (row.status, row.reason)
            if count < _EACH_MAX or kind not in latest:
                cause, _ = failed_path(self.run, row)
                latest[kind] = (*kind, cause and (cause.place, cause.phase))
            found.setdefault(latest[kind], []).append(row)
        return list(found.values())

    def known(self) -> str:
        """Say which checkpoints there are."""
        rows = self.run.result.checkpoints
        counts = dict.fromkeys((row.status for row in rows), 0)
        for row in rows:
            counts[row.status] += 1
        told = ", ".join(f"{count} {status}" for status, count in counts.items())
        return f"one of {rows[0].checkpoint_id} to {rows[-1].checkpoint_id} ({told})"

    def checkpoint(self, group: Sequence[CheckpointRow]) -> Why:
        """Return the cause of a checkpoint, the first of a group that failed alike."""
        row, run, late, reason = group[0], self.run, False, ""
        if row.status == "completed":
            before = late_trigger(run, row)
            path = before + checkpoint_path(run, row)
            cause = cause_of(path)
            late = cause is not None and cause.phase == "trigger_delay" and bool(before)
            told = f" It was triggered {duration(length(before))} late." if late else ""
            after = length(step for step in path if step.phase == "commit")
            told += (
                f" Its commit took {duration(after)} more."
                if after > (row.duration_ns or 0)
                else ""
            )
            happened = _took(run, row) + told
        else:
            cause, path = failed_path(run, row)
            happened = _failed(run, row, len(group))
            reason = "" if cause is None else reason_why(run, row, cause)

        # A commit comes after the duration of a checkpoint, so it counts where it is the cause.
        committed = cause is not None and cause.phase == "commit"

        def measure(other: Observed) -> int | None:
            for one in other.result.checkpoints:
                if one.checkpoint_id == row.checkpoint_id and one.status == "completed":
                    before = late_trigger(other, one) if late else []
                    steps = [*before, *checkpoint_path(other, one)]
                    return length(step for step in steps if committed or step.phase != "commit")
            return None

        found = self.answer(happened, cause, path, row, measure, failed=bool(reason))
        told = " ".join(storage_faults(run, path))
        return replace(found, because=reason, there=told) if reason else found

    def recovery(self, number: str) -> Why:
        """Return the cause of a recovery, by its number from 1."""
        rows = self.run.result.recoveries
        if not number.isdigit() or not 1 <= int(number) <= len(rows):
            expected = f"one from 1 to {len(rows)}" if rows else "a run with recoveries"
            raise UserError(f"recovery: found {number}, expected {expected}")
        index = int(number)
        path = recovery_path(self.run, index)
        took, cause = duration(length(path)), in_units(rows[index - 1].cause)
        happened = f"Recovery {number} took {took} after a failure: {cause}."

        def measure(other: Observed) -> int | None:
            count = len(other.result.recoveries)
            return length(recovery_path(other, index)) if count >= index else None

        return self.answer(happened, longest(path), path, None, measure)

    def answer(
        self,
        happened: str,
        cause: Cause | None,
        path: list[Step],
        row: CheckpointRow | None,
        measure: Measure,
        *,
        failed: bool = False,
    ) -> Why:
        """Return an answer in words, with remedies.

        measure: what they are to shorten.  failed: as of `changes`.
        """
        if cause is None:
            return Why(happened=happened)
        tried, long = [], False
        if self.again is not None:
            ends_ns = None if row is None else ended_ns(row)
            until_ns = max([step.until_ns for step in path] + [ends_ns or 0])
            wanted = list(changes(self.run, cause, failed=failed))
            long = bool(wanted) and not affordable(self.run, until_ns)
            tried = remedies(
                self.scenario,
                wanted,
                self.run,
                until_ns=until_ns,
                again=self.again,
                measure=measure,
            )
        return Why(
            note=_TOO_LONG if long else "",
            happened=happened,
            because=because(self.run, cause, path, row),
            there=there(self.run, cause, path, row),
            cause=cause,
            path=path,
            remedies=tried,
        )

    def never(self, target: int) -> Why:
        """Return why a checkpoint that was due was not triggered.

        Raises UserError for one that was not due by the end of the run.
        """
        run, last = self.run, self.run.result.checkpoints[-1]
        intervals = target - last.checkpoint_id
        due_ns = last.triggered_ns + intervals * run.job.checkpointing.interval_ns
        if intervals < 1 or due_ns > run.result.run.ended_ns:
            raise UserError(f"checkpoint: found {target}, expected {self.known()}")
        happened = f"Checkpoint {target} was due at {duration(due_ns)} and was never triggered."
        cause, path = failed_path(run, last) if last.status != "completed" else (None, [])
        if cause is None:
            return Why(happened=happened, because=self.nothing())
        held = f"Checkpoint {last.checkpoint_id} was under way."
        told = because(run, cause, path, last)
        cause = replace(cause, phase="trigger_delay", share=1.0)
        return Why(happened=f"{happened} {held}", because=told, cause=cause, path=path)

    def nothing(self) -> str:
        """Say why nothing was triggered, as far as the scenario and the rows show it."""
        run, settings = self.run, self.run.job.checkpointing
        ends_ns = run.result.run.ended_ns
        ended, first_ns = duration(ends_ns), settings.first_trigger_ns
        due_ns = settings.interval_ns if first_ns is None else first_ns
        done = [row for row in run.result.tasks if row.finished_ns is not None]
        if not settings.enabled:
            return "Checkpoints are off (job.checkpointing.enabled)."
        if run.result.recoveries:
            count = len(run.result.recoveries)
            return f"The job failed {count} times, each time before the next trigger."
        if done and not settings.after_finish:
            return f"{done[0].task} had finished, and no checkpoint follows (after_finish is off)."
        before = f", before the first trigger at {duration(due_ns)}" if due_ns > ends_ns else ""
        return f"The run ended at {ended}{before}."


def _took(run: Observed, row: CheckpointRow) -> str:
    others = [
        one.duration_ns
        for one in run.result.checkpoints
        if one.status == "completed" and one is not row and one.duration_ns is not None
    ]
    usual = f"; {duration(median_low(others))} is usual" if others else ""
    return f"Checkpoint {row.checkpoint_id} took {duration(row.duration_ns)}{usual}."


def _failed(run: Observed, row: CheckpointRow, count: int) -> str:
    name, ends_ns = f"Checkpoint {row.checkpoint_id}", run.result.run.ended_ns
    done = any(one.status == "completed" for one in run.result.checkpoints)
    alike = (f" {count} ended so." if count > 1 else "") + ("" if done else " None completed.")
    if row.status == "expired":
        timeout = duration(run.job.checkpointing.timeout_ns)
        return f"{name} expired after its time-out of {timeout}.{alike}"
    if row.status == "pending":
        took = duration(ends_ns - row.triggered_ns)
        return f"{name} was under way for {took} when the run ended.{alike}"
    return f"{name} failed after {duration(row.duration_ns)}: {row.reason or 'no reason'}.{alike}"
