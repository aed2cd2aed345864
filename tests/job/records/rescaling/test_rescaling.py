"""Jobs that are rescaled: random ones, the mutants of a rescale, and what a rescale refuses."""

from __future__ import annotations

from typing import Any, cast

import pytest

from ckptsim.models.core import ProtocolError
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.errors import ScenarioError
from ckptsim.scenarios.job import Job, Plane
from ckptsim.scenarios.job.faults import JobFault
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.records.world import RecordWorld
from ckptsim.sim.kernel import Environment
from ckptsim.sim.mutants.rescaling import MUTANTS
from ckptsim.sim.search.trial import Subject, trial
from ckptsim.sim.slots import OURS
from ckptsim.sim.world import run_world
from tests import many
from tests.job.many import RESCALED
from tests.job.records.plans import MS, pinned, scenario_of

TIES = ("structural", "random", "pct")
SEEDS = 100

# Mutant, scenario, and the property that convicts it there.
SHOWN_BY = [
    ("one_mapper_for_all_gates", "flink_22686_two_mappers", "restored_checkpoint_is_a_cut"),
    ("skips_stateless_vertices", "flink_31963_stateless", "restored_checkpoint_is_a_cut"),
    ("asks_every_mapper", "flink_38267_forward_output", "records_come_out_whole"),
    ("permutes_subtasks", "rescale_keyed", "restored_checkpoint_is_a_cut"),
    ("one_deserializer_per_channel", "spanning_scale_in_upstream", "records_come_out_whole"),
    ("one_deserializer_per_channel", "spanning_scale_in_downstream", "records_come_out_whole"),
    ("one_deserializer_per_gate", "spanning_scale_in_upstream", "records_come_out_whole"),
    ("ignores_descriptors", "spanning_scale_in_upstream", "records_come_out_whole"),
    ("keeps_every_copy", "rescale_keyed", "keyed_records_reach_their_subtask"),
    ("forwards_any_watermark", "rescaled_watermark", "end_marks_in_order"),
    ("forwards_any_status", "flink_40517_idleness", "no_record_is_late"),
    ("converts_when_read", "flink_38544_rewiring", "exactly_once_output"),
    ("persists_while_recovering", "checkpoint_during_recovery", "restored_checkpoint_is_a_cut"),
    ("drops_markers", "rescale_keyed", "job_ends"),
    ("overtakes_on_any_edge", "flink_21945_pointwise", "aligned_holds_nothing_in_flight"),
    ("overtakes_on_any_edge", "flink_22815_broadcast", "aligned_holds_nothing_in_flight"),
]


def broken(scenario: str, seed: int, mutant: str | None = None) -> set[str]:
    """Return the properties that one run breaks, under the tie policy of its turn."""
    subject = Subject(scenario=by_name(scenario), mutant=mutant)
    return {row.property for row in trial(subject, seed, TIES[seed % 3]).violations}


def test_every_mutant_of_a_rescale_has_a_scenario() -> None:
    """No mutant is without a scenario."""
    assert {mutant for mutant, _, _ in SHOWN_BY} == set(MUTANTS)


@pytest.mark.parametrize(("mutant", "scenario", "name"), SHOWN_BY)
def test_mutant_is_convicted_within_a_hundred_seeds(mutant: str, scenario: str, name: str) -> None:
    """The mutant breaks its property. Up to there, and for six seeds, the right core does not."""
    first = next(seed for seed in range(SEEDS) if name in broken(scenario, seed, mutant))
    assert [broken(scenario, seed) for seed in range(max(6, first + 1))] == [set()] * max(
        6, first + 1
    )


def test_the_mutant_of_38544_is_found_by_priorities() -> None:
    """Random priorities find the channel that is replaced too early within 50 seeds.

    It is a rare race: most seeds do not show it, and the structural order never does.
    """
    subject = Subject(scenario=by_name("flink_38544_rewiring"), mutant="converts_when_read")
    shown = [bool(trial(subject, seed, "pct").violations) for seed in range(50)]
    assert 1 <= sum(shown) <= 15
    assert not trial(subject, 0, "structural").violations


def test_random_jobs_survive_crashes_and_rescales() -> None:
    """Some jobs, 1 to 8 subtasks, all modes and edges, records of up to three buffers."""
    found = many.tally(RESCALED[Plane.RECORDS], range(32))
    assert found.violations == []
    assert found.goals["restored_rescaled"] >= 3


@pytest.mark.parametrize("replay_from", ["told_at_snapshot", "file_index"])
def test_a_sender_that_closes_waits_for_no_offset_of_an_aborted_checkpoint(
    replay_from: str,
) -> None:
    """Its receiver never snapshots that checkpoint, so the abort is all that it will hear."""
    values = {"job.channel_state.spilling": "continuous"}
    values["job.channel_state.replay_from"] = replay_from
    scenario = with_parameters(pinned("rescaled_279"), values)
    assert not trial(Subject(scenario=scenario), 279, "random").violations


def test_a_checkpoint_that_one_gate_lets_in_is_declined_by_another_that_reads() -> None:
    """One gate of a task is recovered while another still reads, and no end of a state is kept."""
    reassigned = {"job.channel_state.spilling": "ad_hoc"}
    reassigned["job.channel_state.ordered_edges"] = "reassigned"
    scenario = with_parameters(pinned("rescaled_506"), reassigned)
    broken_by = {row.property for row in trial(Subject(scenario=scenario), 506, "pct").violations}
    assert broken_by <= {"event_time_ends_with_its_records"}  # a hazard of its own


