"""The fence: inside it, touching the real world raises instead of making a run unrepeatable.

Wall clock, sleeping, threads, sockets, entropy of the operating system, global random generators,
and `hash()` and `id()` raise FenceBreached with the name of the call and what to use instead.  Only
the thread that entered is fenced.  Everything that was bound by name before (`from time import
time`) cannot be caught at run time, nor can iteration over a set. `ckptsim.sim.kernel.purity` finds
those in the source.
"""

from __future__ import annotations

import builtins
import datetime as dt
import os
import random
import secrets
import socket
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from ckptsim.sim.kernel.entity import FenceBreached

_CLOCK = "use the environment's `now`, or take the time from the event"
_SLEEP = "wait for the environment's `timeout`"
_THREAD = "start a process on the environment"
_SOCKET = "use a channel of the simulation"
_RANDOM = "use a named stream, `env.stream(component, index)`"
_ORDER = "it differs from process to process; use a name, a number or `derive_key`"

_CLOCK_NAMES = [
    "time",
    "time_ns",
    "monotonic",
    "monotonic_ns",
    "perf_counter",
    "perf_counter_ns",
    "process_time",
    "process_time_ns",
    "thread_time",
    "thread_time_ns",
    "localtime",
    "gmtime",
    "ctime",
]
_SECRET_NAMES = ["token_bytes", "token_hex", "token_urlsafe", "randbelow", "randbits", "choice"]

# Programs that watch a run from outside and measure as they do so. They decide nothing in it.  A
# line of a log has the time of the clock.
_OBSERVERS = frozenset({"hypothesis", "_pytest", "pytest", "coverage", "pluggy", "tqdm", "logging"})
# Who may ask for hashes and ids: the standard library (copying, printing, generated methods) and
# SimPy (printing).
_LIBRARIES = (frozenset(sys.stdlib_module_names) - {"__main__"}) | {"simpy"} | _OBSERVERS

# Guards are set into the modules themselves, once for the whole process, while at least one run is
# fenced. Each guard then asks whether its own thread is inside.  So runs in several threads share
# one set of guards, and threads that only watch a run are not disturbed.
_fenced = threading.local()
_lock = threading.Lock()
_inside_count = 0
_saved: list[tuple[dict[str, Any], dict[str, Any]]] = []


@contextmanager
def fence() -> Iterator[None]:
    """Fence the block off from the real world. Everything is as before afterwards, always."""
    if getattr(_fenced, "inside", False):  # the outer fence lowers the guards
        yield
        return
    _raise_guards()
    _fenced.inside = True
    try:
        yield
    finally:
        _fenced.inside = False
        _lower_guards()


@contextmanager
def unfenced() -> Iterator[None]:
    """Let a block inside the fence do what the run needs but does not depend on: load a program."""
    inside = getattr(_fenced, "inside", False)
    _fenced.inside = False
    try:
        yield
    finally:
        _fenced.inside = inside


def _raise_guards() -> None:
    global _inside_count  # noqa: PLW0603 - the guarded modules are global, so is their count
    with _lock:
        _inside_count += 1
        if _inside_count == 1:
            for space, guards in _GUARDS:
                _saved.append((space, {name: space[name] for name in guards}))
                space.update(guards)
            socket.socket.__init__ = _SOCKET_GUARD  # type: ignore[method-assign]


def _lower_guards() -> None:
    global _inside_count  # noqa: PLW0603
    with _lock:
        _inside_count -= 1
        if _inside_count == 0:
            socket.socket.__init__ = _SOCKET_INIT  # type: ignore[method-assign]
            for space, originals in _saved:
                space.update(originals)
            _saved.clear()


def _breach(what: str, instead: str, frame: FrameType) -> NoReturn:
    place = f"{frame.f_globals.get('__name__', '?')}, line {frame.f_lineno}"
    raise FenceBreached(f"{what} was called inside a run (module {place}): {instead}")


