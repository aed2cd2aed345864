"""The options that bound what one run may take."""

from __future__ import annotations

import argparse
import re

from ckptsim.scenarios.dialect import DURATION_UNITS, SIZE_UNITS, parse
from ckptsim.sim.limits import Limits

_SECOND_NS = 1_000_000_000


def add_limit_arguments(parser: argparse.ArgumentParser, *, instead: str) -> None:
    """Declare time and memory of a run; instead: what happens with one that takes more."""
    parser.add_argument(
        "--run-timeout",
        type=_duration,
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


def _duration(text: str) -> float:
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
