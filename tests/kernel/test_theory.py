"""The kernel against closed forms: queues with known answers."""

from __future__ import annotations

import math

import pytest
import simpy

from ckptsim.sim.kernel import Environment, parse_ties


def _mm1_wait(env: Environment, load: float, customers: int) -> float:
    """Return the mean wait of an M/M/1 queue in units of the mean service time."""
    server = simpy.Resource(env, capacity=1)
    arrivals, services = env.stream("arrivals"), env.stream("services")
    mean_ns = 1_000_000
    total = 0

    def customer():
        nonlocal total
        came = env.now
        with server.request() as turn:
            yield turn
            total += env.now - came
            yield env.timeout(services.exponential_ns(mean_ns))

    def source():
        for _ in range(customers):
            yield env.timeout(arrivals.exponential_ns(mean_ns / load))
            env.process(customer())

    env.process(source())
    env.run()
    env.finish()
    return total / customers / mean_ns


@pytest.mark.parametrize("ties", ["structural", "random"])
def test_the_mean_wait_of_a_single_server_queue(ties):
    """M/M/1 at load 0.5 waits one mean service time on average, within a tenth."""
    found = _mm1_wait(Environment(12, parse_ties(ties, 12)), 0.5, 8000)
    assert abs(found - 1.0) < 0.1


def test_a_poisson_process_has_the_variance_of_its_mean():
    """Counts of exponential gaps per interval have equal mean and variance."""
    env = Environment(5)
    gaps = env.stream("gaps")
    counts = [0] * 2000

    def source():
        while env.now < 2_000_000:
            yield env.timeout(gaps.exponential_ns(250))
            if env.now < 2_000_000:
                counts[env.now // 1000] += 1

    env.process(source())
    env.run()
    mean = sum(counts) / 2000
    variance = sum((c - mean) ** 2 for c in counts) / 1999
    assert abs(mean - 4) < 5 * math.sqrt(4 / 2000)
    assert abs(variance / mean - 1) < 5 * math.sqrt(2 / 2000)


def test_a_chain_of_timers_is_exact():
    """A hundred thousand steps of 1 ns end at 100,000 ns exactly."""
    env = Environment()
    timer = env.timer(0, env.entity("actor"), lambda: env.now < 100_000 and timer.arm_in(1))
    timer.arm_at(0)
    env.run()
    assert (env.now, env.steps) == (100_000, 100_001)
