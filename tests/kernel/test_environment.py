"""The environment: integer time, plain SimPy code, callbacks, the account at the end, garbage."""

from __future__ import annotations

import gc
import re
from pathlib import Path

import numpy as np
import pytest
import simpy

from ckptsim.sim import kernel
from ckptsim.sim.kernel import garbage_collector_paused


@pytest.mark.parametrize("delay", [1.5, 1.0, True, np.int64(3), -1, "1"])
def test_the_clock_refuses_whatever_is_not_a_plain_int(delay):
    """A delay that is not an int of nanoseconds is refused wherever it enters."""
    env = kernel.Environment()
    actor = env.entity("actor")
    with pytest.raises(kernel.ClockError):
        env.timeout(delay)
    with pytest.raises(kernel.ClockError):
        env.schedule(env.event(), 1, delay)
    with pytest.raises(kernel.ClockError):
        env.call_in(delay, 0, actor, print)
    with pytest.raises(kernel.ClockError):
        env.call_at(delay, 0, actor, print)
    with pytest.raises(kernel.ClockError):
        env.run(until=delay)
    with pytest.raises(kernel.ClockError):
        env.run_until(delay)


def test_run_until_includes_the_instant_and_run_excludes_it():
    """`run_until(t)` carries out what happens at t. SimPy's `run(until=t)` does not."""
    env = kernel.Environment()
    seen: list[int] = []
    for time in (1, 2, 3):
        env.call_at(time, 0, env.entity("actor"), seen.append, time)
    env.run(until=2)
    assert (seen, env.now) == ([1], 2)
    kernel.run_until(env, 2)
    assert (seen, env.now) == ([1, 2], 2)
    env.run()
    assert (seen, env.now) == ([1, 2, 3], 3)


def test_a_cancelled_call_does_not_happen_and_does_not_move_the_clock():
    """Cancelling leaves an entry after that is skipped without a trace."""
    env = kernel.Environment()
    actor = env.entity("actor")
    seen: list[str] = []
    late = env.call_at(100, 0, actor, seen.append, "late")
    env.call_at(10, 0, actor, late.cancel)
    env.run()
    assert (seen, env.now, env.steps) == ([], 10, 1)


def test_a_timer_fires_once_per_arming_and_at_the_last_one():
    """Arming again forgets the earlier arming. A fired timer may be armed anew."""
    env = kernel.Environment()
    seen: list[int] = []
    timer = env.timer(0, env.entity("actor"), lambda: seen.append(env.now))
    timer.arm_at(5)
    timer.arm_in(9)
    env.run()
    assert (seen, timer.armed) == ([9], False)
    timer.arm_in(1)
    assert timer.armed
    env.run()
    assert seen == [9, 10]


def _clerk(env, resource, log, name):
    with resource.request() as request:
        outcome = yield request | env.timeout(5)
        if request not in outcome:
            log.append((env.now, name, "left"))
            return
        try:
            yield env.timeout(6)
            log.append((env.now, name, "served"))
        except simpy.Interrupt as stop:
            log.append((env.now, name, stop.cause))


@pytest.mark.parametrize("ties", [None, kernel.SeededRandom(3)])
def test_plain_simpy_code_runs_unchanged(ties):
    """Processes, resources, conditions, interrupts and stores behave as on SimPy's own."""
    env = kernel.Environment(ties=ties) if ties else kernel.Environment()
    desk = simpy.Resource(env, capacity=1)
    log: list[tuple[int, str, object]] = []
    first = env.process(_clerk(env, desk, log, "a"))
    env.run(until=1)
    env.process(_clerk(env, desk, log, "b"))
    env.run(until=2)
    env.process(_clerk(env, desk, log, "c"))

    def fire(env):
        yield env.timeout(1)
        first.interrupt("fire")
        yield env.all_of([env.timeout(1), env.timeout(2)])
        return "out"

    assert env.run(until=env.process(fire(env))) == "out"
    env.run()
    env.finish()
    assert log == [(3, "a", "fire"), (7, "c", "left"), (9, "b", "served")]


def test_processes_and_conditions_of_simpys_own_classes_run_too():
    """Code that names SimPy's classes instead of the environment's methods works all the same."""
    env = kernel.Environment(ties=kernel.SeededRandom(5))

    def work(env):
        yield simpy.events.Timeout(env, 2) & env.timeout(3)
        yield simpy.events.AnyOf(env, [env.timeout(4), env.event()])
        return env.now

    assert env.run(until=simpy.events.Process(env, work(env))) == 7


class _OddError(Exception):
    """An exception with a constructor that takes other arguments than it keeps."""

    def __init__(self, *, kind: str) -> None:
        super().__init__(kind, "more")


def test_a_failed_process_fails_the_run_with_its_own_exception():
    """An orphan that raises is not overlooked, not even at the last instant."""

    def fail(env):
        yield env.timeout(3)
        raise _OddError(kind="x")

    env = kernel.Environment()
    env.process(fail(env))
    with pytest.raises(_OddError):
        env.run()
    env = kernel.Environment()
    env.process(fail(env))
    env.run(until=3)
    env.step()
    with pytest.raises(_OddError):
        env.finish()


def test_a_failure_that_somebody_waits_for_is_theirs():
    """The waiting process gets the exception and may handle it."""

    def fail(env):
        yield env.timeout(3)
        raise _OddError(kind="x")

    def guardian(env):
        with pytest.raises(_OddError):
            yield env.process(fail(env))
        return env.now

    env = kernel.Environment()
    assert env.run(until=env.process(guardian(env))) == 3
    env.finish()


