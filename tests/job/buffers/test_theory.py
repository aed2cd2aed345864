"""Queues and barriers agree with closed forms."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Generator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import simpy

from ckptsim.models.lifecycle.effects import TakeSnapshot
from ckptsim.scenarios import job as jobs
from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.constants import PLAIN, step_ns
from ckptsim.sim.kernel import Environment
from tests.job.buffers.plans import on_buffers

MS = 1_000_000
US = 1_000
SECOND = 1_000_000_000
REPLICATIONS = 16
STUDENT_99_9 = 4.07  # two-sided, 15 degrees of freedom


def within(values: list[float], expected: float) -> None:
    """Fail unless the 99.9 % confidence interval of the mean holds the expected value."""
    half = STUDENT_99_9 * statistics.stdev(values) / math.sqrt(len(values))
    assert abs(statistics.fmean(values) - expected) <= half, (values, expected)
    assert half < 0.25 * expected, "the interval is too wide to show anything"


def single_server(seed: int, *, load: float, deterministic: bool) -> float:
    """Return the mean wait of a queue with Poisson arrivals and a mean service of 1 ms."""
    env = Environment(seed)
    arrivals, services = env.stream("arrivals"), env.stream("services")
    server = simpy.Resource(env)
    waits: list[int] = []

    def customer() -> Generator[Any, Any, None]:
        came = env.now
        with server.request() as turn:
            yield turn
            waits.append(env.now - came)
            yield env.timeout(MS if deterministic else services.exponential_ns(MS))

    def source() -> Generator[Any, Any, None]:
        for _ in range(4_000):
            yield env.timeout(arrivals.exponential_ns(MS / load))
            env.process(customer())

    env.process(source())
    env.run()
    return statistics.fmean(waits[1_000:]) / MS


@pytest.mark.parametrize(("deterministic", "expected"), [(False, 1.0), (True, 0.5)])
def test_single_server_queue(deterministic: bool, expected: float) -> None:
    """M/M/1 and M/D/1 at half load wait 1 and 0.5 services (Pollaczek and Khinchine)."""
    found = [single_server(s, load=0.5, deterministic=deterministic) for s in range(REPLICATIONS)]
    within(found, expected)


@pytest.mark.parametrize("room", [0, 3])
def test_tandem_with_blocking(room: int) -> None:
    """Two exponential stations with room for K between them pass (K + 2) / (K + 3) per service."""

    def passed(seed: int) -> float:
        env = Environment(seed)
        first, second = env.stream("first"), env.stream("second")
        # The content of the second server is in the store too, as does the finished item in front.
        between: Any = simpy.Container(env, capacity=room + 1)
        done = [0]

        def station() -> Generator[Any, Any, None]:
            while True:
                yield env.timeout(first.exponential_ns(MS))
                yield between.put(1)
                ready.append(1)
                if waiting:
                    waiting.pop().succeed()

        def behind() -> Generator[Any, Any, None]:
            while True:
                while not ready:
                    event = env.event()
                    waiting.append(event)
                    yield event
                ready.pop()
                yield env.timeout(second.exponential_ns(MS))
                yield between.get(1)
                done[0] += 1

        ready: list[int] = []
        waiting: list[Any] = []
        env.process(station())
        env.process(behind())
        env.run_until(5 * SECOND)
        return done[0] / 5_000

    within([passed(seed) for seed in range(REPLICATIONS)], (room + 2) / (room + 3))


def test_token_ring() -> None:
    """Mean wait of a symmetric ring with exhaustive service follows Takagi's formula."""
    stations, load, walk = 4, 0.6, 0.5 * MS
    rate = load / stations / MS

    def mean_wait(seed: int) -> float:
        env = Environment(seed)
        queues: list[list[int]] = [[] for _ in range(stations)]
        waits: list[int] = []

        def arrivals(index: int) -> Generator[Any, Any, None]:
            stream = env.stream("arrivals", index)
            while True:
                yield env.timeout(stream.exponential_ns(1 / rate))
                queues[index].append(env.now)

        def token() -> Generator[Any, Any, None]:
            while True:
                for queue in queues:
                    while queue:
                        waits.append(env.now - queue.pop(0))
                        yield env.timeout(MS)
                    yield env.timeout(int(walk))

        for index in range(stations):
            env.process(arrivals(index))
        env.process(token())
        env.run_until(6 * SECOND)
        return statistics.fmean(waits[500:]) / MS

    # E[W] = (N l b2 + r (N - rho)) / (2 (1 - rho)) with service b = 1 ms, walk r per station.
    expected = (load + walk / MS * (stations - load)) / (2 * (1 - load))
    within([mean_wait(seed) for seed in range(REPLICATIONS)], expected)


