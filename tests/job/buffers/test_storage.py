"""An object store: throttling, merged files, places, bad times, savepoints, and seeks."""

from __future__ import annotations

from typing import Any

import pytest

from ckptsim.scenarios import ScenarioError
from ckptsim.scenarios.files import loads
from ckptsim.scenarios.job.faults import SlowStorage
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.infer.change import changed
from ckptsim.sim.job.buffers.state.storage import Storage
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world

S, MB = 1_000_000_000, 1_000_000
JOB = """
name = "stored"
link = "barriers"
says = "four subtasks with 10 MB each on one task manager"

[job]
duration = "40 s"
placement = "local"
vertices = [
    { name = "source", kind = "source", rate = "20 /s" },
    { name = "keyed", parallelism = 4, inputs = [{ upstream = "source" }], state = "40 MB" },
]
checkpointing = { interval = "10 s", first_trigger = "5 s", tolerable_failures = 100 }
restart = { kind = "fixed_delay", delay = "1 s" }
recovery = { timed = true }
storage = { write = "10 MB/s", read = "10 MB/s" }
"""


def run(*faults: str, **storage: object) -> RunResult:
    """Run the job with other values of its storage. Each fault has its lines."""
    text = JOB + "".join(f"\n[[faults]]\n{lines}\n" for lines in faults)
    values = {
        (key if key.startswith("job.") else f"job.storage.{key}"): value
        for key, value in storage.items()
    }
    found = run_world(with_parameters(loads(text, source="stored.toml"), values), seed=0)
    assert not found.violations
    return found


def durations_s(found: RunResult) -> list[float]:
    """Return how long completed checkpoints took."""
    rows = [row for row in found.checkpoints if row.status == "completed"]
    return [(row.duration_ns or 0) / S for row in rows]


def test_a_slow_storage_takes_its_factor_longer_while_it_lasts() -> None:
    """The second checkpoint has a quarter of the rate for two of its four seconds."""
    slow = 'kind = "slow_storage"\nat = "15 s"\nlasts = "2 s"\nfactor = 4.0'
    found = durations_s(run(slow))
    assert found[0] == found[2] == pytest.approx(1.02, abs=0.02)
    assert found[1] == pytest.approx(found[0] + 2 * 3 / 4, abs=0.03)
    unlimited = {"write_bytes_per_s": "none", "read_bytes_per_s": "none"}
    with pytest.raises(ScenarioError, match="a rate or latency in job"):
        run(slow, **unlimited)


def test_a_broken_storage_fails_checkpoints_and_holds_restores_up() -> None:
    """What ends meanwhile is not written, and a task that restores waits for the storage."""
    broken = 'kind = "fail_storage"\nat = "14 s"\nlasts = "8 s"'
    crash = 'kind = "crash_task"\nvertex = "keyed"\nat = "17 s"'
    statuses = [row.status for row in run(broken).checkpoints]
    assert statuses == ["completed", "aborted", "completed", "completed"]
    (usual,), (late,) = run(crash).recoveries, run(broken, crash).recoveries
    assert late.restored_from == "checkpoint 1"
    assert late.state_read_ns is not None
    assert late.state_read_ns > 22 * S > (usual.state_read_ns or 0)


def test_places_of_a_task_manager_are_taken_in_turn() -> None:
    """With one file at a time four subtasks take four times as long, as does their restore."""
    crash = 'kind = "crash_task"\nvertex = "keyed"\nat = "33 s"'
    one, every = run(crash, host_transfers=1), run(crash)
    assert durations_s(one)[0] == pytest.approx(4 * durations_s(every)[0], rel=0.03)
    (late,), (usual,) = one.recoveries, every.recoveries
    assert (late.state_read_ns or 0) - (usual.state_read_ns or 0) == pytest.approx(3 * S, rel=0.05)
    shared = run(crash, read_job_bytes_per_s=10 * MB).recoveries[0]
    assert shared.state_read_ns == pytest.approx(late.state_read_ns or 0, rel=0.01)


def test_requests_above_the_limit_come_again_after_a_back_off() -> None:
    """Of four files two are answered 503 and written later. Without tries they fail."""
    limit: dict[str, Any] = {"requests_per_s": 2, "throttling": "retry", "retry_backoff_ns": 4 * S}
    late = run(**limit)
    assert durations_s(late)[0] > 1.02 + 2
    assert [row.status for row in run(**limit, retries=0).checkpoints] == ["aborted"] * 4
    assert durations_s(run(**limit, prefixes=1_000_000)) == durations_s(run())
    assert durations_s(run(requests_per_s=2, prefixes=4))[0] == pytest.approx(1.52, abs=0.02)


