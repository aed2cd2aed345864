"""Words and options of verbs as a table: each is declared once, for all verbs that take it."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ckptsim.scenarios.dialect import DURATION_UNITS, SIZE_UNITS, parse
from ckptsim.scenarios.errors import UserError

_SECOND_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Option:
    """A word, or an option if its name has dashes, as argparse takes it."""

    names: tuple[str, ...]
    how: Mapping[str, Any]

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Declare it."""
        parser.add_argument(*self.names, **self.how)


def option(
    name: str, says: str, metavar: str | None = None, type_: Any = None, **how: Any
) -> Option:
    """Return a word or an option with one value. Names of the same are separated by a blank."""
    how |= {} if type_ is None else {"type": type_}
    return Option(tuple(name.split()), {"help": says, "metavar": metavar, **how})


def flag(name: str, says: str) -> Option:
    """Return an option without a value."""
    return Option((name,), {"help": says, "action": "store_true"})


def repeated(name: str, metavar: str, says: str) -> Option:
    """Return an option that may be given several times."""
    return Option((name,), {"help": says, "metavar": metavar, "action": "append", "default": []})


def given(arguments: argparse.Namespace, names: str) -> dict[str, Any]:
    """Return arguments by name, for a function of the Python API that calls them the same."""
    return {name: getattr(arguments, name) for name in names.split()}


def json_of(what: str) -> Option:
    """Return the option that prints the result as JSON."""
    return flag("--json", f"print {what} as JSON")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """A verb: the function that does it and returns the exit code, its options and examples."""

    run: Callable[[argparse.Namespace], int]
    options: Sequence[Option]
    examples: str


# Types of values ---------------------------------------------------------------------------------


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return what reads a whole number within bounds, for the type of an option."""
    expected = f"a whole number from {least}" + ("" if most is None else f" to {most}")

    def number(text: str) -> int:
        value = int(text) if text.isascii() and text.isdigit() else -1
        if value < least or (most is not None and value > most):
            raise argparse.ArgumentTypeError(f"found {text!r}, expected {expected}")
        return value

    return number


positive = whole(1)


def duration(text: str) -> float:
    """Return the seconds of a duration with a unit, or of a plain number."""
    found = parse(text, DURATION_UNITS)
    if found is None and re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        found = int(float(text) * _SECOND_NS)
    if not found:
        raise argparse.ArgumentTypeError(f'found {text!r}, expected a duration such as "30 s"')
    return found / _SECOND_NS


def size(text: str) -> int:
    """Return the bytes of a size with a unit."""
    found = parse(text, SIZE_UNITS)
    if not found:
        raise argparse.ArgumentTypeError(f'found {text!r}, expected a size such as "2 GiB"')
    return found


def one_ties(text: str) -> str:
    """Return the text of a tie policy. Raises argparse's error for any other."""
    from ckptsim.sim.kernel import parse_ties

    try:
        return parse_ties(text, 0).name
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def many_ties(text: str) -> tuple[str, ...]:
    """Return tie policies separated by commas."""
    return tuple(one_ties(word) for word in text.split(","))


# Options of several verbs ------------------------------------------------------------------------

SET = repeated(
    "--set",
    "PATH=VALUE",
    "set a parameter, such as sync.sockets.count=4, or an option by Flink's name; may be repeated",
)
COSTS = option(
    "--costs", "costs of a store's steps, as `ckptsim measure-store` writes them", "FILE", Path
)
CORES = (
    repeated(
        "--core",
        "[SLOT=]MODULE:FACTORY|process:COMMAND",
        "run this core instead of ours in a slot (`ckptsim explain slots`); may be repeated",
    ),
    option(
        "--core-timeout",
        "what a core of yours may take for one call, of CPU (default 10 s)",
        "TIME",
        duration,
    ),
    option("--mutant", "run a mutant of ours (`ckptsim explain mutants`)", "NAME"),
)
PROPERTY = repeated(
    "--property",
    "MODULE:FUNCTION",
    "judge this invariant of yours as well (docs/finding-bugs.md); may be repeated",
)
SUBJECT = (
    option("scenario", "a name that `ckptsim list` shows, or a TOML file", "SCENARIO"),
    SET,
    repeated(
        "--vary",
        "PATH=A,B,...",
        "do it once for each value, and for each combination with other --vary",
    ),
    COSTS,
    *CORES,
    repeated(
        "--ignore",
        "NAME",
        "do not judge this property, which your protocol does not promise; may be repeated",
    ),
    PROPERTY,
)
LIKE_OURS = flag(
    "--like-ours", "with --core or --mutant: a first difference from our core is a violation"
)
SEED = (
    option("--seed", "of all random streams (default 0)", "SEED", int, default=0),
    option(
        "--ties",
        "order of simultaneous events: structural (default), random, pct, pct:DEPTH",
        "POLICY",
        one_ties,
        default="structural",
    ),
)
HOW_MUCH = (
    flag("--full", "simulate all of a long job, also the time in which it repeats itself"),
    flag("--quick", "answer from fewer checkpoints"),
)
FIRST = option("--first", "the first seed (default 0)", "FIRST", int, default=0)
ALLOW_COMMANDS = flag(
    "--allow-commands",
    "start the commands that a find's folder names: only where you trust who made it",
)