# The dataflow world ---------------------------------------------------------------------------


def chain(depth: int, **network: Any) -> jobs.Job:
    """Return an idle chain of `depth` operators."""
    names = ["source", *(f"operator{index}" for index in range(depth))]
    return on_buffers(
        jobs.Vertex(kind=jobs.VertexKind.SOURCE, name="source", rate_per_s=0.001),
        *(
            jobs.Vertex(name=name, inputs=(jobs.Input(upstream=before),))
            for before, name in pairwise(names)
        ),
        network=jobs.Network(jitter_ns=0, **network),
        checkpointing=jobs.Checkpointing(interval_ns=SECOND, first_trigger_ns=100 * MS, count=6),
    )


def durations(model: jobs.Job, seed: int = 1) -> list[int]:
    """Return the durations of the completed checkpoints of a run."""
    world = DataflowWorld(Environment(seed), model)
    world.run()
    return [r.duration_ns or 0 for r in world.coordinator.records.values() if r.duration_ns]


def test_barrier_latency_grows_by_one_hop_per_depth() -> None:
    """Without records a checkpoint takes one latency, wake-up and barrier handling per hop."""
    hop = 150 * US + PLAIN.wake_ns + PLAIN.barrier_cost_ns
    few, many = durations(chain(2))[-1], durations(chain(12))[-1]
    assert many - few == 10 * hop


def test_stability_boundary() -> None:
    """Checkpoints keep the interval while depth x hop is shorter, and the latency beyond it."""

    def gaps(depth: int) -> list[int]:
        model = chain(depth, latency_ns=25 * MS)
        table = replace(model.checkpointing, interval_ns=300 * MS)
        world = DataflowWorld(Environment(1), replace(model, checkpointing=table))
        world.run()
        times = [r.triggered_ns for r in world.coordinator.records.values()]
        return [after - before for before, after in pairwise(times)]

    assert set(gaps(8)) == {300 * MS}
    slow = durations(chain(20, latency_ns=25 * MS))[-1]
    assert slow > 500 * MS
    assert min(gaps(20)[1:]) >= slow


def pressed(**changes: Any) -> jobs.Job:
    """Return an unlimited source before one slow operator."""
    model = on_buffers(
        jobs.Vertex(kind=jobs.VertexKind.SOURCE, name="source"),
        jobs.Vertex(
            name="slow",
            inputs=(jobs.Input(upstream="source"),),
            service_ns=changes.pop("service_ns", MS),
        ),
        network=jobs.Network(jitter_ns=0),
        checkpointing=jobs.Checkpointing(interval_ns=SECOND, first_trigger_ns=2 * SECOND, count=3),
    )
    return replace(model, **changes)


def test_drain_time_is_what_is_queued_by_the_rate() -> None:
    """An aligned barrier takes as long as the records before it take to be served."""
    world = DataflowWorld(Environment(1, keep_trace=True), pressed())
    seen: list[tuple[int, int]] = []
    source, slow = world.tasks
    capture = source.snapshots.capture

    def noted(flags: TakeSnapshot, captured: Callable[[int], None]) -> None:
        slow.sync()
        seen.append((world.env.now, source.processed - slow.processed))
        capture(flags, captured)

    source.snapshots.capture = noted  # type: ignore[method-assign]
    world.run()
    barriers = [e for e in world.env.trace.entries if e[1] == "barrier" and e[2] == "slow[0]"]
    assert len(seen) == len(barriers) == 3
    for (sent, queued), entry in zip(seen, barriers, strict=True):
        assert 500 < queued <= 20 * 32
        assert abs(int(str(entry[0])) - sent - queued * slow.step_ns) <= slow.step_ns