@pytest.mark.long
def test_five_hundred_random_jobs_survive_and_reach_everything() -> None:
    """Five hundred such jobs hold every property and reach all goals of a rescale."""
    found = many.tally(RESCALED[Plane.RECORDS], range(500))
    assert found.violations == []
    assert found.missed() == []


def job(*faults: dict[str, Any], **vertex: Any) -> dict[str, Any]:
    """Return a job of two vertices with faults."""
    sink = {"name": "sink", "kind": "sink", "service_ns": MS, "inputs": [{"upstream": "source"}]}
    vertices = [{"name": "source", "kind": "source", "records": 20}, sink | vertex]
    parts = {"name": "small", "link": "barrier_protocol", "says": "small"}
    return parts | {"job": {"vertices": vertices}, "faults": list(faults)}


def forgetful(text: dict[str, Any], plane: str) -> dict[str, Any]:
    """Return a job on a plane with a source that does not remember what it has read."""
    source, *others = text["job"]["vertices"]
    vertices = [source | {"keeps_position": False}, *others]
    return text | {"job": text["job"] | {"plane": plane, "vertices": vertices}}


def rescale(vertex: str, parallelism: int = 2) -> dict[str, Any]:
    """Return a change of parallelism at 5 ms."""
    return {"kind": "rescale", "vertex": vertex, "parallelism": parallelism, "at_ns": 5 * MS}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (job(rescale("other")), 'found "other", expected one of "'),
        (forgetful(job(rescale("source")), "records"), "a source that remembers"),
        (forgetful(job(rescale("source")), "buffers"), "a source that remembers"),
        (job(rescale("sink", 0)), "1 to 128"),
        (job(rescale("sink", 129)), "1 to 128"),
    ],
)
def test_a_rescale_that_cannot_be_is_refused(text: dict[str, Any], expected: str) -> None:
    """The error names the fault's key and says the expected value there."""
    with pytest.raises(ScenarioError, match=expected) as refused:
        scenario_of(text)
    assert "faults[0]" in str(refused.value)


def test_a_rescale_is_no_failure() -> None:
    """A job without restarts is rescaled all the same, and ends."""
    text = job(rescale("sink"))
    text["job"]["restart"] = {"kind": "none"}
    result = run_world(scenario_of(text), seed=0)
    assert (result.run.outcome, result.run.attempts) == ("completed", 2)
    (row,) = result.recoveries
    assert row.cause == "sink is rescaled to 2"


def test_a_fault_of_a_subtask_that_is_gone_does_nothing() -> None:
    """A crash of subtask 1 after the vertex has become one subtask strikes no one."""
    crash = {"kind": "crash_task", "vertex": "sink", "subtask": 1, "at_ns": 9 * MS}
    text = job(rescale("sink", 1), crash, parallelism=2)
    assert run_world(scenario_of(text), seed=0).run.attempts == 2


def test_a_stray_notification_of_a_subtask_that_is_gone_reaches_nobody() -> None:
    """What comes late for subtask 1 finds one subtask only, and the job ends as it should."""
    stray = {"kind": "stray_notification", "vertex": "sink", "subtask": 1, "checkpoint": 1}
    text = job(rescale("sink", 1), stray | {"delay_ns": 6 * MS}, parallelism=2)
    text["job"]["checkpointing"] = {"mode": "unaligned", "interval_ns": 2 * MS}
    result = run_world(scenario_of(text), seed=0)
    assert (result.run.outcome, result.violations) == ("completed", [])
    assert result.run.attempts == 2


def test_in_flight_data_of_a_pointwise_edge_is_refused_by_its_mapper() -> None:
    """What mutants let happen on such an edge is refused when it is rescaled, not lost silently."""
    scenario = by_name("flink_21945_pointwise")
    result = run_world(scenario, seed=0, mutant="overtakes_on_any_edge")
    says = [row.says for row in result.violations if row.property == "records_come_out_whole"]
    assert says
    assert str(ProtocolError("unsupported_rescale", state="2 to 3 subtasks")) in says[0]


def test_a_restart_behind_a_rescale_is_one_of_a_rescaled_job() -> None:
    """A checkpoint from before a rescale misleads tasks that are restarted from it as well."""
    scenario = with_parameters(
        by_name("watermark_outlives_its_share"), {"job.checkpointing.retained": 40}
    )
    model, faults = cast("Job", scenario.model), cast("tuple[JobFault, ...]", scenario.faults)
    first = RecordWorld(Environment(1), model, FaultPlan(faults), cores=OURS)
    first.run()
    oldest = first.coordinator.completed[min(first.coordinator.completed)]
    external = first.external.fork(oldest.sink_states, oldest.checkpoint_id)
    again = RecordWorld(
        Environment(1),
        first.job,
        FaultPlan(()),
        cores=OURS,
        restored=oldest,
        external=external,
    )
    again.run()
    assert first.job != model
    assert again.oracle is not None
    assert all(task.lifecycle.was_rescaled for task in again.oracle.tasks.values())
