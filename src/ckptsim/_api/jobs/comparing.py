"""What `whatif` simulates: the job as it is, every variant, and their failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from ckptsim._api.jobs.recorded import AnyJob, asked_for, change_of, named_job
from ckptsim._api.jobs.whatif import Outcome, WhatIf
from ckptsim._api.result import Duration, nanoseconds
from ckptsim._api.scenario import Value, text_of
from ckptsim.scenarios import Scenario
from ckptsim.scenarios.dialect import units
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.job import Job
from ckptsim.sim.infer.advice.budget import lengthened
from ckptsim.sim.infer.advice.failing import (
    Failure,
    failing,
    failure_of,
    failure_warnings,
    price_of_failures,
)
from ckptsim.sim.infer.advice.warnings import warnings_of
from ckptsim.sim.infer.assumptions import assumptions
from ckptsim.sim.infer.change.conf import read_configuration
from ckptsim.sim.infer.change.variants import Variant, extrapolations, variants_of
from ckptsim.sim.infer.folder import Named
from ckptsim.sim.infer.measures import WARM_UP, behind_warm_up, predicted
from ckptsim.sim.infer.options import restart_delay_of
from ckptsim.sim.infer.verdict import moving
from ckptsim.sim.rows import RunResult
from ckptsim.sim.why import Why, why_of
from ckptsim.sim.world import run_world

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# So often a run in which all is warm-up is made longer, each time at least twice as long.
_LONGER = 4

Runner: TypeAlias = Callable[[Sequence[tuple[Scenario, int]], str], Sequence[RunResult]]
"""Runs scenarios with their seeds and returns the results in order; the text says what for."""


def whatif(
    job: AnyJob,
    *,
    set: Mapping[str, Value] | None = None,
    vary: Mapping[str, Sequence[Value]] | None = None,
    conf: str | Path | None = None,
    failure: str | bool = False,
    restart: Duration | None = None,
    seeds: int = 5,
    machine: str = "quiet",
    profile: str = "plain",
    job_id: str | None = None,
    full: bool = False,
    quick: bool = False,
    spark: SparkSession | None = None,
    progress: Callable[[int], object] = int,
) -> WhatIf:
    """Compare a job as it is, measured and predicted, with the job as it would be.

    job: a scenario of a job on buffers, the path of its file, or the folder of a recording.
    set: options of every variant. vary: option -> values, a variant for each combination.
    conf: a configuration file of the engine, or a FlinkDeployment, with options of every variant.
    failure: the vertex that fails, or True for the last one. restart: from then to the restart.
    seeds: runs of each.  machine, profile: as of `import_job`. job_id: where several
    were recorded.  full: simulate all of long jobs.  quick: fewer checkpoints.
    spark: a session that runs them.
    progress: called with the number of runs done.

    Raises UserError for a place without such a job, and for options and values that cannot be.
    """
    return compare(
        named_job(job, machine, job_id, profile),
        lambda runs, _: run_scenarios(runs, spark, progress),
        set=set,
        vary=vary,
        conf=conf,
        failure=failure,
        restart=restart,
        seeds=seeds,
        full=full,
        quick=quick,
    )


def compare(
    named: Named,
    runner: Runner,
    *,
    set: Mapping[str, Value] | None,
    vary: Mapping[str, Sequence[Value]] | None,
    conf: str | Path | None,
    failure: str | bool,
    restart: Duration | None,
    seeds: int,
    full: bool = False,
    quick: bool = False,
) -> WhatIf:
    """Compare a job with its variants, as `whatif` does. runner: runs the scenarios."""
    named, how_much = asked_for(named, full=full, quick=quick)
    if not set and not vary and conf is None and failure is False:
        expected = "at least one --set, --vary, --conf or --failure"
        raise UserError(f"set: found no change, expected {expected}")
    varied = {name: [text_of(one) for one in values] for name, values in (vary or {}).items()}
    file = None if conf is None else read_configuration(Path(conf))
    variants = variants_of(named.scenario, change_of(set), varied, file)
    fails = None
    if failure is not False:
        options = {} if named.recording is None else named.recording.options
        delay_ns = restart_delay_of({**options, **({} if file is None else file.every)})
        restart_ns = delay_ns if restart is None else nanoseconds(restart, "restart")
        vertex = None if failure is True else failure
        fails = failure_of(_job(named.scenario), vertex, restart_ns=restart_ns)
    scenarios = [named.scenario, *(variant.scenario for variant in variants)]
    outcomes, first = _outcomes(scenarios, fails, seeds, runner)
    rests = assumptions(named.scenario, first)
    return WhatIf(
        named=named,
        variants=variants,
        outcomes=outcomes,
        notes=[
            *how_much,
            *(file.notes if file else ()),
            *_notes(named, variants, outcomes, fails),
            *rests,
        ],
        failure=fails,
    )


def run_scenarios(
    runs: Sequence[tuple[Scenario, int]],
    spark: SparkSession | None,
    progress: Callable[[int], object],
) -> Sequence[RunResult]:
    """Return the results of scenarios with their seeds, in order. spark: None for this process."""
    if spark is not None:
        from ckptsim.analysis.sweeps.results import run_all

        return run_all(spark, runs, progress=progress)
    found = []
    for scenario, seed in runs:
        found.append(run_world(scenario, seed=seed, judged=False))
        progress(len(found))
    return found


def _outcomes(
    scenarios: Sequence[Scenario], failure: Failure | None, count: int, runner: Runner
) -> tuple[list[Outcome], RunResult]:
    """Run every scenario, then the failures by phases. Return the outcomes and the first run."""
    ran = _in_time(scenarios, count, runner)
    found = [
        _outcome(was, scenario, results)
        for was, (scenario, results) in zip(scenarios, ran, strict=True)
    ]
    first = ran[0][1][0]
    if failure is None:
        return found, first
    failing_runs = [
        (one, seed)
        for scenario, outcome in zip(scenarios, found, strict=True)
        for seed, one in enumerate(failing(scenario, failure, outcome.measures, count=count), 1)
    ]
    results = runner(failing_runs, "failures")
    priced = [
        replace(outcome, failure=price_of_failures(results[index * count : (index + 1) * count]))
        for index, outcome in enumerate(found)
    ]
    return priced, first


def _in_time(
    scenarios: Sequence[Scenario], count: int, runner: Runner
) -> list[tuple[Scenario, Sequence[RunResult]]]:
    found: dict[int, tuple[Scenario, Sequence[RunResult]]] = {}
    waiting = dict(enumerate(scenarios))
    for _ in range(_LONGER + 1):
        runs = [(one, seed) for one in waiting.values() for seed in range(1, count + 1)]
        results = runner(runs, "whatif")
        for place, (index, scenario) in enumerate(waiting.items()):
            found[index] = scenario, results[place * count : (place + 1) * count]
        longer = ((index, lengthened(*found[index])) for index in waiting)
        waiting = {index: scenario for index, scenario in longer if scenario is not None}
        if not waiting:
            break
    return [found[index] for index in range(len(scenarios))]


def _outcome(was: Scenario, scenario: Scenario, results: Sequence[RunResult]) -> Outcome:
    """Return what the runs of a scenario show. was: the one that was asked for."""
    each = (predicted([result]).duration_ms.get("median") for result in results)
    return Outcome(
        measures=predicted(results),
        medians_ms=tuple(one for one in each if one is not None),
        completed=max((one.run.checkpoints_completed for one in results), default=0),
        why=_why(scenario, results[0]),
        tasks=results[0].tasks,
        notes=(*_warm_up(was, scenario, results), *moving(results)),
    )


def _why(scenario: Scenario, result: RunResult) -> Why:
    checkpointing = _job(scenario).checkpointing
    if checkpointing.enabled and not checkpointing.coordinated:
        return Why(happened="Checkpoints without a coordinator have no critical path.")
    return why_of(scenario, result)


def _warm_up(was: Scenario, scenario: Scenario, results: Sequence[RunResult]) -> Iterator[str]:
    job = _job(scenario)
    asked = units.write(_job(was).duration_ns, units.DURATION_UNITS)
    ran = units.write(job.duration_ns, units.DURATION_UNITS)
    if any(map(behind_warm_up, results)):
        if scenario is not was:
            yield (
                f"simulated for {ran} instead of {asked}, as the first {WARM_UP} completed"
                " checkpoints are left out as warm-up and no other completes by then"
            )
        return
    done = max((result.run.checkpoints_completed for result in results), default=0)
    key = "job.duration" if job.checkpointing.count is None else "job.checkpointing.count"
    if done:
        yield f"{done} of {done} completed checkpoints left out as warm-up; raise {key}"
    elif job.checkpointing.enabled:
        failed = max((result.run.checkpoints_failed for result in results), default=0)
        yield f"no checkpoint completes in {ran} of simulated time, and {failed} fail"


def _notes(
    named: Named, variants: Sequence[Variant], outcomes: Sequence[Outcome], failure: Failure | None
) -> Iterator[str]:
    said = dict.fromkeys(warnings_of(_job(named.scenario), named.recording))
    yield from said
    yield from (f"as it is: {note}" for note in outcomes[0].notes)
    of: dict[str, list[str]] = {}
    for variant, outcome in zip(variants, outcomes[1:], strict=True):
        own = [
            *extrapolations(named.scenario, variant.scenario),
            *warnings_of(_job(variant.scenario)),
            *outcome.notes,
        ]
        for note in dict.fromkeys(own):
            if note not in said:
                of.setdefault(note, []).append(variant.name)
    for note, names in of.items():
        every = len(names) == len(variants) > 1
        yield f"{'every variant' if every else '; '.join(names)}: {note}"
    if failure is not None:
        yield from failure_warnings(_job(named.scenario))


def _job(scenario: Scenario) -> Job:
    return cast("Job", scenario.model)
