"""Jobs with tasks that take checkpoints by themselves.

Exactly once through every crash, at a price.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.errors import ScenarioError
from ckptsim.scenarios.files import loads
from ckptsim.scenarios.job import CheckpointProtocol, Job
from ckptsim.sim.job.control.checkpoint import JobCheckpoint
from ckptsim.sim.job.records.channel import Channel
from ckptsim.sim.job.records.state import TaskSnapshot
from ckptsim.sim.job.records.tasks import Task
from ckptsim.sim.job.records.uncoordinated import TaskCheckpoints, UncoordinatedJob
from ckptsim.sim.job.records.uncoordinated.task import snapshot_of
from ckptsim.sim.mutants.uncoordinated import MUTANTS
from ckptsim.sim.rows import RunResult
from ckptsim.sim.search import Subject, check
from ckptsim.sim.world import run_world
from tests.many import tally
from tests.uncoordinated.jobs import HUNT, random_job

COORDINATED = CheckpointProtocol.COORDINATED
UNCOORDINATED = CheckpointProtocol.UNCOORDINATED
INDUCED = CheckpointProtocol.COMMUNICATION_INDUCED
SEEDS = range(3)


def test_random_jobs_break_nothing() -> None:
    """Random jobs with crashes, lost files and all ties: complete, and no property breaks."""
    found = tally(HUNT, range(80))
    assert found.violations == []
    assert set(found.outcomes) == {"completed"}
    assert found.missed() == []


def test_no_restart_lies_behind_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that begins afresh whenever no new checkpoint is on its line is found."""
    right = UncoordinatedJob.restored

    def restored(self: UncoordinatedJob, initial: JobCheckpoint | None) -> JobCheckpoint | None:
        again = len(seen) > 0
        seen.append(self)
        found = right(self, initial)
        return initial if again else found

    seen: list[UncoordinatedJob] = []
    monkeypatch.setattr(UncoordinatedJob, "restored", restored)
    says: set[str] = set()
    for seed in range(40):
        seen.clear()
        says |= {row.property for row in run_world(random_job(seed), seed=seed).violations}
    assert "restarts_begin_from_the_newest" in says


def test_a_checkpoint_that_is_not_taken_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks with a host that leaves out requests are found at the end of a run."""
    monkeypatch.setattr(TaskCheckpoints, "_take", lambda *_: None)
    for seed in range(10):
        rows = run_world(random_job(seed), seed=seed).violations
        assert "cores_agree_with_their_world" in {row.property for row in rows}


def test_a_mark_is_a_message_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that asks before records alone takes checkpoints that are no line with their peers."""
    right = TaskCheckpoints.before

    def before(self: TaskCheckpoints, channel: Channel) -> None:
        if channel.head_takes_time:
            right(self, channel)

    monkeypatch.setattr(TaskCheckpoints, "before", before)
    says = {row.property for seed in range(40) for row in _calm(seed).violations}
    assert says == {"common_index_is_a_line"}


