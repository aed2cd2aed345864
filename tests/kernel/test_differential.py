"""Any SimPy program does on the kernel what it does on SimPy, when ties fall as SimPy's do."""

from __future__ import annotations

import simpy
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.sim.kernel import Entity, Environment, SeededRandom

OPERATIONS = st.one_of(
    st.tuples(st.just("wait"), st.integers(0, 3)),
    st.tuples(st.just("put"), st.integers(0, 1)),
    st.tuples(st.just("get"), st.integers(0, 1)),
    st.tuples(st.just("use"), st.integers(0, 3)),
    st.tuples(st.just("race"), st.integers(0, 3)),
    st.tuples(st.just("both"), st.integers(0, 3)),
    st.tuples(st.just("kick"), st.integers(0, 3)),
    st.tuples(st.just("spawn"), st.integers(0, 3)),
    st.tuples(st.just("fail"), st.integers(0, 3)),
)
PROGRAMS = st.lists(st.lists(OPERATIONS, max_size=6), min_size=1, max_size=4)


class _AsScheduled:
    """Orders simultaneous events by nothing but the order of scheduling, as SimPy does."""

    name = "as scheduled"

    def tie(self, time: int, kind: int, entity: Entity) -> int:
        """Return the same for all."""
        return 0


class _Program:
    """Some processes that wait, hand over, share, race, interrupt, spawn and fail."""

    def __init__(self, env, scripts):
        self.env = env
        self.log: list[tuple[object, ...]] = []
        self.stores = [simpy.Store(env, 1), simpy.Store(env)]
        self.desk = simpy.Resource(env, 1)
        self.processes = [env.process(self._play(n, script)) for n, script in enumerate(scripts)]

    def _play(self, number, script):
        for step, (operation, value) in enumerate(script):
            try:
                outcome = yield from getattr(self, f"_{operation}")(number, value)
            except simpy.Interrupt as stop:
                outcome = f"interrupted by {stop.cause}"
            self.log.append((self.env.now, number, step, operation, outcome))

    def _wait(self, number, value):
        return (yield self.env.timeout(value, "waited"))

    def _put(self, number, value):
        with self.stores[value].put(number) as request:
            yield request

    def _get(self, number, value):
        with self.stores[value].get() as request:
            return (yield request)

    def _use(self, number, value):
        with self.desk.request() as turn:
            yield turn
            yield self.env.timeout(value)

    def _race(self, number, value):
        with self.stores[0].get() as request:
            found = yield request | self.env.timeout(value, "late")
            return list(found.todict().values())

    def _both(self, number, value):
        found = yield self.env.all_of([self.env.timeout(value, 1), self.env.timeout(1, 2)])
        return list(found.values())

    def _kick(self, number, value):
        other = self.processes[value % len(self.processes)]
        if value % len(self.processes) != number and other.is_alive:
            other.interrupt(number)
        yield self.env.timeout(0)

    def _spawn(self, number, value):
        return (yield self.env.process(self._wait(number, value)))

    def _fail(self, number, value):
        def failing():
            yield self.env.timeout(value)
            raise ValueError(value)

        try:
            yield self.env.process(failing())
        except ValueError as error:
            return f"failed {error}"


def _run(env, scripts):
    program = _Program(env, scripts)
    try:
        env.run()
    except ValueError as error:  # a failure with an interrupted parent
        program.log.append((env.now, "run", str(error)))
    return program.log, env.now


@settings(max_examples=300, deadline=None)
@given(PROGRAMS)
def test_the_kernel_is_simpy(scripts):
    """The same program has the same log, instant for instant, on both environments."""
    assert _run(Environment(ties=_AsScheduled()), scripts) == _run(simpy.Environment(), scripts)


@settings(max_examples=100, deadline=None)
@given(PROGRAMS, st.integers(0, 100))
def test_every_order_of_ties_is_a_legal_run(scripts, seed):
    """Random ties change orders, but what does not depend on them holds, and the run repeats."""
    log, now = _run(Environment(ties=SeededRandom(seed)), scripts)
    assert _run(Environment(ties=SeededRandom(seed)), scripts) == (log, now)
    for number in range(len(scripts)):
        steps = [entry[2] for entry in log if entry[1] == number]
        assert steps == list(range(len(steps)))
    assert [entry[0] for entry in log] == sorted(entry[0] for entry in log)
