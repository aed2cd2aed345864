"""Options of several verbs: what bounds a run, and what every verb on Spark takes."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping

from ckptsim.scenarios import LINKS
from ckptsim.scenarios.dialect import DURATION_UNITS, SIZE_UNITS, parse
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.judging import Judging
from ckptsim.sim.limits import Limits
from ckptsim.sim.own_properties import is_own, own_properties
from ckptsim.sim.world import check_properties, is_property

_SECOND_NS = 1_000_000_000


def repeated(parser: argparse.ArgumentParser, name: str, metavar: str, says: str) -> None:
    """Declare an option that may be given several times."""
    parser.add_argument(name, action="append", default=[], metavar=metavar, help=says)


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return what reads a whole number within bounds, for `type=` of an argument."""
    expected = f"a whole number from {least}" + ("" if most is None else f" to {most}")

    def number(text: str) -> int:
        value = int(text) if text.isascii() and text.isdigit() else -1
        if value < least or (most is not None and value > most):
            raise argparse.ArgumentTypeError(f"found {text!r}, expected {expected}")
        return value

    return number


positive = whole(1)


def refuse(given: Mapping[str, object], why: str) -> None:
    """Raise UserError for the first option that was given though another one excludes it."""
    for name, value in given.items():
        if value:
            raise UserError(f"{name}: found {why}")


def add_judging_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare which properties are not judged, and which of the user's are."""
    add_ignore_argument(parser)
    add_property_argument(parser)


def add_property_argument(parser: argparse.ArgumentParser) -> None:
    """Declare which properties of the user's are judged."""
    repeated(
        parser,
        "--property",
        "MODULE:FUNCTION",
        "judge this invariant of yours as well (docs/finding-bugs.md); may be repeated",
    )


def add_ignore_argument(
    parser: argparse.ArgumentParser,
    *,
    says: str = "do not judge this property, which your protocol does not promise; may be repeated",
) -> None:
    """Declare which properties are not judged."""
    repeated(parser, "--ignore", "NAME", says)


def judging_of(arguments: argparse.Namespace, link: str) -> Judging:
    """Return how runs are judged.

    Raises UserError for a name that the link has not, and for a function that cannot be used.
    """
    ignore, own = tuple(dict.fromkeys(arguments.ignore)), own_of(arguments)
    everywhere = arguments.scenario == "all"
    check_properties("--ignore", ignore, *(LINKS if everywhere else (link,)))
    return Judging(
        ignore=tuple(name for name in ignore if is_property(name, link)),
        properties=own,
        like_ours=getattr(arguments, "like_ours", False),  # not of verbs that judge nothing
    )


def own_of(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return the properties of the user's; raises UserError for one that cannot be used."""
    for name in arguments.property:
        if not is_own(name):
            raise UserError(f"--property: found {name!r}, expected package.module:function")
    return tuple(own_properties(arguments.property))


def add_limit_arguments(parser: argparse.ArgumentParser, *, instead: str) -> None:
    """Declare time and memory of a run; instead: what happens with one that takes more."""
    parser.add_argument(
        "--run-timeout",
        type=duration,
        metavar="TIME",
        help=f'a run that takes longer, such as "30 s", {instead}',
    )
    parser.add_argument(
        "--run-memory",
        type=_size,
        metavar="SIZE",
        help=f'a run that needs more, such as "2 GiB", {instead}',
    )


def limits_of(arguments: argparse.Namespace) -> Limits:
    """Return the limits that the user gave."""
    return Limits(seconds=arguments.run_timeout, memory_bytes=arguments.run_memory)


def duration(text: str) -> float:
    """Return the seconds of a duration with a unit, or of a plain number."""
    found = parse(text, DURATION_UNITS)
    if found is None and re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        found = int(float(text) * _SECOND_NS)
    if not found:
        raise argparse.ArgumentTypeError(f'found {text!r}, expected a duration such as "30 s"')
    return found / _SECOND_NS


def _size(text: str) -> int:
    """Return the bytes of a size with a unit."""
    found = parse(text, SIZE_UNITS)
    if not found:
        raise argparse.ArgumentTypeError(f'found {text!r}, expected a size such as "2 GiB"')
    return found


def add_likeness_argument(parser: argparse.ArgumentParser) -> None:
    """Declare that a core of the user's must do as ours does."""
    parser.add_argument(
        "--like-ours",
        action="store_true",
        help="with --core or --mutant: a first difference from our core is a violation",
    )


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
    repeated(parser, "--conf", "KEY=VALUE", "a Spark setting")


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
