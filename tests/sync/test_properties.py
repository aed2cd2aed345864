"""Every property can fail: something is known that breaks it, and the right core does not."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from ckptsim.models.ordering import RecordsDurable, SendState
from ckptsim.models.ordering.events import Event
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.planning import with_parameters
from ckptsim.scenarios.sync import (
    PROPERTIES,
    CrashAt,
    CrashPoint,
    DestinationTable,
    FailUpload,
    Medium,
    MemoryPolicy,
    Outcome,
    Point,
    ReorderUploads,
    Side,
    SocketStall,
    SocketTable,
    SourceTable,
    StateKind,
    StreamTable,
    SyncModel,
)
from ckptsim.sim.rows import RunResult
from ckptsim.sim.sync.attempt import Attempt, AttemptEnded
from ckptsim.sim.sync.destination.destination import Destination
from ckptsim.sim.sync.destination.uploads import Batch, Sender, StateMemory, Uploader
from ckptsim.sim.sync.world import Platform
from ckptsim.sim.world import run_world
from tests.sync import breakers
from tests.sync.support import changed, library, with_faults

Breaker = Callable[[pytest.MonkeyPatch], RunResult]


def _mutant(scenario: str, mutant: str) -> Breaker:
    """Break a property by a mutant of the core."""
    return _first(scenario, mutant)


def _core(scenario: str, factory: breakers.Factory) -> Breaker:
    return lambda _: breakers.with_core(scenario, factory)


def _host(scenario: str) -> Breaker:
    """Break a property by a fault of the host that the scenario declares."""
    return _first(scenario, None)


def _first(scenario: str, mutant: str | None) -> Breaker:
    def first(_: pytest.MonkeyPatch) -> RunResult:
        runs = (
            run_world(library(scenario), seed=seed, ties="random", mutant=mutant)
            for seed in range(100)
        )
        return next(result for result in runs if result.violations)

    return first


BREAKERS: dict[str, Breaker] = {
    "no_premature_acknowledgement": _mutant("t08_interleaved_stdio", "no_local_check"),
    "releases_without_gaps": _mutant("reference", "no_ordering"),
    "releases_are_a_prefix": _core("quickstart", breakers.SendsUnknown),
    "released_at_most_once": _core("quickstart", breakers.SendsTwice),
    "failed_send_changes_nothing": _core("b01_send_fails", breakers.ForgetsFailedSend),
    "released_states_are_unchanged": _mutant("b03_index_used_twice", "message_replaced"),
    "one_kind_per_attempt": _mutant("kinds_mixed", "kinds_mixed"),
    "counts_are_true": _mutant("b01_send_fails", "totals_before_send"),
    "records_have_one_owner": _mutant("t08_interleaved_stdio", "one_counter"),
    "readers_have_their_own": breakers.share_sockets,
    "durable_never_exceeds_read": breakers.report_twice,
    "closing_is_orderly": _core("quickstart", breakers.EndsEarly),
    "no_record_lost": _host("t11_missing_state_finished"),
    "resume_is_monotone": breakers.forgetful_platform,
    "release_is_deterministic": _mutant("quickstart", "arrival_order"),
    "snapshot_claims_are_durable": _host("b16_checkpoint_race"),
    "every_state_is_released": _core("t06_states_left_at_end", breakers.CompletesAnyway),
    "run_ends_with_a_reason": _core("quickstart", breakers.FailsWithoutReason),
    "sync_completes": breakers.must_complete,
    "flood_does_not_block_data": _host("t07_state_flood_blocks"),
    "no_flush_request_lost": _mutant("t03_flush_during_flush", "flush_dropped"),
    "no_counters_left": _core("b13_long_ids", breakers.hoards),
}


@pytest.mark.parametrize("name", PROPERTIES)
def test_property_can_fail(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A world with one broken promise is caught by the property that speaks of it."""
    result = BREAKERS[name](monkeypatch)
    begin_ns = min(row.at_ns for row in result.violations)  # what comes later follows from it
    first = {row.property: row for row in result.violations if row.at_ns == begin_ns}
    assert name in first, result.violations
    row = first[name]
    assert row.says
    assert row.replay.startswith("ckptsim replay ")