def test_a_record_half_received_counts_as_not_received(monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot that counts parts of an unfinished record is found at once, without a crash."""

    def counts_parts(task: Task) -> TaskSnapshot:
        consumed = {channel.spec.index: channel.consumed for channel in task.inputs}
        return replace(snapshot_of(task), consumed=consumed)

    monkeypatch.setattr("ckptsim.sim.job.records.uncoordinated.task.snapshot_of", counts_parts)
    found = [row.property for seed in range(30) for row in _calm(seed).violations]
    assert set(found) == {"records_come_out_whole"}


def _calm(seed: int) -> RunResult:
    """Return the run of a random job without faults."""
    return run_world(replace(random_job(seed), faults=()), seed=seed, ties="random")


# The library's scenario on which a mutant is distinguished from the right core, and by which
# property.
SHOWN_BY: dict[str, tuple[str, str]] = {
    "newest_of_each": ("uncoordinated_crash", "restored_checkpoint_is_a_cut"),
    "forgets_messages_on_their_way": ("domino_effect", "restored_checkpoint_is_a_cut"),
    "looks_at_each_channel_once": ("uncoordinated_crash", "restored_checkpoint_is_a_cut"),
    "truncates_what_was_sent": ("uncoordinated_crash", "restored_checkpoint_is_a_cut"),
    "never_forced": ("communication_induced_crash", "common_index_is_a_line"),
}


def test_every_mutant_is_shown() -> None:
    """No mutant is without a scenario that distinguishes it from the right core."""
    assert set(SHOWN_BY) == set(MUTANTS)


@pytest.mark.parametrize("mutant", list(SHOWN_BY))
def test_mutants_are_convicted(mutant: str) -> None:
    """Each faulty core breaks the property that speaks of it, and the right core does not."""
    scenario, name = SHOWN_BY[mutant]
    right = Subject(scenario=by_name(scenario))
    assert check(right, range(12), ties=("random", "pct")).passed
    (found,) = check(replace(right, mutant=mutant), range(12), ties=("random",)).unexpected
    assert name in {row.property for row in found.violations}


def ran(
    protocol: CheckpointProtocol, seed: int, *, crash: bool, hot: float = 0.0, **words: bool
) -> RunResult:
    """Return a run of the job that all protocols are compared on."""
    scenario = by_name("saturated_crash")
    job = scenario.model
    assert isinstance(job, Job)
    source = replace(job.vertices[0], hot_ratio=hot, records=1_600)
    checkpointing = replace(job.checkpointing, protocol=protocol, **words)
    model = replace(job, vertices=(source, *job.vertices[1:]), checkpointing=checkpointing)
    faults = tuple(replace(one, at_ns=330_000_000) for one in scenario.faults)  # type: ignore[type-var]
    result = run_world(
        replace(scenario, model=model, faults=faults if crash else (), goals=()), seed=seed
    )
    assert result.run.outcome == "completed"
    assert result.violations == []
    return result


def ended_ns(protocol: CheckpointProtocol, **words: bool) -> int:
    """Return how long runs without a crash take together."""
    return sum(ran(protocol, seed, crash=False, **words).run.ended_ns for seed in SEEDS)


def redone(protocol: CheckpointProtocol, *, hot: float = 0.0, **words: bool) -> int:
    """Return how many records the sources of runs with a crash read again."""
    runs = [ran(protocol, seed, crash=True, hot=hot, **words) for seed in SEEDS]
    return sum(one.records_reprocessed for run in runs for one in run.recoveries)


def test_overhead_has_the_known_order() -> None:
    """Without failures nothing is cheapest, barriers come next, then logs, then logs and indices.

    Source: Siachamis et al., CheckMate (2024): coordinated checkpoints are best under uniform load,
    communication-induced ones pay for what every message carries.
    """
    none = ended_ns(COORDINATED, enabled=False)
    assert none < ended_ns(COORDINATED) < ended_ns(UNCOORDINATED) < ended_ns(INDUCED)


def test_skew_slows_barriers_alone() -> None:
    """With a hot key a coordinated checkpoint waits for the slow channel. A task's own does not."""

    def median_ns(protocol: CheckpointProtocol, hot: float) -> int:
        rows = ran(protocol, 0, crash=False, hot=hot).checkpoints
        found = sorted(row.duration_ns for row in rows if row.duration_ns is not None)
        return found[len(found) // 2]

    assert median_ns(COORDINATED, 0.6) > 1.1 * median_ns(COORDINATED, 0.0)
    assert median_ns(UNCOORDINATED, 0.6) == pytest.approx(median_ns(UNCOORDINATED, 0.0), rel=0.1)
    assert median_ns(UNCOORDINATED, 0.6) < 0.5 * median_ns(COORDINATED, 0.6)


def test_without_logs_a_crash_costs_everything() -> None:
    """The domino effect: as much is done again as without checkpoints. Logs or indices end it."""
    everything = redone(COORDINATED, enabled=False)
    assert redone(UNCOORDINATED, message_logs=False) > 0.9 * everything
    assert redone(UNCOORDINATED) < 0.3 * everything
    assert redone(INDUCED) <= redone(UNCOORDINATED)


def test_rows_say_what_was_taken_and_given_up() -> None:
    """Each task's checkpoints are rows, numbered on through restarts. Figures add up."""
    result = run_world(by_name("communication_induced_crash"), seed=1)
    by_task: dict[str, list[int]] = {}
    for row in result.checkpoints:
        by_task.setdefault(row.scope, []).append(row.checkpoint_id)
    assert set(by_task) == {f"{v}/{s}" for v in ("source", "join", "last") for s in (0, 1)}
    assert all(ids == list(range(1, len(ids) + 1)) for ids in by_task.values())
    figures = {row.figure: row.value for row in result.figures}
    kinds = [row.kind for row in result.checkpoints]
    assert figures["forced_checkpoints"] == kinds.count("forced") > 0
    discarded = sum(row.status == "discarded" for row in result.checkpoints)
    assert figures["discarded_checkpoints"] == discarded
    assert figures["logged_messages"] > 400


JOB = """
name = "small"
link = "barrier_protocol"
says = "small"

[job]
vertices = [
    {{ name = "source", kind = "source", rate = "1000 /s"{source} }},
    {{ name = "last", kind = "{last}", inputs = [{{ upstream = "source" }}] }},
]
{more}
checkpointing = {{ protocol = "uncoordinated"{words} }}
"""


@pytest.mark.parametrize(
    ("changes", "path", "found"),
    [
        ({"more": 'plane = "buffers"'}, "job.checkpointing.protocol", '"uncoordinated"'),
        ({"words": ', savepoint_at = "1 s"'}, "job.checkpointing.savepoint_at", "1000000000"),
        ({"words": ", count = 3"}, "job.checkpointing.count", "3"),
        ({"more": 'ending = { stop_at = "1 s" }'}, "job.ending.stop_at", "1000000000"),
        ({"last": "sink"}, "job.vertices[1].kind", '"sink"'),
        ({"source": ""}, "job.vertices[0].records", "no end"),
        ({"source": ', records = 5, recorded = "full"'}, "job.vertices[0].recorded", '"full"'),
        (
            {"words": ", message_logs = false", "more": "channels = { preloaded_records = 3 }"},
            "job.channels.preloaded_records",
            "3",
        ),
        (
            {"fault": 'kind = "rescale"\nvertex = "last"\nparallelism = 2\nat = "5 ms"'},
            "faults[0].kind",
            '"rescale"',
        ),
    ],
)
def test_what_needs_a_coordinator_is_refused(
    changes: dict[str, str], path: str, found: str
) -> None:
    """What only a checkpoint of the whole job can do is refused by its place."""
    changes = {"source": ", records = 5", "last": "operator", "more": "", "words": ""} | changes
    fault = changes.pop("fault", None)
    text = JOB.format(**changes) + ("" if fault is None else f"\n[[faults]]\n{fault}\n")
    with pytest.raises(ScenarioError) as caught:
        loads(text, source="small.toml")
    assert [(p.path, p.found) for p in caught.value.problems] == [(f"small.toml: {path}", found)]
