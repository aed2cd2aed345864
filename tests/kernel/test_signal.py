"""Signals: a process waits for one again and again, and knows which timer has woken it."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from ckptsim.sim.kernel import Environment, KernelError, Signal


def test_a_signal_wakes_its_process_each_time() -> None:
    """Each time that a timer makes it happen the process continues, at that place among ties."""
    env = Environment()
    signal, entity, woken = Signal(env), env.entity("task"), []

    def waits() -> Generator[Any, Any, None]:
        while True:
            woken.append((yield signal))
            woken.append(env.now)

    env.process(waits(), entity=entity)
    first = env.timer(1, entity, signal.happen, "first")
    last = env.timer(2, entity, signal.happen, "last")
    last.arm_at(5)
    first.arm_at(5)
    env.run_until(5)
    first.arm_at(9)
    env.run_until(9)
    assert woken == ["first", 5, "last", 5, "first", 9]


def test_what_happens_while_nobody_waits_is_forgotten() -> None:
    """A process that is busy with something else is not woken later for it."""
    env = Environment()
    signal, entity = Signal(env), env.entity("task")
    timer, woken = env.timer(1, entity, signal.happen), []

    def works() -> Generator[Any, Any, None]:
        yield env.timeout(10)
        yield signal
        woken.append(env.now)

    env.process(works(), entity=entity)
    timer.arm_at(5)
    env.run_until(15)
    assert woken == []
    timer.arm_at(20)
    env.run_until(20)
    assert woken == [20]


def test_a_stopped_process_is_not_woken() -> None:
    """A process that was stopped while it waited is gone for the signal, too."""
    env = Environment()
    signal, entity = Signal(env), env.entity("task")

    def waits() -> Generator[Any, Any, None]:
        yield signal
        raise AssertionError("woken")

    process = env.process(waits(), entity=entity)
    env.timer(1, entity, signal.happen).arm_at(5)
    env.run_until(4)
    process.stop()
    env.run_until(5)
    assert not process.is_alive


def test_a_signal_does_not_happen_inside_a_process() -> None:
    """A process that made another one run inside itself would be taken for it afterwards."""
    env = Environment()
    signal = Signal(env)

    def calls() -> Generator[Any, Any, None]:
        signal.happen()
        yield env.timeout(1)

    env.process(calls())
    with pytest.raises(KernelError, match="inside a process"):
        env.run()


def test_a_process_that_begins_on_a_signal_makes_no_entry() -> None:
    """It begins when the signal happens, inside the call, and continues when it does so again."""
    env, seen = Environment(), []
    signal = Signal(env)

    def process() -> Generator[Any, Any, None]:
        seen.append("begun")
        yield signal
        seen.append("woken")

    env.process(process(), entity=env.entity("thread"), on=signal)
    assert (env.calendar, seen) == ([], [])
    signal.happen()
    assert seen == ["begun"]
    signal.happen()
    assert seen == ["begun", "woken"]
