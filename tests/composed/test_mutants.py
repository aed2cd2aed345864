"""Every mutant of the composed pipeline is distinguished from the right one."""

from collections.abc import Callable

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import all_scenarios, by_name
from ckptsim.scenarios.composed import OWN_PROPERTIES, PROPERTIES
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.mutants.registry import mutants_of
from ckptsim.sim.slots import slots_of
from ckptsim.sim.world import run_world
from tests.composed.plans import on_buffers
from tests.job.buffers.broken import BROKEN
from tests.job.properties.table import BREAKERS as JOB_BREAKERS
from tests.mutants.composed import MUTANTS
from tests.sync.test_properties import BREAKERS as SYNC_BREAKERS

SEEDS = 60

# The mutant's scenario of the library, and a property that it breaks there.
FOUND_BY: dict[str, tuple[str, str]] = {
    "checkpoint_first": ("pipeline_external", "no_record_lost"),
    "two_steps": ("pipeline_append", "exactly_once_output"),
    "two_steps_reversed": ("pipeline_aligned", "no_record_lost"),
    "colocated_not_atomic": ("pipeline_append", "exactly_once_output"),
    "forgets_commits_under_way": ("pipeline_external", "no_record_lost"),
    "takes_pending_for_committed": ("pipeline_aligned", "no_record_lost"),
    "ignores_the_store": ("pipeline_append", "exactly_once_output"),
    "commits_before_completion": ("pipeline_aligned", "no_commit_before_completion"),
    "commits_newest_first": ("pipeline_group", "checkpoint_never_goes_back"),
    "forgets_last_checkpoint": ("pipeline_aligned", "checkpoint_never_goes_back"),
    "reports_before_commit": ("pipeline_external", "no_premature_acknowledgement"),
    "takes_in_flight_for_stored": ("pipeline", "no_premature_acknowledgement"),
    "takes_redelivered_again": ("pipeline", "exactly_once_state"),
    "closes_without_acknowledgement": ("pipeline_timed_out", "finished_task_leaves_no_records"),
    "accepts_any_completion": (
        "pipeline_at_least_once",
        "aborted_transactions_are_empty_at_close",
    ),
    "no_ordering": ("pipeline_stalled_socket", "releases_without_gaps"),
    "gaps_tolerated": ("pipeline_stalled_socket", "releases_without_gaps"),
    "no_source_count": ("pipeline_stalled_socket", "no_premature_acknowledgement"),
    "cursor_before_send": ("pipeline_stalled_socket", "releases_without_gaps"),
    "early_return": ("pipeline", "every_state_is_released"),
    "snapshot_one_step_late": ("pipeline", "nothing_read_between_barrier_and_trigger"),
    "told_before_stored": ("pipeline", "notified_once"),
    "failed_partition_counts": ("pipeline_reader_fails", "no_record_lost"),
    "early_abort_unanswered": ("pipeline_timed_out", "channel_state_writes_are_answered"),
    "output_time_out_unreported": ("pipeline", "reported_figures_are_true"),
    "output_never_times_out": ("pipeline_timed_out", "time_out_ends_alignment"),
}


def test_no_mutant_is_left_out() -> None:
    """Each mutant where two links meet has its scenario, and so have some of every link."""
    assert set(MUTANTS) <= set(FOUND_BY) <= set(mutants_of("composed"))
    others = {mutants_of("composed")[name].slot for name in FOUND_BY if name not in MUTANTS}
    assert others >= {slot.name for slot in slots_of("composed") if slot.whole}


def test_every_property_of_its_own_can_fail() -> None:
    """A mutant or an anti-pattern of the library breaks each property that only a pipeline has."""
    broken = {name for _, name in FOUND_BY.values()}
    for scenario in all_scenarios():
        if scenario.link == "composed":
            broken |= set(scenario.violates)
    assert set(OWN_PROPERTIES) - broken == set()


def test_every_other_property_can_fail_in_its_own_link() -> None:
    """What a pipeline has from a sync or a job is broken by something known there."""
    others = set(PROPERTIES) - set(OWN_PROPERTIES)
    known = {broken.breaks for broken in BROKEN.values()}
    known.update(*(one.violates for one in all_scenarios() if one.link != "composed"))
    assert others - set(SYNC_BREAKERS) - set(JOB_BREAKERS) - known == set()


@pytest.mark.parametrize("on_plane", [by_name, on_buffers])
@pytest.mark.parametrize("mutant", FOUND_BY)
def test_mutant_is_found_where_the_right_one_is_not(
    mutant: str, on_plane: Callable[[str], Scenario]
) -> None:
    """Within a few seeds the mutant breaks its property, and the right pipeline breaks nothing."""
    name, broken = FOUND_BY[mutant]
    scenario = on_plane(name)
    for seed in range(SEEDS):
        result = run_world(scenario, seed=seed, ties="random", mutant=mutant)
        if broken in {row.property for row in result.violations}:
            assert run_world(scenario, seed=seed, ties="random").violations == []
            return
    pytest.fail(f"{mutant} breaks nothing on {name} in {SEEDS} seeds")


def test_unknown_mutants_are_refused() -> None:
    """A mutant that does not exist is the user's error and names those that do."""
    with pytest.raises(UserError, match="checkpoint_first"):
        run_world(by_name("pipeline"), seed=0, mutant="nobody")
