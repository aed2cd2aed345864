"""Code of the user's runs as a guest: it does not end or split this process, nor print for it.

While a guest is in, what it prints goes to standard error.  A call that would end or split the
process raises CoreEnded instead, and so does a step that takes longer than it may.  What ends a
core otherwise (`sys.exit`, an interrupt that it raises itself) is distinguished from a real
interrupt by the signal that brought that one.  A core that takes the process away in spite of this
is noticed from outside, by the note that says who is in (`sim/cli/watcher.py`).

The command line runs in a child and is watched by its parent.  A Python program of the user's is no
one's child: here a shell waits for it to end, with a note in a file that both have open.  While no
guest is in, the note is empty and the shell says nothing.
"""

from __future__ import annotations

import faulthandler
import json
import math
import os
import resource
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from time import process_time  # bound here: the fence around runs guards the module's own
from types import CodeType, FrameType
from typing import Any

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.limits import least, ringing

# It has standard error as it was before pytest began to capture it, where pytest runs.
_PLUGIN = "ckptsim.testing.plugin"
_SHELL = "/bin/sh"
_WAITS = "read -r ended; cat <&3 >&2"


class Witness:
    """The note of this process, and the end of a pipe that closes with it."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self._note = tempfile.TemporaryFile()  # noqa: SIM115 - open for as long as the process runs
        read, self._open = os.pipe()
        files = [
            (read, 0),
            (self._note.fileno(), 3),
            (getattr(sys.modules.get(_PLUGIN), "stderr", 2), 2),
        ]
        os.posix_spawn(
            _SHELL,
            [_SHELL, "-c", _WAITS],
            os.environ,
            # In a group of its own: an interrupt from the keyboard is not meant for it.
            setpgroup=0,
            file_actions=[(os.POSIX_SPAWN_DUP2, ours, its) for ours, its in files],
        )
        os.close(read)

    def write(self, says: str) -> None:
        """Put a note in the place of the one before. An empty one: no one is in."""
        data = _told(says).encode() if says else b""
        os.ftruncate(self._note.fileno(), 0)
        os.pwrite(self._note.fileno(), data, 0)


def _told(says: str) -> str:
    found = json.loads(says)
    seed = f", seed {found['seed']}" if "seed" in found else ""
    replay = f"\nreplay: {found['replay']}" if "replay" in found else ""
    return f"ckptsim: the process has ended within {found['cores']}{seed}{replay}\n"


CORE_ANSWERS = "a_core_answers"
# Processes of --jobs and of Spark have it from the one that started them.
TIMEOUT_VARIABLE = "CKPTSIM_CORE_TIMEOUT"
CORE_SECONDS = 10.0
# How often the time of a step is looked at, and how often a core may swallow what ends its step.
_TICK_SECONDS = 0.25
_SWALLOWED_MAX = 8
# How much later than a look the system ends the process: collecting the garbage of a large process
# lets no look happen either.  An assumption.
_SLACK_SECONDS = 15.0
# How much sooner everything that has not come back before is ended: its story, and shrinking,
# repeat the run.
_SOONER = 40
_WATCHED = (signal.SIGINT, signal.SIGTERM, signal.SIGPROF, signal.SIGALRM)
_ENDING = ("_exit", "abort", "execv", "execve", "fork", "forkpty")
_KILLING = ("kill", "killpg")
# Modules with frames that are not the user's.
_OURS = (frozenset(sys.stdlib_module_names) - {"__main__"}) | {"ckptsim", "simpy", "numpy", "numba"}
_SUSPENDED = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR


class CoreEnded(BaseException):
    """A core has tried to end or split the process, or has not come back from a step."""


class CoreUnansweredError(UserError):
    """A core has not answered before anything ran. says: one sentence that begins with it."""

    def __init__(self, says: str) -> None:
        super().__init__(f"{CORE_ANSWERS}: {says}")
        self.says = says


class Visit:
    """One stay of a guest. interrupted: a signal has come meanwhile."""

    def __init__(self) -> None:
        self.interrupted = False
        self.forked = False
        self._since: tuple[FrameType, float] | None = None
        self._swallowed = 0

    def fault(self, error: BaseException) -> str | None:
        """Say in which way a core has not answered, None where it did not raise the error."""
        if isinstance(error, CoreEnded):
            return str(error)
        if isinstance(error, Exception) or self.interrupted:
            return None
        if isinstance(error, SystemExit):
            return f"ended the process: sys.exit({'' if error.code is None else error.code})"
        text = f": {error}" if str(error) else ""
        return f"raised {type(error).__name__}{text}"

    def look(self, frame: FrameType | None, until: FrameType | None, seconds: float) -> None:
        """End a step of the user's that has not come back for so long. Called from time to time."""
        step = _outermost(frame, until)
        now = process_time()
        if step is None or self._since is None or self._since[0] is not step:
            self._since = None if step is None else (step, now)
            self._swallowed = 0
        elif now - self._since[1] >= seconds / (_SOONER if step.f_code in _hung else 1):
            _hung[step.f_code] = None
            self._swallowed += 1
            if self._swallowed > _SWALLOWED_MAX and _note is not None:
                _really("_exit")(1)  # it catches everything. Who watches from outside shows of it
            raise CoreEnded(f"has not come back from a call within {seconds:g} s of CPU")

    def leave(self) -> None:
        """Let go of the frames that were looked at."""
        self._since = None


