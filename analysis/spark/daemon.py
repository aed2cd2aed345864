"""The process from which Spark forks its Python workers, made ready before the first fork.

It imports once what every worker needs and freezes those objects, so that forked workers share
their memory and no collection walks them.  Forked workers would also share the state of the global
random generators, which turns a careless global draw into equal values in different runs. So those
are made to refuse.
"""

from __future__ import annotations

import gc
import importlib
import random
import sys
from typing import Any, NoReturn

from pyspark import daemon as spark_daemon

# What a worker would otherwise import in its first task.
NEEDED = ("numpy", "pandas", "pyarrow", "simpy", "pyspark.worker", "ckptsim.analysis.sweeps.worker")


class GlobalRandomError(RuntimeError):
    """Something drew from a global random generator in a worker."""


def prepare() -> None:
    """Import what workers need, poison the global generators, freeze the collector."""
    # An archive on the path is read again by every task's search for changed modules, see
    # Source: apache/spark, SPARK-54744. CPython issue 103200.
    sys.path[:] = [entry for entry in sys.path if not entry.endswith("pyspark.zip")]
    for name in NEEDED:
        importlib.import_module(name)
    poison_global_random()
    gc.collect()
    gc.freeze()


def poison_global_random() -> None:
    """Make the module-level generators of `random` and `numpy.random` raise GlobalRandomError."""
    import numpy.random

    for name in _draws(random):
        setattr(random, name, _refuse)
    for name in _draws(numpy.random):
        setattr(numpy.random, name, _refuse)


def _draws(module: Any) -> list[str]:
    """Return the names of a module's functions that are methods of a hidden global generator."""
    return [
        name
        for name, value in sorted(vars(module).items())
        if not name.startswith("_")
        and not isinstance(value, type)
        and type(getattr(value, "__self__", None)).__name__ in {"Random", "RandomState"}
    ]


def _refuse(*_arguments: object, **_named: object) -> NoReturn:
    raise GlobalRandomError("a run draws from named streams, never from a global generator")


if __name__ == "__main__":
    prepare()
    spark_daemon.manager()