def test_violation_tells_the_story_of_its_state() -> None:
    """The story names reader, arrival and durability of the records, oldest first."""
    result = _mutant("t08_interleaved_stdio", "no_local_check")(pytest.MonkeyPatch())
    (row,) = (row for row in result.violations if row.property == "no_premature_acknowledgement")
    story = row.story.splitlines()
    assert story == sorted(story, key=lambda line: float(line.split(" ms ")[0]))
    assert any("a reader begins records" in line for line in story)
    assert any("is read from socket[0]" in line for line in story)


def test_memory_of_states_is_free_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reserved and never freed memory is a leftover of a successful attempt."""
    monkeypatch.setattr(StateMemory, "free", lambda _memory, _size: None)
    result = run_world(by_name("reference"), seed=0)
    (row,) = result.violations
    assert row.property == "closing_is_orderly"
    assert "bytes reserved for states" in row.says


def test_nobody_takes_memory_before_those_who_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small state that gets what a large one waits for may keep that one waiting for ever."""
    stream = StreamTable(records=200, partition_records=10)
    sizes = {"large": 3_800, "small": 900, "middle": 1_500}
    streams = tuple(replace(stream, name=n, state_bytes=size) for n, size in sizes.items())
    destination = DestinationTable(
        state_memory_bytes=4096, memory_policy=MemoryPolicy.BLOCK, send_ns=4_000_000
    )
    model = SyncModel(streams=streams, destination=destination, sockets=SocketTable(count=3))
    scenario = replace(by_name("t07_state_flood_blocks"), model=model, faults=())
    name = "run_ends_with_a_reason"
    assert name not in {row.property for row in run_world(scenario, seed=0).violations}

    def reserve(memory: StateMemory, size_bytes: int) -> bool:
        fits = memory._fits(size_bytes)
        memory.used_bytes += size_bytes if fits else 0
        return fits

    monkeypatch.setattr(StateMemory, "reserve", reserve)
    found = {row.property: row.says for row in run_world(scenario, seed=0).violations}
    assert "takes memory before socket" in found[name]


def test_a_failed_send_frees_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A state that keeps its memory over a send that failed may keep readers waiting for it."""
    scenario = by_name("b01_send_fails")
    assert run_world(scenario, seed=0).violations == []
    right = Sender._failed

    def failed(self: Sender, effect: SendState) -> None:
        monkeypatch.setattr(Sender, "_free", lambda *_: None)
        right(self, effect)
        monkeypatch.undo()
        monkeypatch.setattr(Sender, "_failed", failed)

    monkeypatch.setattr(Sender, "_failed", failed)
    found = {row.property: row.says for row in run_world(scenario, seed=0).violations}
    assert "holds memory behind a send" in found["run_ends_with_a_reason"]


def test_what_is_complete_is_reported_before_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A destination that ends while batches are not reported as complete is in disorder."""
    parameters = {"sync.destination.levels": "both", "sync.destination.complete_ns": 50_000_000}
    scenario = with_parameters(by_name("reference"), parameters)
    assert run_world(scenario, seed=0).violations == []
    right = Destination.finish_when_idle

    def finish_at_once(self: Destination) -> None:
        waiting, self.completing = self.completing, 0
        right(self)
        self.completing = waiting

    monkeypatch.setattr(Destination, "finish_when_idle", finish_at_once)
    (row,) = run_world(scenario, seed=0).violations
    assert row.property == "closing_is_orderly"
    assert "reported as complete" in row.says


def test_a_failed_upload_that_nobody_begins_again_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A batch that waits although one more upload may be under way has no reason to wait."""
    scenario = with_faults(by_name("quickstart"), FailUpload(occurrence=8))  # the last one
    assert run_world(scenario, seed=0).violations == []

    def put_back(uploader: Uploader, batch: Batch) -> None:
        uploader._queue.append(batch)

    monkeypatch.setattr(Uploader, "_failed", put_back)
    (row,) = run_world(scenario, seed=0).violations
    assert row.property == "run_ends_with_a_reason"
    assert row.says == "1 batches wait though one more upload may be under way"


def test_an_attempt_after_which_the_platform_waits_for_too_long_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the platform answers to a failed attempt follows from all attempts so far."""
    monkeypatch.setattr(Platform, "judge", lambda _platform: 60 * 10**9)
    (row,) = run_world(by_name("reference"), seed=0).violations
    assert row.property == "run_ends_with_a_reason"
    assert row.says.endswith("the platform waits 1 min")


