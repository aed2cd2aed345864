"""The content offerred of the shipped recordings, and what changed jobs do beside what they did."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.job import Job, Mode, Partitioner, PlacementKind, Profile
from ckptsim.sim.infer.change import changed
from ckptsim.sim.infer.found import Sureness
from ckptsim.sim.infer.job import Imported, scenario_of
from ckptsim.sim.infer.tasks.keys import keeps_key, key_group_shares, shares_of
from ckptsim.sim.infer.tasks.load import services_of
from ckptsim.sim.recording import SubtaskAnswer, read_recording
from ckptsim.sim.recording.recording import Sample
from ckptsim.sim.world import run_world
from tests.recording.folders import NAMES, SHIPPED, copied, without
from tests.recording.folders import changed as rewritten

CHANGES = [json.loads(line) for line in (SHIPPED / "whatif.jsonl").read_text().splitlines()]


@cache
def imported(name: str) -> Imported:
    """Return the import of a shipped recording."""
    return scenario_of(read_recording(SHIPPED / name), profile=Profile.RIG)


def job_of(name: str) -> Job:
    """Return the job that a shipped recording becomes."""
    model = imported(name).scenario.model
    assert isinstance(model, Job)
    return model


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_a_whole_recording_is_asked_for(name: str) -> None:
    """Every value comes from an answer, but how much services vary and a storage never slow."""
    names = {one.name for one in imported(name).asked}
    variation = "service times: service_variation"
    assert names - {"storage: rate of a stream"} == {variation}


def test_values_are_those_that_the_job_was_made_with() -> None:
    """The recorded jobs have 1 KiB records and the service times that their operators waited."""
    for name in NAMES:
        assert job_of(name).network.record_bytes == pytest.approx(1024, rel=0.01)
        assert job_of(name).placement is PlacementKind.REMOTE
    assert job_of("job00").vertices[1].service_ns == pytest.approx(1_000_000, rel=0.02)
    assert job_of("job04").vertices[3].service_ns == pytest.approx(1_000_000, rel=0.02)
    assert job_of("job15").vertices[3].service_ns == pytest.approx(1_500_000, rel=0.02)
    assert job_of("job08").vertices[0].rate_per_s is None
    assert job_of("job08").vertices[1].rate_per_s == pytest.approx(50, rel=0.05)


def test_a_chain_keeps_its_operators() -> None:
    """The operator that is chained to the sink has two, every other one."""
    assert [v.chain for v in job_of("job15").vertices] == [1, 1, 1, 2]


def test_skew_is_kept_and_noise_is_not() -> None:
    """Only the join has a subtask with more keys. Equal subtasks have equal service times."""
    join, enrich = job_of("job15").vertices[2:]
    shares = join.inputs[0].shares
    assert shares[0] > 1.8 * shares[1]
    assert shares[1] == shares[2]
    assert enrich.inputs[0].partitioner is Partitioner.REBALANCE
    assert enrich.service_factors == ()
    assert job_of("job03").vertices[1].inputs[0].shares == ()


def test_key_groups_that_do_not_go_round_make_shares() -> None:
    """Records by key are shared as the engine shares its key groups, where no skew shows."""
    assert key_group_shares(6, 128) == tuple(n / 128 for n in (22, 21, 21, 22, 21, 21))
    assert key_group_shares(4, None) == (0.25,) * 4
    even = next(v for v in read_recording(SHIPPED / "job03").vertices if v.inputs)
    assert shares_of(even) is None
    odd = shares_of(replace(even, max_parallelism=129))
    assert odd is not None
    assert odd.value == pytest.approx((33 / 129, 32 / 129, 32 / 129, 32 / 129), abs=1e-6)
    unknown = replace(even, parallelism=3, subtasks=(), max_parallelism=None)
    found = shares_of(unknown)
    assert found is not None
    assert found.value == pytest.approx((43 / 128, 43 / 128, 42 / 128), abs=1e-6)


@pytest.mark.parametrize(
    ("taken", "stays"), [((8008, 8130), True), ((6700, 6893), True), ((9600, 6500), False)]
)
def test_who_reads_what_one_subtask_writes_shows_in_windows_of_different_length(
    taken: tuple[int, int], *, stays: bool
) -> None:
    """Everything that is read is all that is written, however old the samples of a vertex are."""

    def subtasks(metric: str, counts: tuple[int, int]) -> tuple[SubtaskAnswer, ...]:
        return tuple(
            SubtaskAnswer(
                index=index,
                task_manager=None,
                host=None,
                attempt=0,
                samples=tuple(
                    Sample(at_ms=at, values={metric: n}) for at, n in ((0, 0), (9, all_))
                ),
            )
            for index, all_ in enumerate(counts)
        )

    keyed = next(v for v in read_recording(SHIPPED / "job03").vertices if v.inputs)
    front = replace(keyed, parallelism=2, subtasks=subtasks("numRecordsOut", (6700, 6893)))
    found = keeps_key(
        replace(keyed, parallelism=2, subtasks=subtasks("numRecordsIn", taken)), front
    )
    assert found is not None
    assert (found.value, found.sure) == (stays, Sureness.ESTIMATED)


@pytest.mark.parametrize(
    ("processed", "queued", "shares"),
    [
        # All are busy all the time: 22 of 128 key groups show in the queues, or do not.
        ((5000,) * 6, (20, 15, 15, 20, 15, 15), (22, 21, 21, 22, 21, 21)),
        ((5000,) * 6, (15,) * 6, None),
        ((5160, 4920, 4920, 5160, 4920, 4920), (0,) * 6, (22, 21, 21, 22, 21, 21)),
        ((500,) * 6, (0,) * 6, (22, 21, 21, 22, 21, 21)),
    ],
)
def test_records_that_came_tell_even_shares_from_key_groups(
    processed: tuple[int, ...], queued: tuple[int, ...], shares: tuple[int, ...] | None
) -> None:
    """Six subtasks have even shares where what came, queues included, says so, and else groups."""
    subtasks = tuple(
        _subtask(
            index,
            *(
                {"numRecordsIn": n, "numBytesIn": 1000 * n, "buffers.inputQueueLength": length}
                for n in (0, count)
            ),
        )
        for index, (count, length) in enumerate(zip(processed, queued, strict=True))
    )
    keyed = next(v for v in read_recording(SHIPPED / "job03").vertices if v.inputs)
    found = shares_of(replace(keyed, parallelism=6, max_parallelism=128, subtasks=subtasks))
    expected = None if shares is None else tuple(count / 128 for count in shares)
    assert (None if found is None else found.value) == (
        expected if expected is None else pytest.approx(expected, abs=1e-6)
    )


@pytest.mark.parametrize(("hot", "is_skewed"), [(1, False), (2, True)])
def test_queues_that_were_shorter_before_are_no_skew(hot: int, *, is_skewed: bool) -> None:
    """Subtasks that caught up while they were watched have as many keys as the others."""
    counts = ((17060, 32411), (19815, 33029), (19659, 33216), (17981, 32955))
    subtasks = tuple(
        _subtask(index, *({"numRecordsIn": times * n, "numBytesIn": times * 418 * n} for n in own))
        for index, own in enumerate(counts)
        for times in (hot if index == 0 else 1,)
    )
    keyed = next(v for v in read_recording(SHIPPED / "job03").vertices if v.inputs)
    found = shares_of(replace(keyed, subtasks=subtasks))
    assert (found is not None) is is_skewed


def test_subtasks_that_are_hardly_busy_have_one_service() -> None:
    """Their busy time grows in lumps and goes back, so what one of them shows is no skew."""
    keyed = next(v for v in read_recording(SHIPPED / "job03").vertices if v.inputs)

    def found(*busy: tuple[float, float], records: int) -> tuple[int, ...]:
        subtasks = tuple(
            _subtask(
                index,
                *(
                    {
                        "accumulateBusyTimeMs": ms,
                        "accumulateBackPressuredTimeMs": 0.0,
                        "accumulateIdleTimeMs": 4000.0 * place,
                        "numRecordsIn": float(records * place),
                        "numRecordsOut": 0.0,
                    }
                    for place, ms in enumerate(own)
                ),
            )
            for index, own in enumerate(busy)
        )
        return services_of(replace(keyed, parallelism=len(busy), subtasks=subtasks)).value

    # 36 ms for 4,000 records: two subtasks show nothing.
    assert found((166, 194), (184, 176), (149, 143), (100, 108), records=1000) == (9_000,) * 4
    # Nothing at all between the samples: 600 ms for the 4,000 records since they began.
    assert found((180, 160), (150, 140), (150, 140), (180, 160), records=1000) == (150_000,) * 4
    # Long enough to tell: one of them takes twice as long.
    assert found((0, 500), (0, 1000), (0, 500), (0, 500), records=1000) == (
        500_000,
        1_000_000,
        500_000,
        500_000,
    )


def _subtask(index: int, *samples: dict[str, float]) -> SubtaskAnswer:
    return SubtaskAnswer(
        index=index,
        task_manager=None,
        host=None,
        attempt=0,
        samples=tuple(Sample(at_ms=5000 * n, values=values) for n, values in enumerate(samples)),
    )


def _finding(found: Imported, name: str) -> Any:
    return next(one for one in found.findings if one.name == name)


def test_missing_metrics_are_asked_for_by_name(tmp_path: Path) -> None:
    """Without counters a service time is a default, with what it decides."""
    folder = without(copied("job00", tmp_path), "metrics", "/vertices/")
    found = scenario_of(read_recording(folder))
    service = _finding(found, "op1: service")
    assert service.sure is Sureness.ASSUMED
    assert "alignment" in service.effect
    assert service in found.asked


def test_an_operator_with_two_inputs_is_known_by_its_metric(tmp_path: Path) -> None:
    """The second input's watermark distinguishes connected inputs from a union."""
    assert job_of("job08").vertices[2].two_input is False

    def connected(metrics: list[dict[str, str]]) -> list[dict[str, str]]:
        return [*metrics, {"id": "0.op1.currentInput2Watermark"}]

    folder = rewritten(copied("job08", tmp_path), "/metrics", connected)
    model = scenario_of(read_recording(folder)).scenario.model
    assert isinstance(model, Job)
    assert model.vertices[2].two_input is True


