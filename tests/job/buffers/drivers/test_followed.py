"""The oracle reads from the kernel's log what it sees of observed channels: wrong counts, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import pytest

from ckptsim.scenarios.job import Engine
from ckptsim.scenarios.job.faults import JobFault
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.compiled import CompiledDriver
from ckptsim.sim.job.buffers.compiled.columns import cell, channel, clock, gate, task, writer
from ckptsim.sim.job.buffers.compiled.followers import Follower
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.oracle.buffers import BufferOracle, journaled
from ckptsim.sim.kernel import Environment, parse_ties
from ckptsim.sim.slots import OURS
from ckptsim.sim.world import run_world
from tests.job.buffers.broken import MS, job
from tests.job.buffers.plans import random_job
from tests.mutants import MUTANTS

Break = Callable[[CompiledDriver], object]


def _credit_from_nowhere(driver: CompiledDriver) -> None:
    for one in driver.tables.channels:
        driver.m[one.row + channel.CREDIT] += 1


def _buffer_from_nowhere(driver: CompiledDriver) -> None:
    for one in driver.tables.channels:
        driver.m[one.gate.row + gate.FLOATING_FREE] += 1


def _segment_from_nowhere(driver: CompiledDriver) -> None:
    for one in driver.tasks:
        for output in one.writers:
            driver.m[output.row + writer.FREE] += 1  # type: ignore[attr-defined]


def _record_from_nowhere(driver: CompiledDriver) -> None:
    for one in driver.tasks:
        driver.m[one.row + task.PROCESSED] += 1


def _longer_slice(driver: CompiledDriver) -> None:
    for one in driver.tables.channels:
        first = driver.m.item(one.row + channel.IN_HEAD)
        if first >= 0 and driver.m.item(first + cell.WHAT) == cell.SLICE:
            driver.m[first + cell.BYTES] += 1


WRONG: list[tuple[Break, str]] = [
    (_credit_from_nowhere, "buffers_are_accounted_for"),
    (_buffer_from_nowhere, "buffers_are_accounted_for"),
    (_segment_from_nowhere, "buffers_are_accounted_for"),
    (_record_from_nowhere, "every_record_is_somewhere"),
    (_longer_slice, "order_is_kept"),
]


@pytest.mark.parametrize(("wrong", "breaks"), WRONG)
def test_a_kernel_that_loses_count_is_caught(wrong: Break, breaks: str) -> None:
    """Credits, buffers, segments, records and slices are counted once more from the log."""
    env = Environment(1)
    world = DataflowWorld(env, replace(job(), engine=Engine.COMPILED), observer=BufferOracle)
    driver = world.compiled
    assert driver is not None
    env.call_at(110 * MS, 15, env.entity("world"), wrong, driver)
    world.run()
    assert breaks in {name for name, *_ in world.violations}


class _Notes:
    """Notes what the log shows of data, per channel, on its way to the oracle."""

    def __init__(self, env: Environment, oracle: Follower) -> None:
        self._env = env
        self._oracle = oracle
        self.recovered, self.told_to_resume = oracle.recovered, oracle.told_to_resume
        self.lines: dict[int, list[tuple[int, int, int, int, int]]] = {}

    def tell(self, what: int, number: int, item: int, size: int, records: int) -> None:
        """Note a line, with its instant."""
        self._oracle.tell(what, number, item, size, records)
        if what in (clock.SENT, clock.ARRIVED, clock.TAKEN):
            noted = self.lines.setdefault(number, [])
            noted.append((self._env.now, what, item, size, records))


def test_the_log_tells_the_way_of_each_buffer() -> None:
    """Data is sent, arrives and is taken in this order, none of it twice, all with its instant."""
    env = Environment(1)
    world = DataflowWorld(env, replace(job(), engine=Engine.COMPILED), observer=journaled)
    driver = world.compiled
    assert driver is not None
    assert driver.follower is not None
    driver.follower = notes = _Notes(env, driver.follower)  # type: ignore[assignment]
    world.run()
    assert list(notes.lines) != []
    for number, lines in notes.lines.items():
        assert [at_ns for at_ns, *_ in lines] == sorted(at_ns for at_ns, *_ in lines)
        sent, arrived, taken = (
            [line for line in lines if line[1] == what]
            for what in (clock.SENT, clock.ARRIVED, clock.TAKEN)
        )
        assert len(sent) >= len(arrived) >= len(taken)
        assert [line[2:] for line in taken] == [line[2:] for line in sent[: len(taken)]]
        ways = zip(sent, arrived, taken, strict=False)
        assert all(one[0] <= other[0] <= last[0] for one, other, last in ways)
        read = driver.m.item(number + channel.RECORDS)
        assert sum(records for *_, records in taken) == read > 0


CAUGHT = (
    ("tracker_stops_any_clock", 11),
    ("output_time_out_unreported", 0),
    ("early_abort_without_marker", 5),
    ("told_before_stored", 0),
    ("closes_without_final_checkpoint", 4),
    ("looks_on_completion_only", 5),
    ("end_of_data_overtakes_watermark", 2),
)


@pytest.mark.parametrize(("mutant", "seed"), CAUGHT)
def test_mutants_get_the_same_verdicts(mutant: str, seed: int) -> None:
    """Faulty cores of control break the same properties at the same instants in both drivers."""
    found = []
    protocol = replace(OURS, **{MUTANTS[mutant].slot: MUTANTS[mutant].factory})
    scenario = random_job(seed)
    for engine in (Engine.COMPILED, Engine.PROCESSES):
        env = Environment(seed, parse_ties("random", seed))
        world = DataflowWorld(
            env,
            replace(scenario.model, engine=engine),
            protocol=protocol,
            faults=FaultPlan(cast("tuple[JobFault, ...]", scenario.faults)),
            observer=BufferOracle,
        )
        world.run()
        assert (world.compiled is not None) == (engine is Engine.COMPILED)
        found.append((world.violations, env.trace.digest()))
    assert found[0][0]
    assert found[0] == found[1]


@pytest.mark.parametrize("seed", [1, 3])
def test_tables_do_not_say_which_driver_it_was(seed: int) -> None:
    """All rows of a run are the same by each driver, the number of its events, too."""
    scenario = random_job(seed)
    rows = []
    for engine in (Engine.COMPILED, Engine.PROCESSES):
        model = replace(scenario.model, engine=engine)
        result = run_world(replace(scenario, model=model), seed=seed)
        run = replace(result.run, run_key="", version="", replay="")
        rows.append((run, result.checkpoints, result.tasks, result.figures))
    assert rows[0][0].events > 0
    assert rows[0][0] == rows[1][0]
    assert [len(part) for part in rows[0][1:]] == [len(part) for part in rows[1][1:]]