def test_rejected_records_are_told_apart_at_their_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that distinguish no rejected records reports counts that are not true."""
    monkeypatch.setattr(Destination, "_rejected", lambda *_: 0)
    (row,) = run_world(by_name("t09_rejected_records"), seed=0).violations
    assert row.property == "counts_are_true"
    assert "apart as rejected" in row.says


def test_rejected_records_have_no_committed_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that reports the bytes of rejected records as committed is found."""
    right = Destination.deliver

    def deliver(self: Destination, event: Event) -> None:
        if isinstance(event, RecordsDurable) and event.rejected:
            event = replace(event, size_bytes=event.size_bytes + event.rejected)
        right(self, event)

    monkeypatch.setattr(Destination, "deliver", deliver)
    rows = run_world(by_name("t09_rejected_records"), seed=0).violations
    assert {row.property for row in rows} == {"counts_are_true"}
    assert "bytes" in rows[0].says


def test_stall_is_explained_by_who_waits_for_whom() -> None:
    """A flood that stops its own records is reported as a circle of waits."""
    result = BREAKERS["flood_does_not_block_data"](pytest.MonkeyPatch())
    says = result.violations[0].says
    assert "waits for memory for a state from the core, which waits for" in says
    assert says.endswith("they wait for each other in a circle.")


def test_nobody_waits_for_memory_of_which_none_is_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """That is no flood: what waits could go, so the silence has no reason."""

    def fits(memory: StateMemory, size_bytes: int) -> bool:
        return memory.used_bytes + size_bytes <= 100

    monkeypatch.setattr(StateMemory, "_fits", fits)
    broken = {
        row.property for row in run_world(library("t07_state_flood_blocks"), seed=0).violations
    }
    assert "run_ends_with_a_reason" in broken
    assert "flood_does_not_block_data" not in broken


def test_nobody_waits_for_memory_that_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that is given back goes to who waits. That no one is woken shows at the next send."""

    def free(memory: StateMemory, size_bytes: int) -> None:
        memory.used_bytes -= size_bytes

    monkeypatch.setattr(StateMemory, "free", free)
    rows = run_world(library("t07_state_flood_blocks"), seed=0).violations
    (row,) = (row for row in rows if row.property == "run_ends_with_a_reason")
    assert "waits for memory for a state though" in row.says


def test_a_stall_explains_the_silence_that_outlasts_it() -> None:
    """A watch may strike when the stall is over and what it held up is still being read."""
    read_ns, limit_ns = 20_000_000, 400_000_000
    quiet = library("quickstart")
    packet = quiet.model.source.packet_records
    quiet = changed(quiet, "destination.record_ns", read_ns // packet)
    quiet = changed(quiet, "destination.stall_limit_ns", limit_ns)
    silent = 0
    for stall_ns in range(limit_ns - 3 * read_ns, limit_ns + 3 * read_ns, read_ns // 4):
        stalls = [
            SocketStall(socket=index, at_ns=0, duration_ns=stall_ns)
            for index in range(quiet.model.sockets.count)
        ]
        result = run_world(with_faults(quiet, *stalls), seed=0)
        assert not result.violations
        silent += result.goals["silence"] > 0
    assert 0 < silent < 24


def test_a_reader_that_opens_slowly_explains_the_silence() -> None:
    """An attempt may be ended while a reader of the source needs nothing but time."""
    slow = changed(library("position_waits_for_partitions"), "source.open_ns", 15_000_000)
    slow = changed(slow, "destination.stall_limit_ns", 10_000_000)
    slow = replace(slow, model=replace(slow.model, outcome=Outcome.ANY))
    results = [run_world(slow, seed=seed) for seed in range(20)]
    assert any(result.goals["silence"] for result in results)
    assert not any(result.violations for result in results)


def test_an_upload_that_outlasts_the_watch_explains_a_failure() -> None:
    """An upload that takes less than the watch may begin in silence, and be taken for a hang."""
    limit_ns, latency_ns = 400_000_000, 20_000_000
    model = SyncModel(
        medium=Medium.STDIO,
        state_kind=StateKind.GLOBAL,
        streams=(StreamTable(name="users", records=0),),
        source=SourceTable(log_records=7),
        sockets=SocketTable(pipe_bytes=500, latency_ns=latency_ns),
        destination=DestinationTable(
            batch_delay_ns=25 * limit_ns, upload_spread=0.0, stall_limit_ns=limit_ns
        ),
        outcome=Outcome.ANY,
    )
    slow = replace(library("quickstart"), model=model, goals=())
    shorter = 0
    for upload_ns in range(limit_ns - 2 * latency_ns, limit_ns + latency_ns, latency_ns // 4):
        result = run_world(changed(slow, "destination.upload_ns", upload_ns), seed=0)
        assert not result.violations
        assert not result.goals["attempt_failed_undisturbed"]
        shorter += upload_ns < limit_ns and result.goals["silence"] > 0
    assert 0 < shorter < 8


@pytest.mark.parametrize(
    ("limit_ns", "says"),
    [
        (10_000_000_000, "nothing moves: the core waits for"),
        (600_000_000_000, "the attempt ends with unsent states, and nothing is under way"),
    ],
)
def test_a_fault_that_explains_no_hang_excuses_none(
    limit_ns: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that no one has any more is a hang, also in an attempt that some fault has struck."""
    scenario = with_faults(library("quickstart"), ReorderUploads(occurrence=1, uploads=2))
    scenario = changed(scenario, "destination.stall_limit_ns", limit_ns)
    assert not run_world(scenario, seed=0).violations
    monkeypatch.setattr(Uploader, "_release_held", lambda uploader: uploader._held.clear())
    (row,) = run_world(scenario, seed=0).violations
    assert row.property == "run_ends_with_a_reason"
    assert row.says.startswith(says)