_visit: Visit | None = None
_hung: dict[CodeType, None] = {}  # everything that has not come back before
_note: Callable[[str], None] | None = None
_witnessed: Witness | None = None
_originals: dict[str, Callable[..., Any]] = {}


def core_seconds() -> float:
    """Return how many seconds of CPU a core may take for one call."""
    return float(os.environ.get(TIMEOUT_VARIABLE, CORE_SECONDS))


def note(cores: str, **more: object) -> str:
    """Return what to note of a visit: who is in, and what a finder of the note needs."""
    return json.dumps({"cores": cores, "seconds": core_seconds(), **more})


def note_with(write: Callable[[str], None] | None) -> None:
    """Have it noted outside of this process who is in. An empty text: no one."""
    global _note  # noqa: PLW0603 - of the whole process, as its end is
    _note = write


@contextmanager
def guest(says: str) -> Iterator[Visit]:
    """Let the user's code run in the block, which may be nested. says: who, for a lost process."""
    global _visit  # noqa: PLW0603
    if _visit is not None or threading.current_thread() is not threading.main_thread():
        yield _visit or Visit()
        return
    visit = _visit = Visit()
    write = _note or _witness()
    write(says)
    try:
        with redirect_stdout(sys.stderr), _guarded(), _signals(visit), _timed(visit, _caller()):
            yield visit
            if visit.forked:
                raise CoreEnded("forked the process")
    finally:
        _visit = None
        visit.leave()
        write("")


def _witness() -> Callable[[str], None]:
    """Return what takes notes in a process that is not watched. One that was forked has its own."""
    global _witnessed  # noqa: PLW0603 - of the whole process, as its end is
    if _witnessed is None or _witnessed.process != os.getpid():
        try:
            _witnessed = Witness()
        except OSError:  # no shell, or no room: a core's end goes without its name
            return lambda _says: None
    return _witnessed.write


@contextmanager
def answering(core: str) -> Iterator[None]:
    """Let a core do something before anything runs. Raise CoreUnansweredError for one that ends."""
    visit = None
    try:
        with guest(note(core)) as visit:
            yield
    except BaseException as error:
        fault = None if visit is None else visit.fault(error)
        if fault is None:
            raise
        raise CoreUnansweredError(f"{core} {fault}") from error


