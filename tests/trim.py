"""Remove from the project's own environment what it never loads: `-m tests.trim`.

Wheels bring parts for uses that are none here: Spark's jars for Hive, Kubernetes, machine learning,
its own shell, Arrow's clients of remote services, the tests of libraries.  They are half of an
installation.  `make venv` removes them from its `.venv` before anything is started there, so
everything that the tests run runs without them. Any other environment is refused.
"""

from __future__ import annotations

import shutil
import sys
import sysconfig
from pathlib import Path

# Patterns below the folder of packages, each of a use that this program does not have.
UNNEEDED = (
    # The state of streaming queries, and the shuffle service of clusters that outlives executors.
    "pyspark/jars/rocksdbjni-*.jar",
    # Tables of Hive, its metastore and its server. ORC needs hive-storage-api, which stays.
    *(f"pyspark/jars/hive-{part}-*.jar" for part in ("exec", "metastore", "serde", "service-rpc")),
    *(f"pyspark/jars/{name}-*.jar" for name in ("spark-hive*", "datanucleus-*", "derby*")),
    # Machine learning and graphs, with their linear algebra: all of it, because Spark's serializer
    # takes a missing class for one that is not used, but not one with missing parts.
    *(f"pyspark/jars/spark-{part}_*.jar" for part in ("mllib", "mllib-local", "graphx")),
    *(f"pyspark/jars/{name}_*.jar" for name in ("breeze*", "spire*", "cats-kernel", "algebra")),
    *(f"pyspark/jars/{name}-*.jar" for name in ("lapack", "arpack_*", "JTransforms", "pmml-*")),
    # Masters that are Kubernetes. `spark://` and YARN stay.
    *(f"pyspark/jars/{name}-*.jar" for name in ("kubernetes-*", "volcano-*", "vertx-*")),
    "pyspark/jars/spark-kubernetes_*.jar",
    # Servers of other clients, and the Scala shell.
    *(f"pyspark/jars/{name}_*.jar" for name in ("spark-connect", "spark-repl")),
    "pyspark/jars/scala-compiler-*.jar",
    # Clients of Flight services and of S3, and what compiles against Arrow.
    *(f"pyarrow/{name}*" for name in ("libarrow_flight.", "libarrow_python_flight.", "_flight.")),
    *(f"pyarrow/{name}*" for name in ("libarrow_s3.", "_s3fs.", "include")),
    # The tests of libraries.
    *(f"{name}/tests" for name in ("pyarrow", "pandas", "matplotlib", "mpl_toolkits/*", "numba")),
    *(f"numpy/{name}tests" for name in ("", "*/", "*/*/")),
)


class NotOursError(RuntimeError):
    """The environment is not one that this project has made for itself."""


def main() -> None:
    """Remove the files from the environment of this interpreter. Raises NotOursError."""
    packages = Path(sysconfig.get_path("platlib"))
    if sys.prefix == sys.base_prefix or not packages.is_relative_to(sys.prefix):
        raise NotOursError(f"found {packages}, expected the packages of a virtual environment")
    trim(packages)


def trim(packages: Path) -> int:
    """Remove what matches the patterns and return its bytes."""
    freed = 0
    for path in unneeded(packages):
        parts = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
        freed += sum(each.lstat().st_size for each in parts)
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return freed


def unneeded(packages: Path) -> list[Path]:
    """Return the present paths, in a fixed order, no path below another."""
    found = dict.fromkeys(path for pattern in UNNEEDED for path in sorted(packages.glob(pattern)))
    return [path for path in found if not any(above in found for above in path.parents)]


if __name__ == "__main__":
    main()
