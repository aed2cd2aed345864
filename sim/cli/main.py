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
from typing import Any, NoReturn, Protocol, cast

from ckptsim.sim.cli.printing import printing
from ckptsim.sim.cli.watcher import brings_cores, over, watch

EXIT_FINE = 0
EXIT_VIOLATED = 1
EXIT_USER = 2
EXIT_OURS = 3
# As shells have it: 128 and the signal.
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143

# verb -> (module of this package, what it does).  Imported only when the verb is asked for.
VERBS: dict[str, tuple[str, str]] = {
    "list": (
        "pages.list",
        "show the scenarios and sweep plans that come with the program",
    ),
    "explain": ("pages.explain", "show a scenario's parameters, or explain a topic"),
    "run": ("runs.run", "run a scenario once and say how it ended"),
    "check": ("runs.check", "check many seeds and tie orders against the properties"),
    "hunt": ("runs.hunt", "search for a violation, then shrink it"),
    "replay": (
        "runs.replay",
        "tell the story of one run or one checkpoint, with pictures",
    ),
    "order": (
        "runs.order",
        "order the states of real Airbyte messages as a destination does",
    ),
    "sweep": (
        "sweeps.sweep",
        "run a plan, or a scenario with what varies, on Spark and print the answers",
    ),
    "report": ("sweeps.report", "turn the tables of sweeps into one page with figures"),
    "demo": ("sweeps.demo", "sweep some scenarios of the library and write a report"),
    "capture": ("jobs.capture", "record a running job from its Flink REST server"),
    "import": ("jobs.import_job", "make a scenario of a recording of a running job"),
    "whatif": ("jobs.what_if", "compare a job as it is with the job as it would be"),
    "why": ("jobs.why", "say why a checkpoint or a recovery took so long, or failed"),
    "view": ("jobs.view", "write a page in which you walk through a run, a find or a recording"),
    "advise": ("jobs.advise", "find the interval and mode of checkpoints that cost least"),
    "validate": ("jobs.validate", "predict measured Flink runs and compare"),
    "measure-store": (
        "stores.measure_store",
        "measure real checkpoint stores on this machine",
    ),
    "store": ("stores.store", "look into a store file"),
    "conform": ("runs.conform", "run conformance vectors against a protocol core"),
    "schema": ("pages.schema", "print the JSON Schema of scenario files and plans"),
    "completion": ("completion", "print what completes words in bash or zsh"),
}


class Verb(Protocol):
    """A module of this package that implements one verb."""

    EXAMPLES: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the verb's arguments."""
        ...

    def run(self, arguments: argparse.Namespace) -> int:
        """Do the work and return the exit code."""
        ...


def import_verb(name: str) -> Verb:
    """Import the module of a verb."""
    return cast("Verb", import_module(f"ckptsim.sim.cli.{VERBS[name][0]}"))


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
        epilog="`ckptsim help VERB` shows a verb's options with an example.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=_version())
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", parser_class=_Parser)
    parser.verbs = verbs.choices
    asked = next((word for word in words if not word.startswith("-")), None)
    for name, (_, says) in VERBS.items():
        if name != asked:
            verbs.add_parser(name, help=says, add_help=False)
            continue
        verb = import_verb(name)
        child = verbs.add_parser(
            name,
            help=says,
            description=says[:1].upper() + says[1:] + ".",
            epilog=verb.EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        verb.add_arguments(child)
    return parser


class _Parser(argparse.ArgumentParser):
    """A parser that names what a misspelt verb or option was meant to be."""

    verbs: Mapping[str, _Parser] = MappingProxyType({})

    def error(self, message: str) -> NoReturn:
        """Print usage and message and end; the list of all verbs is for `--help`."""
        found = re.match(r"argument VERB: invalid choice: '(.*?)' \(", message)
        if found is not None:
            hint = _hint(found[1], VERBS)
            message = f"found {found[1]!r}, expected a verb that `ckptsim help` shows{hint}"
        super().error(message)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse all words; what a verb does not know is told with the usage of that verb."""
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            parser = self.verbs.get(getattr(found, "verb", None) or "", self)
            hint = _hint(unknown[0].partition("=")[0], parser.options())
            parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return found

    def options(self) -> list[str]:
        """Return the options that this parser knows."""
        return [word for action in self._actions for word in action.option_strings]


def _hint(word: str, known: Iterable[str]) -> str:
    from ckptsim.scenarios.dialect import suggestion

    return suggestion(word, known)


def _version() -> str:
    python = ".".join(map(str, sys.version_info[:3]))
    return f"ckptsim {import_module('ckptsim').__version__} (Python {python})"
