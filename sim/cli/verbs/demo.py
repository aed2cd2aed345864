"""`demo`: sweep some scenarios of the library on Spark and write a report."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ckptsim._api.sweeps.verbs import sweep_result
from ckptsim.scenarios.planning import load_plan
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_VIOLATED
from ckptsim.sim.cli.options import Verb, option, output_folder, spark, spark_settings
from ckptsim.sim.cli.progress import ProgressBar
from ckptsim.sim.cli.verbs import jobs

# The job of the tutorial, docs/your-job.md, and what it is asked.
TUTORIAL = (
    "orders",
    "--set=execution.checkpointing.unaligned.enabled=true",
    "--vary=execution.checkpointing.aligned-checkpoint-timeout=0 ms,300 ms,1 s",
    "--seeds=2",
    "--master=here",
)
PLANS = ("barrier_modes", "recovery_load", "upload_latency", "crash_instant", "pipeline_interval")


def _demo(arguments: argparse.Namespace) -> int:
    from ckptsim.analysis.report import write_report
    from ckptsim.analysis.spark.session import spark_session

    settings = spark_settings(arguments)
    print(f"1 of {len(PLANS) + 1}: ", end="")
    job = job_of_the_tutorial()
    print(f"starting Spark on {arguments.master}", flush=True)
    with spark_session(arguments.master, settings=settings) as session:
        bad = sum(_sweep(session, number, arguments) for number in range(len(PLANS)))
        print("aggregating and drawing", flush=True)
        path = write_report(
            arguments.out, session, begins=lambda name: print(f"  {name}", flush=True), opening=job
        )
    print(f"report: {path}\nopen it: ckptsim report {arguments.out} --open")
    return EXIT_VIOLATED if bad else EXIT_FINE


def job_of_the_tutorial() -> Any:
    """Return what the report begins with: a recorded job as it is and as it would be."""
    from ckptsim.analysis.report import Opening

    print("a recorded Flink job, as it is and with unaligned checkpoints", flush=True)
    parser = argparse.ArgumentParser()
    for each in jobs.VERBS["whatif"].options:
        each.add_to(parser)
    found = jobs.compared(parser.parse_args(list(TUTORIAL)))
    figure, figure_of = found.headline or ("", "")
    return Opening(
        anchor="your-job",
        title="What would unaligned checkpoints do to this recorded Flink job?",
        html=found.body(),
        figure=figure,
        figure_of=figure_of,
        says=f"As it is: {found.outcomes[0].why.line}",
        graph=json.dumps(found.graph),
    )


def _sweep(session: Any, number: int, arguments: argparse.Namespace) -> int:
    """Sweep one of the plans and print its answers. Return how many runs went wrong."""
    from ckptsim.analysis.sweeps.plan import about_sweep, make_ready, sweep_rows
    from ckptsim.analysis.sweeps.sweep import run_sweep
    from ckptsim.analysis.tables.store import SweepStore

    name = PLANS[number]
    plan = load_plan(name)
    print(f"{number + 2} of {len(PLANS) + 1}: sweep {name}: {plan.says}", flush=True)
    rows = sweep_rows(plan)
    store = SweepStore(arguments.out / name)
    about = about_sweep(plan, rows)
    with store.writing(), ProgressBar("  runs") as bar:
        # A sweep of an earlier version of the program is replaced.
        make_ready(store, rows, about, resume=not store.differs(about))
        summary = run_sweep(
            session,
            rows,
            store,
            partitions=arguments.partitions,
            progress=bar,
            violated=bar.violated,
        )
    found = sweep_result(store, summary)
    print(
        f"  {found.done} runs in {found.wall_s:.1f} s, {found.errors} errors, "
        f"{found.violated} with a property violated\n{found.answers_text}\n",
        flush=True,
    )
    return found.errors + found.violated


VERBS = {
    "demo": Verb(
        run=_demo,
        options=(
            option("--out", "where tables and report go", "DIR", output_folder, default="out/demo"),
            *spark(),
        ),
        examples="""examples:
  ckptsim demo --out out/demo
  ckptsim demo --out out/demo --master "local[2]" """,
    )
}