def test_task_managers_that_are_shared_are_a_placement(tmp_path: Path) -> None:
    """All on one is local. Any other sharing that no kind covers is a map."""

    def moved(to: dict[int, str]) -> Any:
        def change(answer: dict[str, Any]) -> dict[str, Any]:
            for subtask in answer["subtasks"]:
                if subtask["subtask"] in to:
                    subtask["taskmanager-id"] = to[subtask["subtask"]]
            return answer

        return change

    folder = copied("job03", tmp_path)
    for vertex in read_recording(folder).vertices:
        rewritten(folder, f"/vertices/{vertex.id}", moved(dict.fromkeys(range(4), "one")))
    assert _placement(folder) is PlacementKind.LOCAL
    for vertex in read_recording(folder).vertices:
        rewritten(folder, f"/vertices/{vertex.id}", moved({i: str(i) for i in range(4)}))
    assert _placement(folder) is PlacementKind.MIXED
    for vertex in read_recording(folder).vertices:
        rewritten(folder, f"/vertices/{vertex.id}", moved({0: "1"}))
    assert _placement(folder) is PlacementKind.MAP


def _placement(folder: Path) -> PlacementKind:
    model = scenario_of(read_recording(folder)).scenario.model
    assert isinstance(model, Job)
    return model.placement