def test_processes_that_still_wait_are_closed_at_the_end():
    """`finish` runs the clean-up of every open generator, oldest first, and none at collection."""
    closed: list[int] = []

    def wait(env, number):
        try:
            yield env.event()
        finally:
            closed.append(number)

    env = kernel.Environment()
    for number in range(3):
        env.process(wait(env, number))
    env.run()
    env.finish()
    assert closed == [0, 1, 2]


def test_a_yield_of_something_else_names_the_process():
    """Yielding a number is an error that says where."""

    def wrong(env):
        yield 5

    env = kernel.Environment()
    env.process(wrong(env), entity=env.entity("culprit"))
    with pytest.raises(kernel.KernelError, match="culprit"):
        env.run()


def test_a_channel_keeps_order_bounds_and_account():
    """Items come out as they went in, never more than the capacity inside, none lost."""
    env = kernel.Environment()
    channel: kernel.Channel[int] = kernel.Channel(env, env.entity("pipe"), 2, traced=True)
    got: list[tuple[int, int]] = []
    deepest = 0

    def give(env):
        nonlocal deepest
        for number in range(6):
            yield channel.put(number)
            deepest = max(deepest, len(channel))
            yield env.timeout(1)

    def take(env):
        while len(got) < 6:
            item = yield channel.get()
            got.append((env.now, item))
            yield env.timeout(3)

    env.process(give(env))
    env.process(take(env))
    env.run()
    env.finish()
    assert [item for _, item in got] == list(range(6))
    assert [time for time, _ in got] == [0, 3, 6, 9, 12, 15]
    assert (deepest, channel.given, channel.taken) == (2, 6, 6)
    assert env.trace.count == 6


def test_a_get_that_lost_its_race_must_be_given_up():
    """A request left after a lost race raises instead of swallowing the next item."""
    env = kernel.Environment()
    channel: kernel.Channel[int] = kernel.Channel(env, env.entity("pipe"), 2)

    def race(env):
        yield channel.get() | env.timeout(1)

    env.process(race(env))
    env.run()
    with pytest.raises(kernel.KernelError, match="left behind"):
        channel.put(1)


def test_a_get_given_up_takes_nothing():
    """Leaving the `with` block cancels a get that has not happened. A put likewise."""
    env = kernel.Environment()
    channel: kernel.Channel[int] = kernel.Channel(env, env.entity("pipe"), 1)
    got: list[int] = []

    def race(env):
        with channel.get() as request:
            yield request | env.timeout(1)
        yield env.timeout(1)
        yield channel.put(1)
        with channel.put(2) as request:
            yield request | env.timeout(1)
        got.append((yield channel.get()))

    env.process(race(env))
    env.run()
    env.finish()
    assert (got, channel.given, channel.taken) == ([1], 1, 1)


def test_an_item_that_vanished_is_found_at_the_end():
    """The account of a channel notices everything that was taken out after its back."""
    env = kernel.Environment()
    channel: kernel.Channel[int] = kernel.Channel(env, env.entity("pipe"), 2)
    channel.put(1)
    assert channel.drop_all() == [1]
    env.finish()
    channel.put(2)
    channel._items.clear()
    with pytest.raises(kernel.ConservationError, match="pipe"):
        env.finish()


def test_a_run_of_too_many_steps_ends():
    """A bound on steps ends the run with an exception, and one that it keeps changes nothing."""

    def ticks(env):
        for _ in range(10):
            yield env.timeout(1)

    def run(steps_max=None):
        env = kernel.Environment()
        if steps_max is not None:
            env.steps_max = steps_max
        env.process(ticks(env))
        env.run()
        return env.steps

    needed = run()
    assert run(needed) == needed
    with pytest.raises(kernel.TooManyStepsError, match=f"after {needed - 1} steps"):
        run(needed - 1)


def test_more_entries_of_the_trace_than_allowed_end_the_run():
    """A bound on what a run shows holds whichever driver runs it. It is looked at per batch."""
    env = kernel.Environment()
    env.trace.count_max = 1_000

    def write():
        for number in range(2_000):
            env.trace.record("entry", env.entity("one"), number)

    with pytest.raises(kernel.TooManyStepsError, match="after 1000 steps"):
        write()
    assert 1_000 < env.trace.count < 1_400


def fail_inside() -> None:
    """Raise where nothing is collected."""
    with garbage_collector_paused():
        assert not gc.isenabled()
        raise ValueError("inside")


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_it_was(enabled: bool) -> None:
    """Inside nothing is collected. Afterwards it is as before, also after an error."""
    was_enabled = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with pytest.raises(ValueError, match="inside"):
            fail_inside()
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()


PAGE = Path(__file__).parents[2] / "docs" / "kernel.md"


def test_the_examples_of_the_page_run():
    """Each Python block of the page runs, and what it asserts holds."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), {"__name__": "example"})


def test_a_function_is_called_after_so_many_steps():
    """It is called once, between two entries. What it schedules is part of the same run."""
    env = kernel.Environment()
    over, seen = env.event(), []

    def endless():
        while True:
            yield env.timeout(10)

    def end():
        seen.append(env.now)
        over.succeed()

    env.process(endless())
    env.call_after(5, lambda: env.call_after(8, end))
    env.run(until=over)
    assert seen == [70]
    assert env.steps == 9


def test_a_call_after_steps_comes_though_many_are_added_at_once():
    """A driver that works ahead adds its steps in one go. The run continues, and calls once."""
    env = kernel.Environment()
    over, seen = env.event(), []

    def ahead():
        while True:
            yield env.timeout(10)
            env.steps += 100

    def end():
        seen.append(env.now)
        over.succeed()

    env.process(ahead())
    env.call_after(250, lambda: env.call_after(360, end))
    env.run(until=over)
    assert len(seen) == 1
