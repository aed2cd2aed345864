"""Every published fault of how tasks end has a scenario that tells its twin from the right core."""

import pytest

from scenarios.catalogue import by_name
from sim.twins.lifecycle import TWINS
from sim.world import run_world

# twin: (scenario of the library, property that it breaks)
FOUND: dict[str, tuple[str, str]] = {
    "closes_without_acknowledgement": (
        "final_backlog_unaligned",
        "finished_task_leaves_no_records",
    ),
    "closes_without_final_checkpoint": ("last_transaction", "exactly_once_output"),
    "accepts_any_completion": ("early_notification", "exactly_once_output"),
    "skipped_trigger_sets_minimum": ("late_trigger", "closes_when_all_is_over"),
    "abort_repeats_nothing": ("union_lost_notification", "job_ends"),
    "finishes_on_no_drain": ("stop_no_drain", "no_drain_ends_nothing"),
    "acknowledges_at_alignment": ("final_two_inputs", "job_ends"),
    "commits_only_its_own": ("final_notification_lost", "exactly_once_output"),
    "stops_after_savepoint": ("stop_drain", "exactly_once_output"),
    "awaits_its_first_checkpoint": ("stop_while_waiting", "job_ends"),
    "closed_task_is_silent": ("plan_race", "checkpoint_ends_in_time"),
    "opens_after_finish": ("transactions_after_finish", "no_transaction_lingers"),
    "restored_source_keeps_watermark": ("restore_finished_branch", "end_marks_in_order"),
    "end_of_data_overtakes_watermark": ("timers_deferred", "end_marks_in_order"),
    "never_counts_again": ("final_checkpoint_fails", "final_checkpoint_is_asked_for"),
    "always_wanted": ("checkpoints_off", "final_checkpoint_is_asked_for"),
    "fails_over_after_stop": ("commit_fails_after_stop", "exactly_once_output"),
}
# Twins whose fault needs events that a whole job does not produce; vectors and unit tests kill
# them: a completion of an earlier attempt under a higher number, an alignment inside the lifecycle
# core (here the barrier handler aligns), a stop that nobody asks for again.
BY_VECTOR = {
    "ignores_restored_id",
    "end_of_partition_aborts_alignment",
    "survives_aborted_savepoint",
    "stop_takes_any_completion",
}
SEEDS = range(8)


def broken(scenario: str, seed: int, twin: str | None = None) -> set[str]:
    """Return the properties that one run breaks, apart from those that the scenario must break."""
    subject = by_name(scenario)
    result = run_world(subject, seed=seed, ties="random", twin=twin)
    return {violation.property for violation in result.violations} - set(subject.violates)


def test_every_twin_is_found_or_explained() -> None:
    """No twin is without a scenario, unless it is said how else it is found."""
    assert set(FOUND) | BY_VECTOR == set(TWINS)


@pytest.mark.parametrize("twin", [name for name in FOUND if name in TWINS])
def test_check_tells_a_twin_from_the_right_core(twin: str) -> None:
    """Within a few seeds the twin breaks the property; the right core breaks none in any."""
    scenario, name = FOUND[twin]
    unexpected = name in by_name(scenario).violates
    assert not unexpected
    assert any(name in broken(scenario, seed, twin) for seed in SEEDS)
    assert [broken(scenario, seed) for seed in SEEDS] == [set() for _ in SEEDS]


def test_every_twin_says_what_is_wrong() -> None:
    """One sentence per twin."""
    assert all(twin.says.endswith(".") and len(twin.says) < 120 for twin in TWINS.values())