@pytest.mark.parametrize(
    ("merging", "created"),
    [
        ({"file_merging": False}, 16),
        ({"file_merging": True, "file_merging_bytes": 100 * MB}, 4),
        ({"file_merging": True, "file_merging_bytes": 20 * MB}, 8),
        (
            {
                "file_merging": True,
                "file_merging_bytes": 200 * MB,
                "file_merging_across": True,
            },
            1,
        ),
    ],
)
def test_merged_files_are_created_once(
    merging: dict[str, Any], created: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that follow each other go into one, up to its size and to the checkpoint's end."""
    made: list[Storage] = []
    init = Storage.__init__

    def remembered(storage: Storage, *arguments: Any) -> None:
        made.append(storage)
        init(storage, *arguments)

    monkeypatch.setattr(Storage, "__init__", remembered)
    found = run(host_transfers=1, create_latency_ns=200_000_000, **merging)
    assert [one.created for one in made] == [created]
    assert durations_s(found)[0] == pytest.approx(4.02 + 0.2 * min(4, -(-created // 4)), abs=0.1)


FILES: dict[str, Any] = {
    "job.state.backend": "rocksdb",
    "job.state.incremental": True,
    "job.vertices[1].keys": 40_000,
    "job.vertices[1].value_bytes": 984,
    "job.vertices[1].updates_per_s": 400,
    "job.checkpointing.first_trigger_ns": 2 * S,
    "job.checkpointing.interval_ns": 4 * S,
    "job.storage.write_bytes_per_s": 100 * MB,
}
SAVEPOINT = 'kind = "request_savepoint"\nat = "16 s"'
SUBMIT = 'kind = "resubmit"\nat = "20500 ms"'


def uploaded_mb(found: RunResult, kind: str = "checkpoint") -> list[float]:
    """Return what checkpoints or savepoints have uploaded."""
    rows = [row for row in found.checkpoints if row.status == "completed"]
    wanted = [row for row in rows if (row.kind == "savepoint") == (kind == "savepoint")]
    return [(row.state_bytes or 0) / MB for row in wanted]


def test_a_canonical_savepoint_has_the_whole_state() -> None:
    """It uploads all entries, where one in the backend's format has the new files alone."""
    (whole,) = uploaded_mb(run(SAVEPOINT, **FILES), "savepoint")
    (native,) = uploaded_mb(
        run(SAVEPOINT, **FILES, **{"job.state.savepoint_format": "native"}), "savepoint"
    )
    assert whole == pytest.approx(40, rel=0.01)
    assert native < 3


@pytest.mark.parametrize(("mode", "first_mb"), [("no_claim", 40), ("claim", 1.8)])
def test_a_job_that_claims_nothing_uploads_everything_first(mode: str, first_mb: float) -> None:
    """Its first checkpoint refers to no file of the job before, and later ones are small again."""
    found = uploaded_mb(run(SUBMIT, **FILES, **{"job.state.claim": mode}))
    assert found[5] == pytest.approx(first_mb, abs=max(1.0, 0.12 * first_mb))
    assert found[6] < 4


def test_names_of_the_engine_set_the_storage() -> None:
    """Merged files, uploads at once, claim mode and memory threshold have Flink's names, too."""
    words = {
        "execution.checkpointing.file-merging.enabled": "true",
        "execution.checkpointing.file-merging.max-file-size": "64 MiB",
        "s3.upload.max.concurrent.uploads": "7",
        "state.storage.fs.memory-threshold": "40 kb",
        "execution.state-recovery.claim-mode": "CLAIM",
    }
    model: Any = changed(loads(JOB, source="stored.toml"), words).model
    assert (model.storage.file_merging, model.storage.host_transfers) == (True, 7)
    assert model.storage.file_merging_bytes == 64 << 20
    assert model.storage.inline_threshold_bytes == 40 << 10
    assert model.state.claim == "claim"


def test_a_restore_seeks_in_a_file_that_subtasks_share() -> None:
    """Each buffer in flight is a request there, and one alone opens a file of its own."""
    busy: dict[str, Any] = {
        "job.vertices[0].rate_per_s": 3_000,
        "job.vertices[1].service_ns": 2_000_000,
        "job.vertices[1].state_bytes": 0,
        "job.checkpointing.mode": "unaligned",
        "job.duration_ns": 20 * S,
        "open_latency_ns": 50_000_000,
    }
    crash = 'kind = "crash_task"\nvertex = "keyed"\nat = "16 s"'
    shared, own = (
        run(crash, **busy, **{"job.checkpointing.subtasks_per_file": count}).recoveries[0]
        for count in (5, 1)
    )
    assert shared.bytes_read == own.bytes_read
    assert (shared.handed_over_ns or 0) > (own.handed_over_ns or 0) + S // 10


def test_a_changelog_leaves_little_to_wait_for() -> None:
    """A checkpoint waits for the log's end, a restore reads all since the materialization."""
    logged = FILES | {
        "job.state.changelog": True,
        "job.state.materialization_interval_ns": 8 * S,
        "job.vertices[1].updates_per_s": 40_000,
        "job.storage.read_bytes_per_s": "none",
    }
    crash = 'kind = "crash_task"\nvertex = "keyed"\nat = "17 s"'
    found, usual = run(crash, **logged), run(crash, **(logged | {"job.state.changelog": False}))
    assert max(durations_s(found)[1:4]) < 0.1 < min(durations_s(usual)[1:4])
    # 160 MB of updates every four seconds, with the state of 40 MB at every second checkpoint.
    assert uploaded_mb(found)[:4] == pytest.approx([80, 160, 200, 160], rel=0.02)
    assert (found.recoveries[0].bytes_read or 0) / MB == pytest.approx(40 + 160 + 160, rel=0.02)
    with pytest.raises(ScenarioError, match="a size, as a changelog has one"):
        run(**{"job.state.changelog": True})


def test_what_ends_with_a_slow_storage_is_slow_until_then() -> None:
    """Of a time the part within the fault is longer, and the rest is as usual."""
    plan = FaultPlan([SlowStorage(at_ns=10, lasts_ns=100, factor=10.0)])
    assert plan.slowed_ns(9, 50) == plan.slowed_ns(110, 50) == 50
    assert plan.slowed_ns(10, 5) == 50
    assert plan.slowed_ns(60, 50) == 50 + 45


@pytest.mark.parametrize(
    ("kind", "lines", "expected"),
    [
        ("fail_storage", "", ["aborted"]),
        ("slow_storage", "factor = 3.0", ["completed"]),
    ],
)
def test_faults_of_the_storage_strike_on_records(
    kind: str, lines: str, expected: list[str]
) -> None:
    """A snapshot that ends meanwhile fails there, and one that begins meanwhile takes longer."""
    fault = f'\n[[faults]]\nkind = "{kind}"\nat = "4 s"\nlasts = "3 s"\n{lines}\n'
    values: dict[str, Any] = {
        "job.plane": "records",
        "job.recovery": {},
        "job.costs.snapshot_async_ns": 500_000_000,
        "job.ending.horizon_ns": 20 * S,
    }
    found = run_world(with_parameters(loads(JOB + fault, source="stored.toml"), values), seed=0)
    assert not found.violations
    first = found.checkpoints[0]
    assert [first.status] == expected
    if kind == "slow_storage":
        assert (first.duration_ns or 0) / S == pytest.approx(1.5, abs=0.1)


def test_checkpoints_wait_for_deletions_that_take_longer() -> None:
    """A folder is listed, and its five files and metadata are deleted, four at a time."""
    quick: dict[str, Any] = {"job.checkpointing.interval_ns": 2 * S}
    slow = quick | {"list_latency_ns": 3 * S, "delete_latency_ns": 2 * S}
    usual, found = run(**quick), run(**slow)
    assert len(usual.checkpoints) == 18
    # With one deletion under way the next checkpoint begins, with two none does. Each takes 7 s.
    begun = [row.triggered_ns / S for row in found.checkpoints]
    assert begun[:4] == pytest.approx([5, 7, 9, 15], abs=0.1)
    assert len(begun) == 10
    assert durations_s(found)[1] == pytest.approx(durations_s(usual)[1], rel=0.02)
    few = run(**quick, delete_latency_ns=1, requests_per_s=2.0)
    assert len(few.checkpoints) < 12


def test_a_restore_opens_files_late_by_chance() -> None:
    """The tail of requests is the one of files that are opened, too."""
    crash = 'kind = "crash_task"\nvertex = "keyed"\nat = "16 s"'
    tail = {"tail_ratio": 1.0, "tail_latency_ns": 2 * S}
    usual, late = run(crash).recoveries[0], run(crash, **tail).recoveries[0]
    assert (late.state_read_ns or 0) > (usual.state_read_ns or 0) + S
