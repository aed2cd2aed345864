"""Each kind of fault does what it says, where it says. The right core completes every plan."""

import pytest
from hypothesis import given, settings

from ckptsim.scenarios import Scenario, canonical_json, sync
from ckptsim.scenarios.files import plain, read
from ckptsim.scenarios.sync import Outcome
from ckptsim.sim.rows import RunResult
from ckptsim.sim.sync.destination import Destination
from ckptsim.sim.sync.destination.uploads import Batch
from ckptsim.sim.world import run_world
from tests.sync.support import SEEDS, TIES, changed, library, scenarios, with_faults

MS = 1_000_000
QUIET = library("quickstart")

# Point -> the kind of the trace entry that a crash there follows at once.
FOLLOWS = {
    sync.Point.AFTER_READ: {"read", "effect", "upload"},
    sync.Point.AFTER_STATE: {"state_read"},
    sync.Point.AFTER_UPLOAD: {"durable"},
    sync.Point.AFTER_PERSIST: {"reported"},
    sync.Point.BEFORE_SEND: {"send"},
    sync.Point.AFTER_SEND: {"stored"},
    sync.Point.AFTER_ACKNOWLEDGE: {"sent"},
    sync.Point.AFTER_ABSORB: {"state", "reader_ended", "read", "drain"},
}


def _run(*faults: sync.SyncFault, seed: int = 0, scenario: str = "quickstart") -> RunResult:
    result = run_world(with_faults(library(scenario), *faults), seed=seed, keep_trace=True)
    assert result.violations == []
    assert result.run.outcome == "completed"
    return result


def test_source_that_has_ended_cannot_crash() -> None:
    """A crash planned for a process that has exited well has no effect."""
    result = _run(sync.CrashPoint(side=sync.Side.SOURCE, point=sync.Point.BEFORE_FINISH))
    assert (result.run.attempts, result.goals["source_crashed"]) == (1, 0)


@pytest.mark.parametrize(
    ("side", "point"),
    [
        (side, point)
        for side in sync.Side
        for point in sync.Point
        if (side, point) != (sync.Side.SOURCE, sync.Point.BEFORE_FINISH)
    ],
)
def test_crash_strikes_at_its_point(side: sync.Side, point: sync.Point) -> None:
    """The named side crashes right there, once, and the next attempt completes the sync."""
    once = point in (sync.Point.BEFORE_FINISH, sync.Point.AFTER_COMPLETE)
    result = _run(sync.CrashPoint(side=side, point=point, occurrence=1 if once else 2))
    kinds = [str(entry[1]) for entry in result.trace]
    crashes = [place for place, kind in enumerate(kinds) if kind == "crash"]
    assert len(crashes) == 1
    before = FOLLOWS.get(point)
    assert before is None or kinds[crashes[0] - 1] in before
    assert result.trace[crashes[0]][3:] == (str(side), f"at {point}")
    if side is sync.Side.DESTINATION:
        assert result.run.attempts == 2


def test_crash_strikes_at_its_instant() -> None:
    """The attempt ends at the very instant, and the next begins there, as it had got data."""
    result = _run(sync.CrashAt(side=sync.Side.DESTINATION, at_ns=9 * MS))
    assert [row.failed_ns for row in result.recoveries] == [9 * MS]
    assert result.recoveries[0].resumed_ns == 9 * MS


def test_source_crash_lets_the_destination_finish_what_it_has() -> None:
    """The content of the pipes is read and released. The verdict names the incomplete streams."""
    result = _run(sync.CrashAt(side=sync.Side.SOURCE, at_ns=5 * MS))
    assert result.run.attempts == 2
    assert result.recoveries[0].cause.startswith("incomplete_streams")
    assert any(row.attempt == 1 for row in result.releases)


