"""Runs of an imported job's scenarios: one after the other here, or on Spark where it is much."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.util import find_spec
from typing import cast

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.job import Job
from ckptsim.sim.cli.progress import ProgressBar, say
from ckptsim.sim.infer.advice.budget import records_per_s
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world

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
        master = "local[*]" if installed and _records(runs) > _MUCH else HERE
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
    from ckptsim.sim.cli.options import spark_settings

    spark_settings(argparse.Namespace(master=master, partitions=None, conf=[]))
    return master


def _records(runs: Sequence[tuple[Scenario, int]]) -> float:
    """Return about how many records all runs process."""
    return sum(_records_of(cast("Job", scenario.model)) for scenario, _ in runs)


def _records_of(job: Job) -> float:
    """Return about how many records a run processes until its last checkpoint, or its end."""
    run_ns = job.duration_ns
    if job.checkpointing.count is not None:
        run_ns = min(run_ns, (job.checkpointing.count + 1) * job.checkpointing.interval_ns)
    return records_per_s(job) * run_ns / 1e9
