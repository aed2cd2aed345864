"""The Spark session: one JVM of our own, quiet, on loopback, with quick Python workers.

Everything that Spark would write beside its results (scratch files, warehouse, sockets, logs) goes
to one directory that is removed when the session closes. Neither the home directory nor the working
directory is touched.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ckptsim.analysis.spark.java import Gateway, end_process, ending_of, has_ended, launch_gateway
from ckptsim.analysis.spark.package import (
    ARCHIVE_NAME,
    program_root,
    write_archive,
    write_own_archive,
)
from ckptsim.analysis.spark.scratch import scratch_directory
from ckptsim.scenarios.errors import UserError

if TYPE_CHECKING:
    import subprocess

    from pyspark import SparkContext
    from pyspark.sql import SparkSession

# Time zone of the JVM: simulated time has none, and rows must not depend on the machine's.
JAVA_OPTIONS = ("-Duser.timezone=UTC", "-Dfile.encoding=UTF-8")
LOCAL_MASTER = "local[*]"
# Source: Linux, unix(7): a path of 107 bytes. PySpark's names have some 45.
SOCKET_FOLDER_BYTES_MAX = 60
SHUFFLE_PARTITIONS = 2  # an assumption: tables of sweeps are small
LOGGING = Path(__file__).parents[1] / "templates" / "log4j2.properties"


class SparkEndedError(UserError):
    """The Java process of Spark ended under the work: someone has killed it, or it was too big."""


@contextmanager
def spark_session(
    master: str = LOCAL_MASTER,
    *,
    shuffle_partitions: int = SHUFFLE_PARTITIONS,
    settings: Mapping[str, str] | None = None,
    java_options: tuple[str, ...] = (),
) -> Iterator[SparkSession]:
    """Open a Spark session on any master and close it, with its JVM, at the end.

    master: `local[*]`, or the address of a cluster such as `spark://host:7077`.  A cluster's
    executors get the program as an archive that the driver ships.
    settings: Spark settings that win over those chosen here. java_options: of the driver's JVM.

    PySpark has one session per process.  Where one is open already, as in a notebook, it is lent:
    it keeps its master and its settings, and stays open at the end.

    Raises JavaStartError when the JVM does not start, UserError when a cluster is not reached,
    SparkEndedError when the JVM is gone before the work is done.
    """
    from pyspark.sql import SparkSession

    open_already = SparkSession.getActiveSession()
    if open_already is not None:
        with lent(open_already) as session:
            yield session
        return
    with scratch_directory() as directory:
        chosen = {
            **_settings(master, directory, shuffle_partitions=shuffle_partitions),
            **(settings or {}),
        }
        options = (*java_options, *JAVA_OPTIONS, f"-Dlog4j2.configurationFile={LOGGING.as_uri()}")
        log = directory / "java.log" if is_local(master) else None
        gateway = launch_gateway(chosen, directory=directory, options=options, log=log)
        try:
            with silent_when_gone(gateway.process):
                session = _reach(master, gateway)
                _hear_no_last_breath(session, gateway)
                try:
                    _ship_program(session, directory)
                    with _end_explained(gateway):
                        yield session
                finally:
                    with _quiet_when_gone(gateway):
                        session.stop()
        finally:
            with _quiet_when_gone(gateway):
                _disconnect(gateway)


@contextmanager
def lent(session: SparkSession) -> Iterator[SparkSession]:
    """Use a session that was opened elsewhere. It stays open, with the settings that it had.

    On this machine its workers run in this interpreter, which has the program, unless the user has
    chosen another: PySpark takes the first `python3` that it finds.
    """
    context, before = session.sparkContext, dict(session.conf.getAll)
    python = context.pythonExec
    if is_local(context.master) and "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable
    with scratch_directory() as directory:
        try:
            _ship_program(session, directory)
            yield session
        finally:
            context.pythonExec = python
            for name, value in dict(session.conf.getAll).items():
                if before.get(name) != value:
                    _set_back(session, name, before.get(name))


def _set_back(session: SparkSession, name: str, value: str | None) -> None:
    if value is None:
        session.conf.unset(name)
    else:
        session.conf.set(name, value)


def cancel_jobs(context: SparkContext) -> None:
    """Cancel what runs. A Java process that is gone runs nothing.

    Another thread talks to Java: this one may have been interrupted in the middle of doing so.
    """
    from py4j.protocol import Py4JError

    def cancel() -> None:
        with suppress(Py4JError, OSError):
            context.cancelAllJobs()

    cancelling = threading.Thread(target=cancel)
    cancelling.start()
    cancelling.join()


def _ship_program(session: SparkSession, directory: Path) -> None:
    """Let the executors of a cluster have what local ones import from here."""
    if is_local(session.sparkContext.master):
        return
    for archive in (write_archive(directory), write_own_archive(directory)):
        if archive is not None:
            session.sparkContext.addPyFile(str(archive))


@contextmanager
def _end_explained(gateway: Gateway) -> Iterator[None]:
    """Turn whatever fails because the Java process is gone into one error that says so."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        if not has_ended(gateway.process):
            raise
        raise SparkEndedError(
            f"the Java process of Spark has ended ({ending_of(gateway.process)}); runs that were "
            "saved stay, and the same command does the rest"
        ) from error


