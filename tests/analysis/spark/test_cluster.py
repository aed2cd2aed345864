"""The demo's sweep on a standalone cluster: the same command with another master."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pandas.testing import assert_frame_equal

from ckptsim.analysis import summaries
from ckptsim.analysis.spark.package import ARCHIVE_NAME, program_root
from ckptsim.analysis.tables.store import SweepStore
from tests.analysis.spark.cluster import standalone
from tests.analysis.summaries.test_random import bytes_of
from tests.analysis.sweeps.test_sweep import contents

PLAN = """
name = "cluster"
scenario = "reference"
replications = 12
[grid]
"sync.sockets.count" = [1, 2, 4]
"core.ordering" = ["builtin", "mine:make"]
"""
MINE = """
from helping import given

def make(parameters):
    return given(parameters)
"""
HELPING = "from ckptsim.models.ordering import make_core as given"
WHERE = """
import sys
from ckptsim.analysis.spark.session import spark_session

def places(_):
    import os, ckptsim.sim.world
    return ckptsim.sim.world.__file__, os.getpid()

with spark_session(sys.argv[1]) as session:
    found = session.sparkContext.parallelize(range(16), 16).map(places).distinct().collect()
    print(*sorted({place for place, _ in found}), len({process for _, process in found}))
"""

# Aggregate a copy of a sweep with directory the executors that do not see.
SHIPPED = """
import shutil, sys
from pathlib import Path
from ckptsim.analysis import summaries
from ckptsim.analysis.spark.session import spark_session
from ckptsim.analysis.summaries import aggregate
from ckptsim.analysis.tables.store import SweepStore

_, master, made, copy = sys.argv
shutil.copytree(made, copy, ignore=shutil.ignore_patterns("summaries"))
aggregate.is_shared = lambda *_: False
with spark_session(master) as session:
    summaries.refresh(session, SweepStore(Path(copy)))
"""
PLACES = ("local", "cluster", "shipped")


def run(words: list[str], *, python: str, cwd: Path) -> str:
    """Run a Python program of this interpreter with workers that use another one."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env={"PYTHONPATH": str(program_root()), "PYSPARK_PYTHON": python, "PATH": ""},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.long
@pytest.mark.spark
def test_rows_of_a_cluster_are_those_of_one_machine(tmp_path: Path) -> None:
    """Two executors with what the driver ships, and no checkout, leave the same rows and bytes.

    So do they with a core of the user's, which imports another module of the user's.
    """
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "helping.py").write_text(HELPING)
    sweep = ["-m", "ckptsim", "sweep", "plan.toml", "--no-report", "--out"]
    run([*sweep, "local", "--master", "local[2]"], python=sys.executable, cwd=tmp_path)
    nodes = tmp_path / "nodes"
    nodes.mkdir()
    with standalone(nodes) as (master, python):
        run([*sweep, "cluster", "--master", master], python=python, cwd=tmp_path)
        *places, processes = run(["-c", WHERE, master], python=python, cwd=tmp_path).split()
        # As where the nodes share no file system: the driver ships the rows.
        run(["-c", SHIPPED, master, "cluster", "shipped"], python=python, cwd=tmp_path)
    assert contents(tmp_path / "cluster") == contents(tmp_path / "local")
    local, cluster, shipped = (SweepStore(tmp_path / name) for name in PLACES)
    assert bytes_of(cluster) == bytes_of(local)
    for name, frame in summaries.frames(shipped).items():
        assert_frame_equal(frame, summaries.frames(local)[name], check_exact=True)
    assert places
    assert all(ARCHIVE_NAME in place and str(nodes) in place for place in places)
    assert int(processes) >= 2
