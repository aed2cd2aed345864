"""The compiled kernel is kept once per text of it, wherever the program lies."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ckptsim.analysis.spark.package import program_root, write_archive
from ckptsim.sim.job.buffers.compiled.kept import kept_in

LOAD = "from ckptsim.sim.job.buffers.compiled.door import kernel; kernel()"
KEY = "from ckptsim.sim.job.buffers.compiled.kept import kept_in; print(kept_in().name)"
# Says when it has the lock and when it is about to give it back, a while later.
HOLD = """
import time
from ckptsim.sim.job.buffers.compiled.kept import one_at_a_time
with one_at_a_time():
    print(time.monotonic_ns())
    time.sleep(0.5)
    print(time.monotonic_ns())
"""
# The first run of a process loads the kernel, and compiles it where it is not kept.
RUN = """
from dataclasses import replace
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.job import Engine
from ckptsim.sim.world import run_world
found = by_name("back_pressure_aligned")
model = replace(found.model, engine=Engine.COMPILED, duration_ns=300_000_000)
print(run_world(replace(found, model=model), seed=1).run.digest)
"""


def start(program: str, cache: Path, root: Path) -> subprocess.Popen[str]:
    """Start a program in a process of its own, with a cache folder and a place of the package."""
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env=os.environ | {"XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        text=True,
    )


def told(process: subprocess.Popen[str]) -> str:
    """Return what a process has printed, when it has ended well."""
    out, _ = process.communicate()
    assert process.returncode == 0
    return out


def test_the_kernel_of_an_archive_is_that_of_the_checkout(tmp_path: Path) -> None:
    """An executor that has the program as an archive keeps its kernel under the same hash."""
    archive = write_archive(tmp_path)
    assert told(start(KEY, tmp_path, archive)).strip() == kept_in().name


def test_one_process_compiles_at_a_time(tmp_path: Path) -> None:
    """Of two processes that would compile one waits until the other has: they never overlap."""
    both = [start(HOLD, tmp_path, program_root()) for _ in range(2)]
    first, second = sorted([int(word) for word in told(one).split()] for one in both)
    assert first[1] <= second[0]


def test_the_kernel_is_loaded_by_the_run_that_needs_it() -> None:
    """A run is fenced off from clocks, ids and random names. Its loader has them all the same."""
    cache = kept_in().parents[1]
    assert len(told(start(RUN, cache, program_root())).strip()) > 8


@pytest.mark.long
def test_a_run_compiles_what_is_not_kept(tmp_path: Path) -> None:
    """So it is where nothing is kept yet."""
    assert len(told(start(RUN, tmp_path, program_root())).strip()) > 8
    assert list(tmp_path.rglob("*.o"))


@pytest.mark.long
def test_an_executor_loads_what_the_driver_has_compiled(tmp_path: Path) -> None:
    """Where the program lies does not matter: from an archive nothing is compiled again."""
    told(start(LOAD, tmp_path, program_root()))
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.o")}
    told(start(LOAD, tmp_path, write_archive(tmp_path)))
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.o")} == kept
    assert len(kept) == 1


@pytest.mark.long
def test_two_processes_that_begin_at_once_compile_once(tmp_path: Path) -> None:
    """One compiles and keeps one kernel. The other loads it, and both have it."""
    both = [start(LOAD, tmp_path, program_root()) for _ in range(2)]
    assert [told(one) for one in both] == ["", ""]
    assert len(list(tmp_path.rglob("*.o"))) == 1