def _hear_no_last_breath(session: SparkSession, gateway: Gateway) -> None:
    """Let PySpark's server of accumulators say nothing when the Java process breaks off."""
    server = session.sparkContext._accumulatorServer  # noqa: SLF001 - it prints by itself
    tell = server.handle_error

    def handle_error(request: object, client: object) -> None:
        if not has_ended(gateway.process):
            tell(request, client)

    server.handle_error = handle_error


@contextmanager
def silent_when_gone(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Drop the tracebacks that Py4J logs when a Java process that has ended gives no answer.

    Py4J logs them with the functions of the module `logging`, so they come from the root logger.
    The error that this session raises says the same in one line.
    """

    def is_news(record: logging.LogRecord) -> bool:
        return not (f"{os.sep}py4j{os.sep}" in record.pathname and has_ended(process))

    root = logging.getLogger()
    root.addFilter(is_news)
    try:
        yield
    finally:
        root.removeFilter(is_news)


@contextmanager
def _quiet_when_gone(gateway: Gateway) -> Iterator[None]:
    """Let pass what cannot be told any more to a Java process that is gone."""
    from py4j.protocol import Py4JError

    try:
        yield
    except (Py4JError, OSError):
        if not has_ended(gateway.process):
            raise


def _reach(master: str, gateway: Gateway) -> SparkSession:
    """Connect to the JVM, which connects to the master. A cluster may be away or not be one.

    Raises UserError when it is.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        return _connect(gateway, python=_python(master))
    except (Py4JError, PySparkException) as error:
        if is_local(master):
            raise
        found = f"--master: found {master}, which was not reached (Spark says why above)"
        raise UserError(f"{found}, expected a cluster that runs") from error


def is_local(master: str) -> bool:
    """Return whether this master's executors run on this machine, in the driver's JVM."""
    return master == "local" or master.startswith("local[")


def _settings(master: str, directory: Path, *, shuffle_partitions: int) -> dict[str, str]:
    local = is_local(master)
    chosen = {
        "spark.master": master,
        "spark.app.name": "ckptsim",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(directory),
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        "spark.sql.artifact.isolation.enabled": "false",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(shuffle_partitions),
        # Planning again between stages costs more than it saves on small tables.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.driver.memory": "1g",
        "spark.driver.maxResultSize": "0",
        "spark.python.worker.reuse": "true",
        # Small tasks stall on loopback TCP. A socket of the file system does not, but has to have a
        # short name: a directory for temporary files with a long one leaves TCP.
        "spark.python.unix.domain.socket.enabled": str(
            len(os.fsencode(directory)) <= SOCKET_FOLDER_BYTES_MAX
        ).lower(),
        "spark.python.daemon.module": "ckptsim.analysis.spark.daemon",
        # Rows never depend on hashes of strings. Equal seeds make that easy to check.
        "spark.executorEnv.PYTHONHASHSEED": "0",
        # A folder of the same name as ours in the working directory must not win.
        "spark.executorEnv.PYTHONSAFEPATH": "1",
        "spark.executorEnv.OMP_NUM_THREADS": "1",
        # On another machine the program is what the driver ships, in the executor's directory.
        "spark.executorEnv.PYTHONPATH": _worker_path() if local else ARCHIVE_NAME,
    }
    if local:
        chosen["spark.driver.host"] = "127.0.0.1"
        chosen["spark.driver.bindAddress"] = "127.0.0.1"
    return chosen


def _worker_path() -> str:
    """Return the search path of local workers: the running program, then what the user has set."""
    return os.pathsep.join(filter(None, [str(program_root()), os.environ.get("PYTHONPATH")]))


def _python(master: str) -> str:
    """Return the interpreter of the workers: ours, or on a cluster the one its nodes have."""
    return sys.executable if is_local(master) else os.environ.get("PYSPARK_PYTHON", "python3")


def _connect(gateway: Gateway, *, python: str) -> SparkSession:
    """Let PySpark use the running JVM. Its environment variables are set only meanwhile."""
    from pyspark.sql import SparkSession

    variables = {
        "PYSPARK_GATEWAY_PORT": str(gateway.port),
        "PYSPARK_GATEWAY_SECRET": gateway.secret,
        "PYSPARK_PYTHON": python,
        "PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0"),
    }
    before = {name: os.environ.get(name) for name in variables}
    on_interrupt = signal.getsignal(signal.SIGINT)
    os.environ.update(variables)
    try:
        return SparkSession.builder.getOrCreate()
    finally:
        # PySpark's own handler talks to the JVM, even in the middle of doing so.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, on_interrupt)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _disconnect(gateway: Gateway) -> None:
    """End the JVM and make PySpark forget it, so that a later session starts its own."""
    from pyspark import SparkContext

    try:
        if SparkContext._gateway is not None:  # noqa: SLF001 - PySpark has no other way to forget
            SparkContext._gateway.shutdown()  # noqa: SLF001
    finally:
        SparkContext._gateway = None  # noqa: SLF001
        SparkContext._jvm = None  # noqa: SLF001
        end_process(gateway.process)