@pytest.mark.parametrize("service_ms", [1, 8])
def test_unaligned_duration_does_not_depend_on_throughput(service_ms: int) -> None:
    """An unaligned checkpoint waits for the record under way at most, however slow the task is."""
    table = jobs.Checkpointing(
        mode=jobs.Mode.UNALIGNED, interval_ns=SECOND, first_trigger_ns=2 * SECOND, count=3
    )
    found = durations(pressed(service_ns=service_ms * MS, checkpointing=table))
    assert max(found) < (25 + service_ms) * MS


def test_buffers_for_full_speed() -> None:
    """Throughput over a long wire is buffers x size / round trip, up to the source's rate."""

    def rate(buffers: int) -> float:
        model = pressed(
            service_ns=0,
            network=jobs.Network(
                jitter_ns=0,
                latency_ns=50 * MS,
                exclusive_buffers=buffers,
                floating_buffers=1,
                max_buffers_per_channel=1000,
                buffer_timeout_ns=0,
            ),
            checkpointing=jobs.Checkpointing(interval_ns=60 * SECOND),
            duration_ns=10 * SECOND,
        )
        world = DataflowWorld(Environment(1), model)
        world.run()
        return world.tasks[1].processed / 32 / 10  # buffers per second

    for buffers in (1, 4, 8):
        # The one floating buffer is used whenever the sender has announced a backlog.
        assert 0.95 * buffers <= rate(buffers) * 0.1 <= 1.05 * (buffers + 1)


def test_slowest_of_n() -> None:
    """The quantile q of a checkpoint over n independent files is the quantile q^(1/n) of one."""
    files, mean, wanted = 8, 400 * MS, 400
    model = on_buffers(
        jobs.Vertex(kind=jobs.VertexKind.SOURCE, name="source", rate_per_s=0.001),
        jobs.Vertex(
            name="stateful",
            parallelism=files,
            inputs=(jobs.Input(upstream="source", partitioner=jobs.Partitioner.HASH),),
            state_bytes=files * 30_000,
        ),
        storage=jobs.Storage(tail_ratio=1.0, tail_latency_ns=mean),
        checkpointing=jobs.Checkpointing(interval_ns=10 * SECOND, count=wanted),
        duration_ns=10_000 * SECOND,
    )
    found = sorted(durations(model))
    base = min(found)
    assert len(found) == wanted
    for share in (0.5, 0.9):
        law = -mean * math.log(1 - share ** (1 / files))
        # The order statistics around the quantile: three standard deviations of their rank.
        spread = 3 * math.sqrt(wanted * share * (1 - share))
        low = found[int(wanted * share - spread)]
        high = found[min(wanted - 1, int(wanted * share + spread))]
        assert low - base <= law <= high, (share, low, law, high)


def test_debloating_bounds_the_drain_time() -> None:
    """With debloating an aligned checkpoint takes about the target instead of all buffers."""
    network = jobs.Network(jitter_ns=0, debloat=True, debloat_target_ns=200 * MS)
    table = jobs.Checkpointing(interval_ns=10 * SECOND, first_trigger_ns=20 * SECOND, count=2)
    loose = durations(pressed(checkpointing=table, duration_ns=60 * SECOND))
    tight = durations(pressed(network=network, checkpointing=table, duration_ns=60 * SECOND))
    assert max(tight) < 0.6 * min(loose)


def test_a_checkpoint_waits_until_windows_have_fired() -> None:
    """No barrier is sent inside a record: the sink has taken all outputs of a tick before it."""
    model = by_name("windows_fire_together").model
    assert isinstance(model, jobs.Job)
    fired_ns = 151_200 * step_ns(model.vertices[2].service_ns, PLAIN)
    found = durations(model)
    # It is triggered 6 s after the tick. Credits keep the sink waiting now and then.
    assert 0 < found[5] - (fired_ns - 6 * SECOND) < 0.3 * fired_ns
    assert statistics.median(found) < 20 * MS
