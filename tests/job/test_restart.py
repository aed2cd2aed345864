"""Restart strategies in a scenario: their defaults, and what they do to a job on either plane."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ckptsim.models.barriers import Subpartition
from ckptsim.scenarios import Scenario, ScenarioError
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.job import Plane
from ckptsim.scenarios.job.restart import RESTART_STRATEGIES
from ckptsim.scenarios.planning.vary import with_parameters
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world
from tests.job.properties.cores import first_of_all
from tests.job.records.small import small

MS = 1_000_000
_CUT = "restored_checkpoint_is_a_cut"


def scenario(plane: Plane, *crashes_ms: int, **restart: Any) -> Scenario:
    """Return a source and a sink, a restart strategy, and crashes of the source."""
    source = {"name": "source", "kind": "source", "records": 40, "rate_per_s": 500}
    sink = {"name": "sink", "kind": "sink", "inputs": [{"upstream": "source"}]}
    crash = {"kind": "crash_task", "vertex": "source", "subtask": 0}
    job = {"plane": plane.value, "vertices": [source, sink], "restart": restart}
    return small(job, *(crash | {"at_ns": at * MS} for at in crashes_ms))


def waits(result: RunResult) -> list[int]:
    """Return the time from each failure to the next attempt, in ms."""
    return [((row.resumed_ns or 0) - row.failed_ns) // MS for row in result.recoveries]


def test_every_strategy_has_the_engine_s_defaults() -> None:
    """What a scenario leaves out is what the core has, but that fixed delays restart for ever."""
    for kind, table in RESTART_STRATEGIES.items():
        parameters = table().parameters
        usual = type(parameters)()
        assert parameters == (replace(usual, attempts=None) if kind == "fixed_delay" else usual)


def test_a_first_delay_above_the_longest_is_refused() -> None:
    """Its place, the present state and what may stand there."""
    with pytest.raises(ScenarioError) as caught:
        scenario(Plane.RECORDS, kind="exponential_delay", initial_backoff_ns=10**12)
    says = "job.restart.initial_backoff_ns: found 16 min 40 s, expected at most max_backoff, 1 min"
    assert str(caught.value) == f"JSON: {says}"


@pytest.mark.parametrize("plane", Plane)
def test_growing_delays_separate_the_attempts_of_a_job(plane: Plane) -> None:
    """Each failure waits longer for its restart than the one before."""
    made = scenario(
        plane,
        *(5, 20, 40, 60),
        kind="exponential_delay",
        initial_backoff_ns=2 * MS,
        max_backoff_ns=8 * MS,
        backoff_multiplier=2.0,
        jitter_factor=0.0,
    )
    assert waits(run_world(made, seed=1)) == [2, 4, 8, 8]


@pytest.mark.parametrize("plane", Plane)
def test_jitter_is_the_seed_s(plane: Plane) -> None:
    """Delays differ from seed to seed, and not within one."""
    made = scenario(plane, 5, kind="exponential_delay", jitter_factor=1.0)
    found = [waits(run_world(made, seed=seed)) for seed in (1, 2, 1)]
    assert found[0] == found[2] != found[1]
    assert all(1_000 <= wait <= 2_000 for (wait,) in found)


@pytest.mark.parametrize("plane", Plane)
def test_too_many_failures_in_an_interval_end_the_job(plane: Plane) -> None:
    """The last failure is followed by no attempt, and the run says that the job has failed."""
    rate: dict[str, Any] = {"kind": "failure_rate", "delay_ns": MS, "max_failures_per_interval": 2}
    failed = run_world(scenario(plane, 5, 15, 25, interval_ns=100 * MS, **rate), seed=1)
    assert waits(failed) == [1, 1]
    assert failed.run.outcome == "failed"
    ended = run_world(scenario(plane, 5, 15, 25, interval_ns=19 * MS, **rate), seed=1)
    assert waits(ended) == [1, 1, 1]
    assert ended.run.outcome == "completed"


class StopsSending(Subpartition):
    """Sends nothing any more once it has sent four elements, without being told to wait."""

    sent = 0

    def poll(self) -> object | None:
        """Block after the fourth element."""
        found = super().poll()
        self.sent += found is not None
        self.blocked = self.blocked or self.sent >= 4
        return found


@pytest.mark.parametrize("plane", Plane)
@pytest.mark.parametrize("crashes_ms", [(), (9_000,)])
def test_a_hang_that_the_next_attempt_heals_is_told(
    plane: Plane, crashes_ms: tuple[int, ...]
) -> None:
    """Whether a checkpoint that expires ends the attempt or a crash, the job ends, and says it."""
    made = scenario(plane, *crashes_ms, kind="fixed_delay", delay_ns=MS)
    job: Any = made.model
    checkpointing = replace(
        job.checkpointing,
        interval_ns=1_000 * MS,
        timeout_ns=100_000 * MS if crashes_ms else 9_000 * MS,
        tolerable_failures=0,
    )
    network = replace(job.network, segment_bytes=4096)
    source = replace(job.vertices[0], records=400)
    model = replace(
        job, checkpointing=checkpointing, network=network, vertices=(source, job.vertices[1])
    )
    made = replace(made, model=model)
    cores = {"output_subpartition": first_of_all(StopsSending)}
    result = run_world(made, seed=0, cores=cores)
    assert result.run.outcome == "completed"
    assert len(result.recoveries) == 1
    (told,) = (row for row in result.violations if row.property == "job_ends")
    assert told.says.startswith("no record was processed for ")
    assert "from sink/0" in told.says
    assert told.at_ns < 9_000 * MS


@pytest.mark.parametrize(("name", "restored"), [("flip76_ad_hoc", 4), ("rescaled_in_its_time", 3)])
def test_in_flight_data_can_be_left_out_of_a_restore(name: str, restored: int) -> None:
    """On both planes in-flight data in the named checkpoint is lost, and in no other one."""
    key = "job.checkpointing.recover_without_channel_state"
    for number, broken in ((restored, True), (restored + 1, False)):
        result = run_world(with_parameters(by_name(name), {key: number}), seed=0)
        assert result.recoveries[0].restored_from == f"checkpoint {restored}"
        found = [one.says for one in result.violations if one.property == _CUT]
        assert bool(found) is broken
        assert all("missing" in one and "too many" not in one for one in found)


def test_recoveries_on_records_have_their_parts() -> None:
    """Known and cancelled at once. Then the delay, the restore, the in-flight data, a record.

    What a second failure comes before has not happened.
    """
    costs = {"job.costs.restore": "20 ms", "job.costs.read_record": "1 ms"}
    made = with_parameters(by_name("rescale_keyed"), costs | {"faults[1].at": "120 ms"})
    first, second = run_world(made, seed=0).recoveries
    for row in (first, second):
        at_ns = row.failed_ns
        assert (row.detected_ns, row.canceled_ns, row.resumed_ns) == (at_ns, at_ns, at_ns)
        assert row.bytes_read is None
        assert row.caught_up_ns is None
    assert first.state_read_ns == first.failed_ns + 20 * MS
    assert first.handed_over_ns is not None
    assert first.first_record_ns is not None
    assert first.state_read_ns < first.first_record_ns < first.handed_over_ns
    for at, state_read_ns in (("50 ms", None), ("56 ms", first.state_read_ns)):
        cut_short = run_world(with_parameters(made, {"faults[1].at": at}), seed=0).recoveries[0]
        assert (cut_short.state_read_ns, cut_short.handed_over_ns) == (state_read_ns, None)