def test_a_job_without_a_plan_is_refused(tmp_path: Path) -> None:
    """Nothing is made up of who reads from whom. The sentence names the answer that lacks."""
    folder = without(copied("job15", tmp_path), "/plan")
    with pytest.raises(UserError, match="/jobs/:id/plan"):
        scenario_of(read_recording(folder))


def test_a_job_that_is_one_chain_is_refused(tmp_path: Path) -> None:
    """One vertex from source to sink has no exchange, and is notified so."""
    folder = copied("job00", tmp_path)

    def only_the_source(answer: dict[str, Any]) -> dict[str, Any]:
        nodes = [node for node in answer["plan"]["nodes"] if not node.get("inputs")]
        return {"plan": answer["plan"] | {"nodes": nodes}}

    without(rewritten(folder, "/plan", only_the_source), "op1")
    job = read_recording(folder).job_id
    rewritten(folder, f"/jobs/{job}", lambda answer: answer | {"vertices": answer["vertices"][:1]})
    with pytest.raises(UserError, match="found one vertex"):
        scenario_of(read_recording(folder))


def test_options_of_the_engine_make_the_mode() -> None:
    """Unaligned with a time-out is aligned first. A time-out alone changes nothing."""
    base = imported("job00").scenario
    timeout = {"execution.checkpointing.aligned-checkpoint-timeout": "100 ms"}
    unaligned = {"execution.checkpointing.unaligned.enabled": "true"}

    def mode(change: dict[str, str]) -> Mode:
        model = changed(base, change).model
        assert isinstance(model, Job)
        return model.checkpointing.mode

    assert mode(timeout) is Mode.ALIGNED
    assert mode(unaligned) is Mode.UNALIGNED
    assert mode(timeout | unaligned) is mode(unaligned | timeout) is Mode.ALIGNED_TIMEOUT
    assert mode({"execution.checkpointing.mode": "AT_LEAST_ONCE"}) is Mode.AT_LEAST_ONCE


