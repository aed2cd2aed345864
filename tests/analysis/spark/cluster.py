"""A standalone Spark cluster on loopback, from the installed Spark, for tests.

Its nodes have the dependencies of the program but not the program: their interpreter sees the
installed packages as a plain folder, in which links to the checkout have no effect.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ckptsim.analysis.spark import java

START_S_MAX = 120


@contextmanager
def standalone(directory: Path, workers: int = 2) -> Iterator[tuple[str, str]]:
    """Start a master and workers of one core each. Yield the master's address and its Python."""
    python = node_python(directory / "node")
    environment = java.java_environment(
        {
            "JAVA_HOME": str(java.write_java_home(directory / "java")),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_NO_DAEMONIZE": "1",
        }
    )
    environment.pop("PYTHONPATH", None)
    options = ("-Xmx256m", f"-Djava.io.tmpdir={directory}")
    processes: list[subprocess.Popen[bytes]] = []

    def start(name: str, *arguments: str) -> Path:
        log = directory / f"{name}.log"
        words = java.java_command(*arguments, options=options)
        with log.open("wb") as output:
            processes.append(
                subprocess.Popen(
                    words, stdout=output, stderr=output, env=environment, cwd=directory
                )
            )
        return log

    try:
        log = start(
            "master",
            "org.apache.spark.deploy.master.Master",
            *("--host", "127.0.0.1", "--port", "0", "--webui-port", "0"),
        )
        address = "spark://" + _after(log, "Starting Spark master at spark://")
        for number in range(workers):
            log = start(
                f"worker-{number}",
                "org.apache.spark.deploy.worker.Worker",
                *("--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "1200m"),
                *("--work-dir", str(directory / f"work-{number}"), address),
            )
            _after(log, "Successfully registered with master")
        yield address, python
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()


def node_python(directory: Path) -> str:
    """Make an interpreter that has the installed packages, and none that is installed by link."""
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(directory)], check=True, timeout=120
    )
    (site,) = directory.glob("lib/python*/site-packages")
    (site / "node.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return str(directory / "bin" / "python")


def _after(log: Path, words: str) -> str:
    """Wait until the log has these words. Return what follows them on the line."""
    deadline = time.monotonic() + START_S_MAX
    while time.monotonic() < deadline:
        for line in log.read_text(errors="replace").splitlines():
            if words in line:
                return line.partition(words)[2].split(" ")[0].rstrip(".,")
        time.sleep(0.1)
    raise TimeoutError(f"{log.name} does not say {words!r}:\n{log.read_text(errors='replace')}")
