"""Limits of runs, results that arrive early, scratch folders, and ends from outside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from ckptsim.analysis.spark.scratch import remove_left_over, scratch_directory
from ckptsim.analysis.sweeps import sweep
from ckptsim.analysis.sweeps.chunks import Costs, pack
from ckptsim.analysis.sweeps.worker import run_chunk
from ckptsim.analysis.tables.store import SweepStore
from ckptsim.sim.cli import main
from ckptsim.sim.limits import Limits
from tests.analysis.sweeps import synthetic
from tests.analysis.test_commands import command, environment, plan

ABOUT = {"plan": "p", "version": "1"}


def test_a_run_beyond_its_time_becomes_a_row() -> None:
    """A run that takes too long is ended and says so. The runs after it are done."""
    rows = synthetic.rows([synthetic.point(sleeps=2)], [1, 2, 3])
    limits = Limits(seconds=0.2)
    began = time.monotonic()
    result = run_chunk(synthetic.WORLD, rows, each=lambda: None, limits=limits)
    assert time.monotonic() - began < 10
    runs = pa.ipc.open_stream(result.tables["runs"]).read_all().to_pylist()
    assert [run["outcome"] for run in runs] == ["completed", "error", "completed"]
    assert runs[1]["error"] == "RunTimeoutError: the run took longer than 0.2 s (--run-timeout)"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the address space so")
def test_a_run_beyond_its_memory_becomes_a_row() -> None:
    """A run that needs too much memory is refused it and says so. The next one has its own."""
    rows = synthetic.rows([synthetic.point(hoards=2)], [1, 2, 3])
    limits = Limits(memory_bytes=200 << 20)
    result = run_chunk(synthetic.WORLD, rows, each=lambda: None, limits=limits)
    runs = pa.ipc.open_stream(result.tables["runs"]).read_all().to_pylist()
    assert [run["outcome"] for run in runs] == ["completed", "error", "completed"]
    assert runs[1]["error"].startswith("RunMemoryError: the run needed more than 209715200 bytes")


@pytest.mark.spark
def test_results_are_saved_while_one_run_is_long(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All chunks but the one of a run that never ends are saved before it ends."""
    monkeypatch.setattr(sweep, "SAVE_S", 0.5)
    store = SweepStore(tmp_path)
    store.open(ABOUT)
    rows = synthetic.rows([synthetic.point(sleeps=3)], range(1, 9))
    seen: list[int] = []

    def watch() -> None:
        while not seen or seen[-1] < len(rows):
            seen.append(len(list((tmp_path / "runs").glob("*.parquet"))) and len(store.run_keys()))
            time.sleep(0.1)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    sweep.run_sweep(spark, rows, store, world=synthetic.WORLD, partitions=8)
    watcher.join(30)
    cores = spark.sparkContext.defaultParallelism
    chunks = pack(rows, Costs(), chunks=8, cores=cores)
    assert len(rows) - next(len(chunk) for chunk in chunks if rows[2] in chunk) in seen
    assert store.run_keys() == {row.run_key for row in rows}


def test_scratch_folders_of_the_dead_are_removed_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next session removes what a killed one left. Those in use and strange ones stay."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "ckptsim-notes").mkdir()
    (tmp_path / "ckptsim-notes" / "a.txt").write_text("mine")
    (tmp_path / "other").mkdir()
    script = (
        "import os, signal\n"
        "from ckptsim.analysis.spark.scratch import scratch_directory\n"
        "with scratch_directory() as d:\n"
        "    (d / 'big').write_text('x')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    where = environment() | {"TMPDIR": str(tmp_path)}
    killed = subprocess.run([sys.executable, "-P", "-c", script], env=where, check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = [path for path in tmp_path.iterdir() if (path / "big").exists()]
    with scratch_directory() as mine:
        assert not left.exists()
        remove_left_over()
        assert mine.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ckptsim-notes", "other"]


def _under_way(directory: Path, signalled: Callable[[subprocess.Popen[bytes]], None]) -> str:
    """Start a long sweep, do something to it when runs were saved, and return what it said."""
    # Half of the runs are short and saved at once. The others need minutes, which no one waits for.
    mine = directory / "plan.toml"
    mine.write_text(
        'name = "mine"\nscenario = "reference"\nreplications = 60\n'
        '[grid]\n"sync.streams[*].records" = [200, 1_000_000]\n'
    )
    words = command("sweep", str(mine), "--out", "out", "--master", "local[2]")
    scratch = directory / "scratch"
    scratch.mkdir(exist_ok=True)
    running = subprocess.Popen(
        words,
        cwd=directory,
        env=environment() | {"TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 120
    while not list(directory.glob("out/runs/*.parquet")) and time.monotonic() < deadline:
        assert running.poll() is None, running.communicate()
        time.sleep(0.05)
    signalled(running)
    _, said = running.communicate(timeout=120)
    assert [path.name for path in scratch.iterdir() if path.name.startswith("ckptsim-")] == []
    assert not (directory / "out" / "sweep.lock").exists()
    return f"{running.returncode}: {said.decode()}"


def _children(process: int) -> list[int]:
    found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(word) for word in found]


@pytest.mark.spark
def test_a_request_to_end_tidies_up(tmp_path: Path) -> None:
    """SIGTERM ends a sweep like Ctrl-C: saved runs are reported, nothing is left."""
    said = _under_way(tmp_path, lambda running: running.send_signal(signal.SIGTERM))
    assert said.startswith("143: ckptsim: terminated; ")
    assert said.endswith("of 120 runs are kept in out; the same command does the rest\n")


@pytest.mark.spark
@pytest.mark.skipif(sys.platform != "linux", reason="the children of a process are looked up")
def test_a_killed_java_process_is_told_and_the_sweep_resumes(tmp_path: Path) -> None:
    """When Spark's JVM is killed one line says so, with code 2, and how to continue."""

    def kill(running: subprocess.Popen[bytes]) -> None:
        (java,) = [
            child
            for child in _children(running.pid)
            if "java" in Path(f"/proc/{child}/cmdline").read_text()
        ]
        os.kill(java, signal.SIGKILL)

    said = _under_way(tmp_path, kill)
    assert said.startswith("2: ckptsim sweep: the Java process of Spark has ended (killed by ")
    assert said.endswith("the same command does the rest\n")
    assert said.count("\n") == 1
    assert SweepStore(tmp_path / "out").run_keys()


@pytest.mark.parametrize(
    "words", [["--run-timeout", "soon"], ["--run-timeout", "0 s"], ["--run-memory", "much"]]
)
def test_a_wrong_limit_is_told(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A limit that is no duration or size is refused with the value found."""
    assert main(["sweep", str(plan(tmp_path, replications=1)), *words]) == 2
    assert f"found '{words[1]}'" in capsys.readouterr().err


def test_the_size_of_a_plan_is_said_without_making_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten million runs are explained at once, from the plan alone."""
    path = plan(tmp_path, replications=1_000_000)
    counts = ", ".join(map(str, range(1, 11)))
    path.write_text(path.read_text().replace("[1, 2]", f"[{counts}]"))
    began = time.process_time()
    assert main(["explain", str(path)]) == 0
    assert time.process_time() - began < 5
    assert "in all 10000000 runs" in capsys.readouterr().out