def test_how_many_subtasks_share_a_file_is_an_option(tmp_path: Path) -> None:
    """It is the engine's default, or the settings when the job was recorded or is set now."""
    option = "execution.checkpointing.unaligned.max-subtasks-per-channel-state-file"
    folder = copied("job00", tmp_path)
    rewritten(folder, "/jobmanager/config", lambda told: [*told, {"key": option, "value": "2"}])
    recorded = scenario_of(read_recording(folder)).scenario

    def limit(scenario: Scenario) -> int:
        assert isinstance(scenario.model, Job)
        return scenario.model.checkpointing.subtasks_per_file

    assert limit(imported("job00").scenario) == 5
    assert limit(recorded) == 2
    assert limit(changed(recorded, {option: "1"})) == 1


@dataclass(frozen=True)
class Figures:
    """Medians over checkpoints after the warm-up: duration in ms, bytes in flight."""

    duration_ms: float
    persisted_bytes: float


def predicted(scenario: Scenario, seeds: int = 3) -> Figures:
    """Return what simulated runs show, pooled over seeds as the measured repeats are."""
    rows = []
    for seed in range(1, seeds + 1):
        completed = [
            row for row in run_world(scenario, seed=seed).checkpoints if row.status == "completed"
        ]
        rows += completed[2:]
    return Figures(
        duration_ms=median((row.duration_ns or 0) / 1e6 for row in rows),
        persisted_bytes=median(row.persisted_bytes or 0 for row in rows),
    )


def _id(entry: dict[str, Any]) -> str:
    values = ",".join(f"{key.rpartition('.')[2]}={value}" for key, value in entry["change"].items())
    return f"{entry['recording']}-{values or 'as-it-is'}"


@pytest.mark.parametrize("entry", CHANGES, ids=_id)
def test_changed_jobs_do_what_they_did(entry: dict[str, Any]) -> None:
    """Durations are within max(10 %, 20 ms), bytes in flight within max(12 %, 64 KiB)."""
    scenario = changed(imported(entry["recording"]).scenario, entry["change"])
    ours, theirs = predicted(scenario), entry["measured"]
    duration = theirs["end_to_end_duration_ms"]["median"]
    persisted = theirs["persisted_bytes"]["median"]
    assert abs(ours.duration_ms - duration) <= max(0.10 * duration, 20)
    assert abs(ours.persisted_bytes - persisted) <= max(0.12 * persisted, 64 << 10)
