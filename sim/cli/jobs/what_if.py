"""`ckptsim whatif`: a job as it is, measured and predicted, beside the job as it would be."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import cast

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.dialect import units
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import written_whole
from ckptsim.scenarios.job import Job
from ckptsim.sim.cli.jobs.answer import Answer, Outcome
from ckptsim.sim.cli.jobs.import_job import add_import_arguments
from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.options import positive, repeated, spark_settings
from ckptsim.sim.cli.places import output_file
from ckptsim.sim.cli.progress import ProgressBar, say
from ckptsim.sim.infer.advice.budget import lengthened, records_per_s
from ckptsim.sim.infer.advice.failing import (
    Failure,
    failing,
    failure_of,
    failure_warnings,
    price_of_failures,
)
from ckptsim.sim.infer.advice.warnings import warnings_of
from ckptsim.sim.infer.change import read_change, read_values
from ckptsim.sim.infer.change.variants import Variant, extrapolations, variants_of
from ckptsim.sim.infer.folder import Named, job_named, place_named
from ckptsim.sim.infer.measures import WARM_UP, behind_warm_up, predicted
from ckptsim.sim.infer.options import restart_delay_of
from ckptsim.sim.infer.verdict import moving
from ckptsim.sim.recording.values import duration_ns
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world

EXAMPLES = """examples:
  ckptsim whatif recorded/ --set execution.checkpointing.unaligned.enabled=true
  ckptsim whatif orders --set parallelism.default=6 --out answer.html
  ckptsim whatif job.toml --vary 'execution.checkpointing.interval=500 ms,1 s,5 s'
  ckptsim whatif recorded/ --set 'source.orders.rate=3900 /s' --json
  ckptsim whatif job.toml --set vertex.join.parallelism=4 --set 'vertex.join.state=20 mb'
  ckptsim whatif orders --failure join --restart 10s --vary execution.checkpointing.interval=1s,9s

