"""The fence: whatever reaches the real world raises inside it, and works again afterwards."""

from __future__ import annotations

import builtins
import copy
import datetime as dt
import os
import random
import secrets
import socket
import threading
import time
import uuid
from dataclasses import dataclass

import numpy as np
import pytest

from ckptsim.sim.kernel import Environment, FenceBreached, fence, unfenced

# Looked up and called inside the fence, as a program would.
BREACHES = [
    "time.time()",
    "time.time_ns()",
    "time.monotonic()",
    "time.perf_counter()",
    "time.sleep(0)",
    "time.localtime()",
    "dt.datetime.now()",
    "dt.datetime.utcnow()",
    "dt.date.today()",
    "threading.Thread(target=int).start()",
    "socket.socket()",
    "os.urandom(1)",
    "secrets.token_hex(1)",
    "uuid.uuid4()",
    "uuid.uuid1()",
    "random.random()",
    "random.choice([1])",
    "random.seed(1)",
    "random.SystemRandom().random()",
    "np.random.rand()",
    "np.random.seed(0)",
    "np.random.default_rng()",
    "hash('a')",
    "hash(object())",
    "id(3)",
]
MODULES = (dt, np.random, os, random, secrets, socket, threading, time, uuid)
# Taken when the tests are collected, so before any of them has entered a fence.
SOCKET_INIT = socket.socket.__init__
BEFORE = [
    {name: value for name, value in vars(module).items() if callable(value)}
    for module in (*MODULES, builtins)
]


@pytest.mark.parametrize("call", BREACHES)
def test_the_fence_is_loud(call):
    """Each way out raises, and says which call it was, where, and what to use instead."""
    with fence(), pytest.raises(FenceBreached, match=r"was called inside a run .*: .+") as caught:
        eval(call)
    module = call.removeprefix("dt.").replace("np.", "numpy.").partition("(")[0].partition(".")[0]
    assert str(caught.value).startswith(module)


def test_everything_is_restored_whatever_happens():
    """After an error inside, and after nesting, all calls work as before."""
    with pytest.raises(ZeroDivisionError), fence():
        divmod(1, 0)
    with fence():
        with fence():
            pass
        with pytest.raises(FenceBreached):
            time.time()
    assert socket.socket.__init__ is SOCKET_INIT
    now = [vars(module) for module in (*MODULES, builtins)]
    assert all(
        space[name] is original
        for space, names in zip(now, BEFORE, strict=True)
        for name, original in names.items()
    )
    socket.socket().close()


def test_other_threads_are_not_fenced():
    """Only the thread that runs the world is fenced. A progress bar may look at the clock."""
    seen: list[object] = []
    entered, leave = threading.Event(), threading.Event()

    def other():
        entered.wait(10)
        seen.append(time.time())
        seen.append(hash("a"))
        leave.set()

    thread = threading.Thread(target=other)
    thread.start()
    with fence():
        entered.set()
        leave.wait(10)
    thread.join()
    assert len(seen) == 2


@dataclass(frozen=True)
class _Key:
    name: str
    number: int


def test_what_a_run_does_not_depend_on_may_be_done_inside():
    """A program is loaded inside a run as it is outside, and the fence is again after it."""
    with fence():
        with unfenced():
            assert time.time() > 0
        with pytest.raises(ZeroDivisionError), unfenced():
            raise ZeroDivisionError
        with pytest.raises(FenceBreached):
            time.time()
    with unfenced():
        assert time.time() > 0
    assert time.time() > 0


def test_sound_programs_do_not_notice():
    """Dictionaries keyed by dataclasses, copies, printing, instances of datetime work as before."""
    with fence():
        table = {_Key("a", 1): 1}
        assert table[_Key("a", 1)] == 1
        assert hash(5) == 5
        assert copy.deepcopy([[1]]) == [[1]]
        assert repr(_Key("b", 2)) == "_Key(name='b', number=2)"
        assert isinstance(_MOMENT, dt.datetime)
        assert repr(Environment().event()).startswith("<Event()")
        assert Environment(3).stream("x").uniform() < 1


_MOMENT = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