def test_destination_that_ends_well_does_not_save_a_crashed_source() -> None:
    """COMPLETE can come through and the last states not. Such an attempt has failed."""
    narrow = changed(QUIET, "sockets.pipe_bytes", 500)
    causes: list[str] = []
    for tenth in range(40, 100):
        crash = sync.CrashAt(side=sync.Side.SOURCE, at_ns=tenth * MS // 10)
        result = run_world(with_faults(narrow, crash), seed=0)
        assert result.violations == []
        assert result.run.outcome == "completed"
        assert result.run.attempts == 1 + result.goals["source_crashed"]
        causes += [row.cause for row in result.recoveries]
    assert "the source crashed" in causes
    assert any(cause.startswith("incomplete_streams") for cause in causes)


def test_stalled_socket_is_silent_for_its_time() -> None:
    """Nothing is delivered on the socket between beginning and end of the stall."""
    result = _run(sync.SocketStall(socket=0, at_ns=1 * MS, duration_ns=30 * MS))
    times = [e[0] for e in result.trace if e[1] == "read" and e[2] == "socket[0]"]
    assert times
    assert not [at for at in times if isinstance(at, int) and 1 * MS < at < 31 * MS]


def test_slow_windows_lengthen_what_begins_in_them() -> None:
    """Uploads and sends of the window take longer than without it, by the largest factor."""
    base = _run().run.ended_ns
    whole = {"at_ns": 0, "duration_ns": 1000 * MS}
    assert _run(sync.SlowUpload(factor=20.0, **whole)).run.ended_ns > 3 * base
    assert _run(sync.SlowSend(factor=100.0, **whole)).run.ended_ns > 3 * base
    once = _run(sync.SlowUpload(factor=20.0, **whole)).run.digest
    assert (
        _run(sync.SlowUpload(factor=20.0, **whole), sync.SlowUpload(factor=2.0, **whole)).run.digest
        == once
    )


def test_failed_uploads_are_tried_again_until_the_attempt_fails() -> None:
    """Two failures are survived by the third try. Three in a row end the attempt."""
    few = changed(
        changed(QUIET, "destination.batch_records", 1000), "destination.uploads_at_once", 1
    )
    twice = run_world(with_faults(few, sync.FailUpload(occurrence=1, uploads=1)), seed=0)
    assert (twice.run.attempts, twice.goals["upload_failed"]) == (1, 1)
    always = run_world(with_faults(few, sync.FailUpload(occurrence=1, uploads=1000)), seed=0)
    assert always.run.outcome == "failed"
    assert always.recoveries[0].cause.endswith("failed 3 times")


def test_uploads_of_a_window_take_effect_in_reverse(monkeypatch: pytest.MonkeyPatch) -> None:
    """The batch with the latest upload is reported first."""
    effect: list[int] = []
    usual = Destination._on_durable

    def noted(self: Destination, batch: Batch) -> None:
        effect.append(batch.number)
        usual(self, batch)

    monkeypatch.setattr(Destination, "_on_durable", noted)
    scenario = changed(QUIET, "destination.uploads_at_once", 8)
    plan = with_faults(scenario, sync.ReorderUploads(occurrence=1, uploads=3))
    result = run_world(plan, seed=0)
    assert sorted(effect) == list(range(1, 9))
    assert [number for number in effect if number <= 3] == [3, 2, 1]
    assert result.goals["uploads_reordered"] == 1
    assert result.violations == []


def test_failed_sends_are_repeated_in_their_order() -> None:
    """The platform gets every state once although sends fail. Too many in a row end the attempt."""
    result = _run(sync.FailSend(occurrence=1, sends=4))
    assert result.run.attempts == 1
    assert result.goals["retry_after_failed_send"] >= 1
    scopes = {row.scope for row in result.releases}
    for scope in scopes:
        indexes = [row.index for row in result.releases if row.scope == scope]
        assert indexes == list(range(1, len(indexes) + 1))
    assert _run(sync.FailSend(occurrence=1, sends=5)).run.attempts == 2


@pytest.mark.parametrize(
    ("fault", "goal", "attempts"),
    [
        (sync.IdCollision(feed=0, reader=1, other_feed=0, other_reader=0), "id_collision", 2),
        (sync.StateFlood(feed=0, round=1, states=5), "empty_state", 1),
        (sync.CountError(feed=0, reader=1, records=-2), "attempt_failed", 2),
        (sync.CountError(feed=0, reader=1, records=2), "attempt_failed", 2),
        (sync.ReaderFailure(feed=0, reader=1, packets=1), "reader_failed", 2),
        (sync.RepeatState(feed=0, reader=1), "input_refused", 2),
        (sync.RepeatIndex(feed=0, reader=1), "input_refused", 2),
        (sync.MixedKind(feed=0, reader=1), "input_refused", 2),
    ],
)
def test_source_fault_shows_and_is_survived(
    fault: sync.SyncFault, goal: str, attempts: int
) -> None:
    """The fault is met, costs the attempts that it must, and nothing is lost."""
    result = _run(fault)
    assert result.goals[goal] >= 1
    assert result.run.attempts == attempts
    assert result.run.records_committed == 400


def test_every_kind_of_fault_is_in_the_registry_and_without_effect_out_of_reach() -> None:
    """Faults that a run never reaches change nothing, not even a draw."""
    quiet = _run().run.digest
    far = 100_000
    out_of_reach: list[sync.SyncFault] = [
        sync.CrashAt(at_ns=3600 * 1000 * MS),
        sync.CrashPoint(occurrence=far),
        sync.SocketStall(socket=1000),
        sync.SlowUpload(at_ns=3600 * 1000 * MS),
        sync.FailUpload(occurrence=far),
        sync.ReorderUploads(occurrence=far),
        sync.FailSend(occurrence=far),
        sync.SlowSend(at_ns=3600 * 1000 * MS),
        sync.IdCollision(reader=far),
        sync.StateFlood(feed=900),
        sync.CountError(reader=far),
        sync.ReaderFailure(reader=far),
        sync.RepeatState(reader=far),
        sync.RepeatIndex(reader=far),
        sync.MixedKind(reader=far),
    ]
    assert {type(fault) for fault in out_of_reach} == set(sync.SYNC_FAULTS.values())
    for fault in out_of_reach:
        assert _run(fault).run.digest == quiet, fault


@settings(max_examples=300)
@given(scenarios(), SEEDS, TIES)
def test_right_core_survives_every_plan(scenario: Scenario, seed: int, ties: str) -> None:
    """Nothing breaks but what the sync says of itself. Else it completes, or may be aborted."""
    result = run_world(scenario, seed=seed, ties=ties)
    unexpected = [row for row in result.violations if row.property not in scenario.violates]
    assert unexpected == [], unexpected[0]
    completed = result.run.outcome == "completed" or scenario.model.outcome is Outcome.ANY
    assert result.violations or completed, result.run


@settings(max_examples=100)
@given(scenarios())
def test_a_plan_survives_being_written_down(scenario: Scenario) -> None:
    """A generated plan is a valid document, so that a found one can be kept and replayed."""
    again = read(plain(scenario), source="plan")
    assert again == scenario
    assert canonical_json(again) == canonical_json(scenario)