def _caller_package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _guard(original: Callable[..., Any], what: str, instead: str) -> Callable[..., Any]:
    """Return a stand-in that raises in a fenced thread and is the original elsewhere."""

    def refuse(*arguments: Any, **named: Any) -> Any:
        if not getattr(_fenced, "inside", False):
            return original(*arguments, **named)
        frame = sys._getframe(1)  # noqa: SLF001 - the one way to know who calls
        if _caller_package(frame) in _OBSERVERS:
            return original(*arguments, **named)
        return _breach(what, instead, frame)

    return refuse


def _guarded_hash(value: object) -> int:
    frame = sys._getframe(1)  # noqa: SLF001
    # First the duties often: a `__hash__` method, which serves a dictionary in the order of
    # insertion.
    if (
        frame.f_code.co_name != "__hash__"
        and value.__class__ is not int
        and getattr(_fenced, "inside", False)
        and _caller_package(frame) not in _LIBRARIES
    ):
        _breach("hash()", _ORDER, frame)
    return _HASH(value)


def _guarded_id(value: object) -> int:
    if getattr(_fenced, "inside", False):
        frame = sys._getframe(1)  # noqa: SLF001
        if _caller_package(frame) not in _LIBRARIES:
            _breach("id()", _ORDER, frame)
    return _ID(value)


class _LikeOriginal(type):
    """Makes a guarded class take the original's instances and subclasses for its own.

    A class cannot be guarded by a function: `isinstance(x, datetime.datetime)` has to work inside,
    also for instances that were made before.
    """

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.__mro__[1])

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.__mro__[1])


class _GuardedDatetime(dt.datetime, metaclass=_LikeOriginal):
    now = staticmethod(_guard(dt.datetime.now, "datetime.now()", _CLOCK))
    utcnow = staticmethod(_guard(dt.datetime.utcnow, "datetime.utcnow()", _CLOCK))
    today = staticmethod(_guard(dt.datetime.today, "datetime.today()", _CLOCK))


class _GuardedDate(dt.date, metaclass=_LikeOriginal):
    today = staticmethod(_guard(dt.date.today, "date.today()", _CLOCK))


def _functions(module: Any, instead: str, names: list[str]) -> dict[str, Any]:
    """Return a guard for each of the named functions that this Python's module has."""
    space = vars(module)
    return {
        name: _guard(space[name], f"{module.__name__}.{name}()", instead)
        for name in names
        if name in space
    }


def _drawing(module: Any) -> list[str]:
    """Name the functions of a random module. Its classes are seeded by anyone who uses them."""
    return [
        name
        for name, value in sorted(vars(module).items())
        if name[0] != "_" and callable(value) and not isinstance(value, type)
    ]


_HASH = builtins.hash
_ID = builtins.id
_SOCKET_INIT = socket.socket.__init__
_SOCKET_GUARD = _guard(_SOCKET_INIT, "socket.socket()", _SOCKET)
_GUARDS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (vars(time), _functions(time, _CLOCK, _CLOCK_NAMES) | _functions(time, _SLEEP, ["sleep"])),
    (vars(dt), {"datetime": _GuardedDatetime, "date": _GuardedDate}),
    (
        vars(threading),
        _functions(threading, _THREAD, ["_start_new_thread", "_start_joinable_thread"]),
    ),
    (vars(os), _functions(os, _RANDOM, ["urandom", "getrandom"])),
    (vars(random), _functions(random, _RANDOM, [*_drawing(random), "_urandom"])),
    (vars(secrets), _functions(secrets, _RANDOM, _SECRET_NAMES)),
    (vars(uuid), _functions(uuid, _RANDOM, ["uuid1", "uuid4", "getnode"])),
    (vars(np.random), _functions(np.random, _RANDOM, _drawing(np.random))),
    (vars(builtins), {"hash": _guarded_hash, "id": _guarded_id}),
]
