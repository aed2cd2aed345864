"""`new` and `doctor`: a job to begin with, and the state of the installation."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from ckptsim._api.jobs.new import new
from ckptsim._api.pages.doctor import doctor
from ckptsim.sim.cli.options import Verb, json_of, option, positive
from ckptsim.sim.cli.places import output_file
from ckptsim.sim.cli.printing import show

_VERTICES, _RATE, _INTERVAL, _STATE = "source,operator,sink", "1000 /s", "10 s", "10 MB"
# Name of an argument -> the question and the answer of an empty line.
_QUESTIONS: dict[str, tuple[str, str, Callable[[str], object]]] = {
    "vertices": ("vertices, from source to sink", _VERTICES, str),
    "parallelism": ("subtasks of each", "1", positive),
    "rate": ("records of the source", _RATE, str),
    "interval": ("interval of checkpoints", _INTERVAL, str),
    "mode": ("mode of checkpoints: aligned, unaligned, aligned_timeout", "aligned", str),
    "state": ("state of each operator", _STATE, str),
}


def _new(arguments: argparse.Namespace) -> int:
    """Ask for what no option says if there is a terminal, then write the file."""
    given = {name: getattr(arguments, name) for name in _QUESTIONS}
    if all(value is None for value in given.values()) and sys.stdin and sys.stdin.isatty():
        given = {name: _asked(*question) for name, question in _QUESTIONS.items()}
    known: dict[str, Any] = {
        name: of(usual) if given[name] is None else given[name]
        for name, (_, usual, of) in _QUESTIONS.items()
    }
    vertices = [word.strip() for word in str(known.pop("vertices")).split(",")]
    return show(new(arguments.out, vertices=vertices, **known), as_json=arguments.json)


def _asked(question: str, usual: str, of: Callable[[str], object]) -> object:
    """Return an answer from the terminal. It is asked again for one that cannot be."""
    while True:
        print(f"{question} [{usual}]: ", end="", file=sys.stderr, flush=True)
        try:
            return of(sys.stdin.readline().strip() or usual)
        except argparse.ArgumentTypeError as error:
            print(error, file=sys.stderr)


def _doctor(arguments: argparse.Namespace) -> int:
    """Print the state of the installation."""
    return show(doctor(), as_json=arguments.json)


VERBS = {
    "new": Verb(
        run=_new,
        options=(
            option("out", "the file to write", "JOB.toml", output_file),
            option("--vertices", f"names from source to sink (default: {_VERTICES})", "A,B,..."),
            option("--parallelism", "subtasks of each (default: 1)", "N", positive),
            option("--rate", f"records of the source (default: {_RATE})", "RATE"),
            option("--interval", f"of checkpoints (default: {_INTERVAL})", "TIME"),
            option("--mode", "aligned (default), unaligned, aligned_timeout, ...", "MODE"),
            option("--state", f"of each operator (default: {_STATE})", "SIZE"),
            json_of("the file"),
        ),
        examples="""examples:
  ckptsim new job.toml                                       asks on a terminal
  ckptsim new job.toml --vertices source,enrich,sink --parallelism 8
  ckptsim new job.toml --rate '20000 /s' --interval '30 s' --mode unaligned --state '2 GB'

The file runs as it is. Each key has its meaning in a comment, and the first line names the schema
for editors, which is written beside it.
exit codes: 0 written, 2 the file is there already, or a value cannot be""",
    ),
    "doctor": Verb(
        run=_doctor,
        options=(json_of("the checks"),),
        examples="""examples:
  ckptsim doctor
  ckptsim doctor --json

It changes nothing. `missing` names what needs a package and how to install it.
exit codes: 0 done""",
    ),
}