Options have the engine's own names, or ours: source.NAME.KEY, vertex.NAME.KEY, or a path such as
job.network.latency.  A change that only says what the recording does not belongs to `import --set`.
exit codes: 0 done, 2 no such job, option or value"""

# So often a run in which all is warm-up is made longer, each time at least twice as long.
_LONGER = 4
# What `--failure` says without a name; no vertex can be called so.
_LAST = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument(
        "job_place", type=place_named, metavar="JOB.toml|DIR", help="a scenario, or a recording"
    )
    add_import_arguments(parser)
    repeated(
        parser,
        "--vary",
        "OPTION=A,B,...",
        "one variant for each value, and for each combination with other --vary",
    )
    parser.add_argument(
        "--failure",
        nargs="?",
        const=_LAST,
        metavar="VERTEX",
        help="what a failure of this vertex would cost, too; without a name of the last one",
    )
    parser.add_argument(
        "--restart",
        type=_restart_ns,
        metavar="TIME",
        help="from a failure to the restart (default: what the job was set to, or 1 s)",
    )
    parser.add_argument("--seeds", type=positive, default=5, help="runs of each (default: 5)")
    add_master_argument(parser)
    parser.add_argument(
        "--out", type=output_file, metavar="PAGE.html", help="write the answer as a page, too"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def _restart_ns(text: str) -> int:
    found = duration_ns(text)
    if found is None or found < 0 or text.isdigit():
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a time such as 10s or 500 ms")
    return found


def run(arguments: argparse.Namespace) -> int:
    """Simulate the job as it is and every variant, and compare."""
    answer = answer_to(arguments)
    if arguments.json:
        print(json.dumps(answer.document(), indent=1))
    else:
        print("\n".join(answer.lines()))
    if arguments.out is not None:
        written_whole(arguments.out, answer.page())
        print(f"written: {arguments.out}", file=sys.stderr)
    return EXIT_FINE


def answer_to(arguments: argparse.Namespace) -> Answer:
    """Return the answer to a command line of this verb.

    Raises UserError for what is no question, and for a job, option or value that cannot be.
    """
    named = job_named(arguments.job_place, job=arguments.job, machine=arguments.machine)
    change, varied = read_change(arguments.set), read_values(arguments.vary)
    if not change and not varied and arguments.failure is None:
        expected = "at least one --set, --vary or --failure"
        raise UserError(f"--set: found no change, expected {expected}")
    variants = variants_of(named.scenario, change, varied)
    failure = _failure(arguments, named)
    outcomes = _outcomes(arguments, [named.scenario, *(v.scenario for v in variants)], failure)
    return Answer(
        named=named,
        variants=variants,
        outcomes=outcomes,
        notes=list(_notes(named, variants, outcomes, failure)),
        failure=failure,
    )


def _failure(arguments: argparse.Namespace, named: Named) -> Failure | None:
    """Return the failure that was asked for, with the delay that the job itself has if any."""
    if arguments.failure is None:
        return None
    restart_ns = arguments.restart
    if restart_ns is None:
        restart_ns = restart_delay_of(named.recording)
    vertex = None if arguments.failure == _LAST else arguments.failure
    return failure_of(_job(named.scenario), vertex, restart_ns=restart_ns)


def _outcomes(
    arguments: argparse.Namespace, scenarios: Sequence[Scenario], failure: Failure | None
) -> list[Outcome]:
    """Run every scenario with every seed, then the failures, whose phases need the durations."""
    count = arguments.seeds
    found = [
        _outcome(was, scenario, results)
        for was, (scenario, results) in zip(
            scenarios, _in_time(scenarios, count, arguments.master), strict=True
        )
    ]
    if failure is None:
        return found
    failing_runs = [
        (one, seed)
        for scenario, outcome in zip(scenarios, found, strict=True)
        for seed, one in enumerate(failing(scenario, failure, outcome.measures, count=count), 1)
    ]
    results = run_scenarios(failing_runs, master=arguments.master, says="failures")
    return [
        replace(outcome, failure=price_of_failures(results[index * count : (index + 1) * count]))
        for index, outcome in enumerate(found)
    ]


def _in_time(
    scenarios: Sequence[Scenario], count: int, master: str
) -> list[tuple[Scenario, list[RunResult]]]:
    """Return the runs of every scenario, of a longer one where all was warm-up."""
    found: dict[int, tuple[Scenario, list[RunResult]]] = {}
    waiting = dict(enumerate(scenarios))
    for _ in range(_LONGER + 1):
        runs = [(one, seed) for one in waiting.values() for seed in range(1, count + 1)]
        results = run_scenarios(runs, master=master, says="whatif")
        for place, (index, scenario) in enumerate(waiting.items()):
            found[index] = scenario, results[place * count : (place + 1) * count]
        longer = ((index, lengthened(*found[index])) for index in waiting)
        waiting = {index: scenario for index, scenario in longer if scenario is not None}
        if not waiting:
            break
    return [found[index] for index in range(len(scenarios))]


def _outcome(was: Scenario, scenario: Scenario, results: Sequence[RunResult]) -> Outcome:
    """Return what the runs of a scenario show; was: the one that was asked for."""
    each = (predicted([result]).duration_ms.get("median") for result in results)
    return Outcome(
        measures=predicted(results),
        medians_ms=tuple(one for one in each if one is not None),
        completed=max((one.run.checkpoints_completed for one in results), default=0),
        notes=(*_warm_up(was, scenario, results), *moving(results)),
    )


def _warm_up(was: Scenario, scenario: Scenario, results: Sequence[RunResult]) -> Iterator[str]:
    """Yield what was left out as warm-up where that was all, and what came of it."""
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
    named: Named,
    variants: Sequence[Variant],
    outcomes: Sequence[Outcome],
    failure: Failure | None,
) -> Iterator[str]:
    """Yield what must be said with the answer, each once, with the variants that it is of."""
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


# Records that one core simulates in some 90 s, measured on the shipped recordings.  Starting Spark
# takes some 5 s, so that less is done sooner without.
_MUCH = 60_000_000
HERE = "here"
_AUTO = "auto"


def add_master_argument(parser: argparse.ArgumentParser) -> None:
    """Declare where runs are carried out."""
    parser.add_argument(
        "--master",
        default=_AUTO,
        metavar="URL",
        help="a Spark master, or `here` for this process; default: here, and local[*] where it "
        "would take minutes",
    )


def run_scenarios(
    runs: Sequence[tuple[Scenario, int]], *, master: str, says: str
) -> list[RunResult]:
    """Return the results of scenarios with their seeds, in their order, without judgements."""
    if master == _AUTO:
        installed = find_spec("pyspark") is not None
        records = sum(_records_of(_job(scenario)) for scenario, _ in runs)
        master = "local[*]" if installed and records > _MUCH else HERE
    with ProgressBar(says) as bar:
        if master == HERE:
            found = []
            for scenario, seed in runs:
                found.append(run_world(scenario, seed=seed, judged=False))
                bar(done=len(found), total=len(runs))
            return found
        from ckptsim.analysis.spark.session import spark_session
        from ckptsim.analysis.sweeps.results import run_all

        say(f"starting Spark on {master}")
        with spark_session(checked_master(master)) as session:
            return run_all(session, runs, progress=lambda done: bar(done=done, total=len(runs)))


def checked_master(master: str) -> str:
    """Return a Spark master; raises UserError for what cannot be one."""
    spark_settings(argparse.Namespace(master=master, partitions=None, conf=[]))
    return master


def _records_of(job: Job) -> float:
    """Return about how many records a run processes until its last checkpoint, or its end."""
    run_ns = job.duration_ns
    if job.checkpointing.count is not None:
        run_ns = min(run_ns, (job.checkpointing.count + 1) * job.checkpointing.interval_ns)
    return records_per_s(job) * run_ns / 1e9
