"""Run one verb, and turn what it raises into an exit code and a message."""

from __future__ import annotations

import argparse
import shlex
import sys
import traceback
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from typing import Protocol

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.cli.failures import core_timeout, refusal_of, terminating, was_terminated
from ckptsim.sim.cli.main import (
    EXIT_FINE,
    EXIT_INTERRUPTED,
    EXIT_OURS,
    EXIT_TERMINATED,
    EXIT_USER,
    EXIT_VIOLATED,
)
from ckptsim.sim.cli.printing import abandon_stdout, flushed
from ckptsim.sim.cli.watcher import violation_told
from ckptsim.sim.extras import extras_explained
from ckptsim.sim.slots.guest import CoreUnansweredError

# Verbs that vary a scenario by themselves, and compare.
COMPARING = ("whatif", "sweep")


class Verb(Protocol):
    """A module of this package that implements one verb."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do the work and return the exit code."""
        ...


def run_verb(arguments: argparse.Namespace, verb: Verb, words: Sequence[str]) -> int:
    """Run a verb and return its exit code, also where it does not end by itself."""
    try:
        with extras_explained(), terminating(), core_timeout(arguments):
            code = _with_variants(arguments, verb)
            flushed()
            return code
    except UserError as error:
        if isinstance(error, CoreUnansweredError):
            print(_unanswered(error.says, arguments, words))
            return EXIT_VIOLATED
        print(f"ckptsim {arguments.verb}: {error}", file=sys.stderr)
        return EXIT_USER
    except BrokenPipeError:
        abandon_stdout()
        return EXIT_FINE
    except KeyboardInterrupt as stop:
        kept = f"; {stop}" if str(stop) else ""
        terminated = was_terminated(stop)
        print(f"ckptsim: {'terminated' if terminated else 'interrupted'}{kept}", file=sys.stderr)
        return EXIT_TERMINATED if terminated else EXIT_INTERRUPTED
    except MemoryError:
        print(f"ckptsim {arguments.verb}: this needs more memory than there is", file=sys.stderr)
        return EXIT_USER
    except Exception as error:  # the last line of defence
        return _raised(error, arguments, words)


def _raised(error: Exception, arguments: argparse.Namespace, words: Sequence[str]) -> int:
    """Return the exit code for what a verb raised that is not meant to come up to here."""
    refusal = refusal_of(error, arguments) if isinstance(error, OSError) else None
    if refusal is not None:
        print(f"ckptsim {arguments.verb}: {refusal}", file=sys.stderr)
        return EXIT_USER
    if isinstance(error, BrokenExecutor) and getattr(arguments, "core", None):
        says = f"core {', '.join(arguments.core)} took a process of --jobs away"
        print(_unanswered(f"{says}; with --jobs 1 its seed is known", arguments, words))
        return EXIT_VIOLATED
    traceback.print_exception(error)  # whatever else arrives here is a fault of ours
    print(f"ckptsim {arguments.verb}: this is a fault of ckptsim", file=sys.stderr)
    return EXIT_OURS


def _unanswered(says: str, arguments: argparse.Namespace, words: Sequence[str]) -> str:
    """Return the violation of a core that has not answered, with the command that repeats it."""
    named = vars(arguments)
    found: dict[str, object] = {"replay": shlex.join(["ckptsim", *words])}
    if "seed" in named or "first" in named:
        found["seed"] = named.get("seed", named.get("first"))
    return violation_told(says, found, as_json=bool(named.get("json")))


def _with_variants(arguments: argparse.Namespace, verb: Verb) -> int:
    """Run a verb, or once for each variant of its scenario, and return the worst exit code."""
    if arguments.verb in COMPARING or not getattr(arguments, "vary", ()):
        return verb.run(arguments)
    from ckptsim.sim.cli.subject import each_variant

    return max(verb.run(one) for one in each_variant(arguments))