def test_what_a_crash_of_the_source_has_lost_explains_a_hang() -> None:
    """A state that never left the source keeps back those that did, and no one is to blame."""
    model = SyncModel(
        state_kind=StateKind.SNAPSHOT,
        streams=(
            StreamTable(name="users", records=60, partition_records=20),
            StreamTable(name="orders", records=50, partition_records=22),
        ),
        source=SourceTable(
            open_ns=2_900_000, log_records=30, log_partition_records=10, state_bytes=16_383
        ),
        sockets=SocketTable(count=3, bandwidth_bytes_per_s=500_000),
    )
    scenario = replace(library("quickstart"), model=model)
    scenario = with_faults(scenario, CrashAt(side=Side.SOURCE, at_ns=20_000_000))
    behind = 0
    for seed in range(20):
        result = run_world(scenario, seed=seed, keep_trace=True)
        assert not result.violations
        behind += any("which has not arrived" in str(entry) for entry in result.trace)
    assert behind


def test_an_attempt_whose_source_has_crashed_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that dies after its last COMPLETE has lost states, whatever the sync stored."""

    def succeeded(attempt: Attempt) -> None:
        raise AttemptEnded

    dies = CrashPoint(side=Side.SOURCE, point=Point.AFTER_COMPLETE, occurrence=2)
    scenario = with_faults(
        with_parameters(by_name("reference"), {"sync.source.complete_on_every_socket": True}), dies
    )
    assert run_world(scenario, seed=0).violations == []
    monkeypatch.setattr(Attempt, "destination_succeeded", succeeded)
    (row,) = run_world(scenario, seed=0).violations
    assert row.says == "attempt 1 counts as a success though its source crashed"


def test_a_source_on_stdio_awaits_its_last_checkpoints() -> None:
    """A global checkpoint that is not taken under one lock is written before the output ends."""
    changes = {
        "sync.medium": "stdio",
        "sync.state_kind": "global",
        "sync.sockets.count": 1,
        "sync.source.log_records": 1,
        "sync.source.checkpoint_lock": "unlocked",
    }
    result = run_world(with_parameters(library("quickstart"), changes), seed=0)
    assert result.run.outcome == "completed"
    assert "every_state_is_released" not in {row.property for row in result.violations}


def test_readers_share_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more readers are at work than the source has connections, whatever its sockets."""
    (row,) = breakers.open_connections(monkeypatch).violations
    assert row.property == "readers_have_their_own"
    assert "2 read at once, with 1 connections" in row.says
