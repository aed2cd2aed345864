"""The options of every verb that works on Spark: the master, tasks per job, settings."""

from __future__ import annotations

import argparse
import re

from ckptsim.scenarios.errors import UserError

_MASTER = re.compile(r"local(\[(\*|[1-9][0-9]*)(,[1-9][0-9]*)?\])?|spark://\S+|k8s://\S+|yarn")


def add_spark_arguments(
    parser: argparse.ArgumentParser,
    *,
    master: str | None = "local[*]",
    says: str = "any Spark master; default: local[*]",
) -> None:
    """Declare the arguments of every verb that works on Spark; master: unless it is given."""
    parser.add_argument("--master", default=master, metavar="URL", help=says)
    parser.add_argument(
        "--partitions", type=int, metavar="N", help="tasks per job; default: four per core"
    )
    parser.add_argument(
        "--conf", action="append", default=[], metavar="KEY=VALUE", help="a Spark setting"
    )


def spark_settings(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the Spark settings that the user gave.

    Raises UserError for a master or a number that cannot be one, and for a setting without value.
    """
    if not _MASTER.fullmatch(arguments.master):
        expected = "local[*], local[N], spark://HOST:PORT, yarn or k8s://HOST:PORT"
        raise UserError(f"--master: found {arguments.master!r}, expected {expected}")
    if arguments.partitions is not None and arguments.partitions < 1:
        raise UserError(f"--partitions: found {arguments.partitions}, expected at least 1")
    settings = {}
    for word in arguments.conf:
        key, equals, value = word.partition("=")
        if not equals or not key.startswith("spark."):
            raise UserError(f"--conf: found {word!r}, expected spark.KEY=VALUE")
        settings[key] = value
    return settings
