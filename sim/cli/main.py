"""Parse the command line and hand over to one verb.

Imports of the program are where they are needed: `--help` and `--version` answer at once.

Exit codes: 0 fine, 1 a property was violated or a comparison failed, 2 the user's input was
wrong, 3 a fault of ours.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from ckptsim.sim.cli.printing import printing
from ckptsim.sim.cli.watcher import brings_cores, over, watch

if TYPE_CHECKING:
    from ckptsim.sim.cli.options import Verb

EXIT_FINE = 0
EXIT_VIOLATED = 1
EXIT_USER = 2
EXIT_OURS = 3
# As shells have it: 128 and the signal.
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143

# What people come for -> verb -> (module of `verbs`, what it does).  Imported when it is asked for.
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "your job": {
        "new": ("pages", "write a job to begin with, from a few questions or options"),
        "capture": ("recordings", "record a job from its Flink REST server, or from saved answers"),
        "import": ("recordings", "make a scenario of a recording of a job"),
        "whatif": ("jobs", "compare a job as it is with the job as it would be"),
        "why": ("runs", "explain why a checkpoint or a recovery took so long, or failed"),
        "advise": ("jobs", "find the interval and mode of checkpoints that cost least"),
        "validate": ("jobs", "predict measured Flink runs and compare"),
    },
    "sweeps": {
        "sweep": ("sweeps", "run a plan, or a scenario with options that vary, on Spark"),
        "report": ("sweeps", "turn the tables of sweeps into one page with figures"),
        "demo": ("demo", "sweep some scenarios of the library and write a report"),
    },
    "your core": {
        "run": ("runs", "run a scenario once and report how it ended"),
        "check": ("check", "check many seeds and tie orders against the properties"),
        "hunt": ("hunt", "search for a violation, then shrink it"),
        "view": ("view", "write a page in which you walk through a run, a find or a recording"),
        "replay": ("runs", "tell the story of one run or one checkpoint, with pictures"),
        "conform": ("vectors", "run conformance vectors against a protocol core"),
        "order": ("vectors", "order the states of real Airbyte messages as a destination does"),
    },
    "reference": {
        "list": ("pages", "show the scenarios and sweep plans that come with the program"),
        "explain": ("pages", "show a scenario's parameters, or explain a topic"),
        "schema": ("pages", "print the JSON Schema of scenario files and plans"),
        "store": ("stores", "look into a store file"),
        "measure-store": ("stores", "measure real checkpoint stores on this machine"),
        "completion": ("pages", "print what completes words in bash, zsh or fish"),
        "doctor": ("pages", "show what is installed, what is missing, and what is cached"),
    },
}
VERBS = {name: about for verbs in GROUPS.values() for name, about in verbs.items()}


def import_verb(name: str) -> Verb:
    """Import the module of a verb, and return the verb."""
    verbs: dict[str, Verb] = import_module(f"ckptsim.sim.cli.verbs.{VERBS[name][0]}").VERBS
    return verbs[name]


def main(argv: Sequence[str] | None = None) -> int:
    """Run `ckptsim` with the given arguments and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if argv is None and brings_cores(words):  # this process is the program's own
        board, code = watch(words)
        return code if board is None else over(board, _printed(words))
    return _printed(words)


def _printed(words: list[str]) -> int:
    with printing():
        return _main(words)


def _main(words: list[str]) -> int:
    if words[:1] == ["help"]:  # `help run` is `run --help`
        words = [*words[1:2], "--help"]
    parser = _parser(words)
    try:
        arguments = parser.parse_args(words)
    except SystemExit as stop:
        return EXIT_FINE if stop.code in (0, None) else EXIT_USER
    if arguments.verb is None:
        parser.print_help()
        return EXIT_USER
    from ckptsim.sim.cli.ending import run_verb

    return run_verb(arguments, import_verb(arguments.verb), words)


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="ckptsim",
        description="Predict, break and explain the checkpoint protocols of data pipelines.",
        epilog=f"{_groups()}\n\n`ckptsim help VERB` shows a verb's options with an example.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=_version())
    verbs = parser.add_subparsers(
        dest="verb", metavar="VERB", help=argparse.SUPPRESS, parser_class=_Parser
    )
    parser.usage = "%(prog)s [-h] [--version] VERB ..."  # only now: verbs begin theirs with it
    parser.verbs = verbs.choices
    asked = next((word for word in words if not word.startswith("-")), None)
    for name, (_, says) in VERBS.items():
        if name != asked:
            verbs.add_parser(name, add_help=False)
            continue
        verb = import_verb(name)
        child = verbs.add_parser(
            name,
            description=says[:1].upper() + says[1:] + ".",
            epilog=verb.examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        for option in verb.options:
            option.add_to(child)
    return parser


def _groups() -> str:
    return "\n\n".join(
        "\n".join([f"{title}:", *(f"  {name:<14}  {says}" for name, (_, says) in verbs.items())])
        for title, verbs in GROUPS.items()
    )


class _Parser(argparse.ArgumentParser):
    verbs: Mapping[str, _Parser] = MappingProxyType({})

    def error(self, message: str) -> NoReturn:
        """Print usage and message and end. The list of all verbs is for `--help`."""
        found = re.match(r"argument VERB: invalid choice: '(.*?)' \(", message)
        if found is not None:
            hint = _hint(found[1], VERBS)
            message = f"found {found[1]!r}, expected a verb that `ckptsim help` shows{hint}"
        super().error(message)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse all words. A word that a verb does not know comes with its usage."""
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            parser = self.verbs.get(getattr(found, "verb", None) or "", self)
            hint = _hint(unknown[0].partition("=")[0], parser.options())
            parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return found

    def options(self) -> list[str]:
        return [word for action in self._actions for word in action.option_strings]


def _hint(word: str, known: Iterable[str]) -> str:
    from ckptsim.scenarios.dialect import suggestion

    return suggestion(word, known)


def _version() -> str:
    python = ".".join(map(str, sys.version_info[:3]))
    return f"ckptsim {import_module('ckptsim').__version__} (Python {python})"
