"""Random plans: a good store keeps its promises, faulty ones do not."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from ckptsim.models.store import Placement, StoreVersions, make_store
from tests.mutants.store import MUTANTS
from tests.store.core import machine

# Plans are long lists. Everything that is slow about them is the database, not their generation.
_SETTINGS = settings(
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
GOALS: Counter[str] = Counter()


@settings(_SETTINGS, max_examples=400)
@given(placement=machine.PLACEMENTS, plan=machine.SAFE_PLANS)
def _promises_hold(placement: Placement, plan: list[machine.Step]) -> None:
    GOALS.update(_watch(make_store(placement), plan))


def test_promises_hold_on_every_plan_without_hazards() -> None:
    """After each step of a plan of crashes and failures the promises hold, and all is reached."""
    GOALS.clear()
    _promises_hold()
    for goal in ("data ahead", "WRITE_FAILED", "COMMIT_FAILED", "CORRUPT_CHECKPOINT", "NOT_OPEN"):
        assert GOALS[goal] >= 10, f"{goal} was hardly reached: {GOALS}"


@pytest.mark.parametrize(
    "name",
    [
        "checkpoint_first",
        "colocated_not_atomic",
        "version_not_in_key",
        "deletes_all_partitions",
        "group_offset_off_by_one",
        "advances_and_checkpoints_errored",
        "never_wipes",
        "redirect_leaks_deletes",
    ],
)
def test_plans_find_what_a_mutant_breaks(name: str) -> None:
    """A store without one safeguard breaks a promise on some plan."""

    @settings(_SETTINGS, max_examples=400, phases=[Phase.generate], report_multiple_bugs=False)
    @given(placement=machine.PLACEMENTS, plan=machine.SAFE_PLANS)
    def promises_hold(placement: Placement, plan: list[machine.Step]) -> None:
        _watch(MUTANTS[name].factory(placement), plan)

    with pytest.raises(AssertionError):
        promises_hold()


@pytest.mark.parametrize("placement", [Placement.EXTERNAL, Placement.CONSUMER_GROUP_BLOB])
def test_rows_that_are_ahead_may_be_applied_again_in_part(placement: Placement) -> None:
    """Between a crash that left rows ahead and the end of their replay no prefix has these rows.

    Each row by itself is the one of some prefix. In the end all of them are the ones of the whole
    log.
    """
    records = [["d", "c"], ["p", "c", 92], ["p", "a", 46]]
    key = {"tp": "s_v1/0"}
    plan = [
        *machine.beginning(records),
        {"op": "open", **key},
        {"op": "ingest", "n": 3, **key},
        {"op": "crash_between_data_and_checkpoint", **key},
        {"op": "open", **key},
        {"op": "ingest", "n": 1, **key},
        {"op": "sync", **key},
    ]
    goals = _watch(make_store(placement), plan)
    assert goals["data ahead in part"] == 1


def _watch(versions: StoreVersions, plan: list[machine.Step]) -> dict[str, int]:
    watch = machine.Watch(versions)
    for index, step in enumerate(plan):
        watch.play(index, step)
    watch.finish()
    return watch.goals