@contextmanager
def _signals(visit: Visit) -> Iterator[None]:
    before = {}

    def noting(handler: Callable[[int, FrameType | None], Any]) -> Any:
        def note(number: int, frame: FrameType | None) -> Any:
            visit.interrupted = True
            return handler(number, frame)

        return note

    for number in _WATCHED:
        handler = signal.getsignal(number)
        if callable(handler):
            before[number] = handler
            signal.signal(number, noting(handler))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _timed(visit: Visit, until: FrameType | None) -> Iterator[None]:
    """Look from time to time whether a call of the user's still runs.

    A call into C that does not come back lets no look happen.  So each look allows the process as
    much CPU as a call may take, and the system ends a process that takes more.
    """
    seconds = core_seconds()
    before = resource.getrlimit(resource.RLIMIT_CPU)

    def tick(_signal: int, frame: FrameType | None) -> None:
        allow()
        visit.look(frame, until, seconds)

    def allow() -> None:
        wanted = math.ceil(process_time() + seconds + _SLACK_SECONDS)
        resource.setrlimit(resource.RLIMIT_CPU, (least(wanted, *before), before[1]))

    allow()
    faulthandler.register(signal.SIGXCPU, file=2, all_threads=False, chain=True)
    tick_seconds = min(_TICK_SECONDS, seconds / (4 * _SOONER))
    try:
        with ringing(signal.ITIMER_VIRTUAL, tick_seconds, tick, again_s=tick_seconds):
            yield
    finally:
        faulthandler.unregister(signal.SIGXCPU)
        resource.setrlimit(resource.RLIMIT_CPU, before)


def _caller() -> FrameType | None:
    """Return the frame of the block: the first one that is no context manager's own."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - below it, what is not ours is the guest's
    while frame is not None and (
        frame.f_code.co_flags & _SUSPENDED or frame.f_globals.get("__name__") == "contextlib"
    ):
        frame = frame.f_back
    return frame


def _outermost(frame: FrameType | None, until: FrameType | None) -> FrameType | None:
    """Return the frame of the user's that was called first, such as a core's `step`."""
    found = None
    while frame is not None and frame is not until:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _OURS and not frame.f_code.co_flags & _SUSPENDED:
            found = frame
        frame = frame.f_back
    return found


@contextmanager
def _guarded() -> Iterator[None]:
    """Put guards in the place of what ends or splits a process, and take them away again."""
    if not _originals and hasattr(os, "register_at_fork"):  # for who has bound the original before
        os.register_at_fork(after_in_child=_end_child, after_in_parent=_note_fork)
    places = [(os, name) for name in (*_ENDING, *_KILLING) if hasattr(os, name)]
    for module, name in (*places, (signal, "raise_signal")):
        _originals[name] = getattr(module, name)
        guard = _kills(name) if name in _KILLING else _refusing(name, module.__name__)
        setattr(module, name, guard)
    try:
        yield
    finally:
        for module, name in (*places, (signal, "raise_signal")):
            setattr(module, name, _originals[name])


def _refusing(name: str, module: str) -> Callable[..., Any]:
    did = "forked" if name.startswith("fork") else "ended"

    def refuse(*arguments: Any, **named: Any) -> Any:
        if _visit is not None:
            given = ", ".join(str(getattr(each, "name", each)) for each in arguments)
            raise CoreEnded(f"{did} the process: {module}.{name}({given})")
        return _originals[name](*arguments, **named)

    return refuse


def _kills(name: str) -> Callable[..., Any]:
    def refuse(process: int, *arguments: Any) -> Any:
        itself = (os.getpid(), os.getpgrp(), 0, -1, -os.getpgrp())
        if _visit is not None and process in itself:
            raise CoreEnded(f"ended the process: os.{name} of itself")
        return _originals[name](process, *arguments)

    return refuse


def _really(name: str) -> Callable[..., Any]:
    return _originals.get(name) or getattr(os, name)


def _end_child() -> None:
    if _visit is not None:
        _really("_exit")(0)


def _note_fork() -> None:
    if _visit is not None:
        _visit.forked = True