def limits(instead: str) -> tuple[Option, Option]:
    """Return time and memory of a run. instead: what happens with one that takes more."""
    took = f'a run that takes longer, such as "30 s", {instead}'
    needed = f'a run that needs more, such as "2 GiB", {instead}'
    return (
        option("--run-timeout", took, "TIME", duration),
        option("--run-memory", needed, "SIZE", size),
    )


def spark(
    master: str | None = "local[*]", says: str = "any Spark master; default: local[*]"
) -> tuple[Option, ...]:
    """Return the options of every verb that works on Spark. master: unless it is given."""
    return (
        option("--master", says, "URL", default=master),
        option("--partitions", "tasks per job; default: four per core", "N", int),
        repeated("--conf", "KEY=VALUE", "a Spark setting"),
    )


_MASTER = re.compile(r"local(\[(\*|[1-9][0-9]*)(,[1-9][0-9]*)?\])?|spark://\S+|k8s://\S+|yarn")


def check_master(master: str) -> None:
    """Raise UserError for a text that can be no Spark master."""
    if not _MASTER.fullmatch(master):
        expected = "local[*], local[N], spark://HOST:PORT, yarn or k8s://HOST:PORT"
        raise UserError(f"--master: found {master!r}, expected {expected}")


def spark_settings(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the user's Spark settings. Raises UserError for one that cannot be."""
    check_master(arguments.master)
    if arguments.partitions is not None and arguments.partitions < 1:
        raise UserError(f"--partitions: found {arguments.partitions}, expected at least 1")
    settings = {}
    for word in arguments.conf:
        key, equals, value = word.partition("=")
        if not equals or not key.startswith("spark."):
            raise UserError(f"--conf: found {word!r}, expected spark.KEY=VALUE")
        settings[key] = value
    return settings


def refuse(given: Mapping[str, object], why: str) -> None:
    """Raise UserError for the first option that was given though another one excludes it."""
    for name, value in given.items():
        if value:
            raise UserError(f"{name}: found {why}")


_NAME_BYTES_MAX = 255  # Source: Linux, NAME_MAX. The same on the usual file systems elsewhere


def output_folder(text: str) -> Path:
    """Return a folder that is there, or can be made. For `type=` of an argument."""
    path = _writable(text)
    if path.exists() and not path.is_dir():
        raise argparse.ArgumentTypeError(f"found {text!r}, a file, expected a folder")
    return path


def output_file(text: str) -> Path:
    """Return a file that is there, or can be made. For `type=` of an argument."""
    path = _writable(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"found {text!r}, a folder, expected a file")
    return path


def kept_folder(text: str) -> Path:
    """Return a folder that is read, and written if it is there. For `type=` of an argument."""
    return output_folder(text) if Path(text).is_dir() else Path(text)


def default_folder(path: Path) -> Path:
    """Return the default folder, or a private one where it cannot be written, and print it."""
    try:
        return _writable(str(path))
    except argparse.ArgumentTypeError as error:
        place = _private() / path.name
        print(f"{path} cannot be written ({error}): {place} takes its place", file=sys.stderr)
        return place


@cache
def _private() -> Path:
    return Path(tempfile.mkdtemp(prefix="ckptsim-out-"))


def _writable(text: str) -> Path:
    path = Path(text)
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a path")
    if any(len(os.fsencode(part)) > _NAME_BYTES_MAX for part in path.parts):
        expected = f"names of at most {_NAME_BYTES_MAX} bytes"
        raise argparse.ArgumentTypeError(f"found a name of {len(text)} characters, {expected}")
    for place in (path, *path.absolute().parents):
        if place.is_dir():
            if not os.access(place, os.W_OK | os.X_OK):
                raise argparse.ArgumentTypeError(f"found {str(place)!r}, which is read-only")
            return path
        if place.is_symlink() and not place.exists():
            found = f"found {str(place)!r}, a link to nothing"
            raise argparse.ArgumentTypeError(f"{found}, expected a place to write")
        if place != path and place.exists():
            found = f"found {str(place)!r}, a file"
            raise argparse.ArgumentTypeError(f"{found}, expected a folder above {text!r}")
    return path
