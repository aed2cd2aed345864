"""`ckptsim demo`: sweep some scenarios of the library on Spark and write a report."""

from __future__ import annotations

import argparse
from pathlib import Path

from scenarios.grid import load_plan
from sim.cli.main import EXIT_FINE, EXIT_VIOLATED
from sim.cli.progress import ProgressBar
from sim.cli.sweep import add_spark_arguments, spark_settings

EXAMPLES = """examples:
  ckptsim demo --out out/demo
  ckptsim demo --out out/demo --master "local[2]" """

PLANS = (
    "sockets_and_batches",
    "upload_latency",
    "crash_instant",
    "barrier_modes",
    "pipeline_interval",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("--out", type=Path, default=Path("out/demo"), metavar="DIR")
    add_spark_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the sweeps in one Spark session, write the report, and end by naming it."""
    from analysis.plan import about_sweep, sweep_rows
    from analysis.report import write_report
    from analysis.session import spark_session
    from analysis.store import SweepStore
    from analysis.sweep import run_sweep

    settings = spark_settings(arguments)
    bad = 0
    print(f"starting Spark on {arguments.master}", flush=True)
    with spark_session(arguments.master, settings=settings) as session:
        for name in PLANS:
            plan = load_plan(name)
            rows = sweep_rows(plan)
            store = SweepStore(arguments.out / name)
            if store.differs(about_sweep(plan, rows)):
                store.clear()
            store.open(about_sweep(plan, rows))
            store.write_points(rows)
            print(f"sweep {name}: {plan.says}", flush=True)
            with ProgressBar("  runs") as bar:
                summary = run_sweep(
                    session, rows, store, partitions=arguments.partitions, progress=bar
                )
            found = store.tally()
            bad += found.errors + found.violated
            print(
                f"  {summary.done} runs in {summary.wall_s:.1f} s, {found.errors} errors, "
                f"{found.violated} with a property violated",
                flush=True,
            )
        print("aggregating on Spark and drawing", flush=True)
        path = write_report(session, arguments.out)
    print(f"report: {path}")
    return EXIT_VIOLATED if bad else EXIT_FINE
