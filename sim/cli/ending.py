"""Run one verb, and turn what it raises into an exit code and a message."""

from __future__ import annotations

import argparse
import errno
import os
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.cli.main import (
    EXIT_FINE,
    EXIT_INTERRUPTED,
    EXIT_OURS,
    EXIT_TERMINATED,
    EXIT_USER,
    EXIT_VIOLATED,
)
from ckptsim.sim.cli.options import Verb
from ckptsim.sim.cli.printing import abandon_stdout, flushed
from ckptsim.sim.cli.watcher import violation_told
from ckptsim.sim.extras import extras_explained
from ckptsim.sim.slots.guest import TIMEOUT_VARIABLE, CoreUnansweredError

# Whatever file it was about, no one but the user can make room, or give leave to write.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)
_DEFAULT = Path("out")  # where verbs write when no place is named


class Terminated(KeyboardInterrupt):
    """The process was asked to end. It tidies up as after an interrupt from the keyboard."""


def was_terminated(stop: BaseException) -> bool:
    """Return whether an interrupt, or what it was raised from, is a request to end."""
    cause: BaseException | None = stop
    while cause is not None:
        if isinstance(cause, Terminated):
            return True
        cause = cause.__cause__
    return False


@contextmanager
def terminating() -> Iterator[None]:
    """Let a request to end unwind pending work, where signals are ours to handle."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(_signal: int, _frame: FrameType | None) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def core_timeout(arguments: argparse.Namespace) -> Iterator[None]:
    """Let a core take as long for a call as the user says, here and in processes of this one."""
    seconds = getattr(arguments, "core_timeout", None)
    if seconds is None:
        yield
        return
    before = os.environ.get(TIMEOUT_VARIABLE)
    os.environ[TIMEOUT_VARIABLE] = str(seconds)
    try:
        yield
    finally:
        if before is None:
            del os.environ[TIMEOUT_VARIABLE]
        else:
            os.environ[TIMEOUT_VARIABLE] = before


def refusal_of(error: OSError, arguments: argparse.Namespace) -> str | None:
    """Return what the system refused about a place that the user has named, or None."""
    reason = (error.strerror or str(error)).partition("\n")[0]
    if error.errno in _NO_ROOM or "No space left" in str(error):
        return f"{_text(error.filename) or 'the output'}: {reason}"
    if error.filename is None:
        return None
    found = Path(_text(error.filename)).absolute()
    for place in _named(arguments):
        absolute = place.absolute()
        if found == absolute or absolute in found.parents or found in absolute.parents:
            return f"{_text(error.filename)}: {reason}, expected a place to read or write"
    return None


def _named(arguments: argparse.Namespace) -> Iterator[Path]:
    yield _DEFAULT
    for name, value in vars(arguments).items():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, Path):
                yield each
            elif isinstance(each, str) and each and "\0" not in each and name != "verb":
                yield Path(each)


def _text(name: object) -> str:
    if isinstance(name, bytes):
        return os.fsdecode(name)
    return "" if name is None else str(name)


# Verbs that vary a scenario by themselves, and compare.
COMPARING = ("whatif", "sweep")


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
        print(f"ckptsim {arguments.verb}: {_spelt(str(error), verb)}", file=sys.stderr)
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


def _spelt(message: str, verb: Verb) -> str:
    name, colon, rest = message.partition(": ")
    word = f"--{name.replace('_', '-')}"
    known = colon and any(word in option.names for option in verb.options)
    return f"{word}: {rest}" if known else message


def _raised(error: Exception, arguments: argparse.Namespace, words: Sequence[str]) -> int:
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
    named = vars(arguments)
    found: dict[str, object] = {"replay": shlex.join(["ckptsim", *words])}
    if "seed" in named or "first" in named:
        found["seed"] = named.get("seed", named.get("first"))
    return violation_told(says, found, as_json=bool(named.get("json")))


def _with_variants(arguments: argparse.Namespace, verb: Verb) -> int:
    if arguments.verb in COMPARING or not getattr(arguments, "vary", ()):
        return verb.run(arguments)
    from ckptsim.sim.cli.subject import each_variant

    return max(verb.run(one) for one in each_variant(arguments))
