"""Every faulty core has a scenario that tells it apart; the hazards that were only read show."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.export import mermaid
from ckptsim.sim.mutants import barriers, lifecycle
from ckptsim.sim.search import Subject, check, hunt
from ckptsim.sim.world import load_world, run_world
from tests.job.records.mutants import mutant_table
from tests.kills import SEEDS_MAX

# Mutants whose fault needs events that a whole job does not produce; vectors kill them: a stop that
# nobody asks for again.
BY_VECTOR = {
    "survives_aborted_savepoint",
    "stop_takes_any_completion",
}
SEEDS = range(8)


def broken(scenario: str, seed: int, mutant: str | None = None) -> set[str]:
    """Return the properties that one run breaks, apart from those that the scenario must break."""
    subject = by_name(scenario)
    result = run_world(subject, seed=seed, ties="random", mutant=mutant)
    return {violation.property for violation in result.violations} - set(subject.violates)


def test_every_mutant_is_found_or_explained() -> None:
    """No mutant is without a scenario, unless it is said how else it is found."""
    assert set(lifecycle.SHOWN_BY) | BY_VECTOR == set(lifecycle.MUTANTS)


@pytest.mark.parametrize("mutant", list(lifecycle.SHOWN_BY))
def test_check_tells_a_mutant_from_the_right_core(mutant: str) -> None:
    """Within a few seeds the mutant breaks the property; the right core breaks none in any."""
    scenario, name = lifecycle.SHOWN_BY[mutant]
    assert any(name in broken(scenario, seed, mutant) for seed in SEEDS)
    assert [broken(scenario, seed) for seed in SEEDS] == [set() for _ in SEEDS]


_ENOUGH = 6  # seeds under which the right cores are tried at least


@pytest.mark.parametrize("mutant", sorted(mutant_table.SCENARIO_OF))
def test_mutant_is_found_where_the_right_core_survives(mutant: str) -> None:
    """Within 1000 seeds the mutant breaks a property, and up to there the right cores do not."""
    found = mutant_table.first(mutant)
    assert found is not None
    for seed in range(max(_ENOUGH, found[0] + 1)):
        assert mutant_table.violated(None, mutant_table.SCENARIO_OF[mutant], seed) is None
    assert found[0] < SEEDS_MAX


def test_every_mutant_of_a_job_has_a_scenario() -> None:
    """No mutant that a job can run is left out; each issue left out says why."""
    assert {*mutant_table.SCENARIO_OF, *mutant_table.SHOWN_BY_CORE} == set(barriers.MUTANTS)
    assert all(why.endswith(".") for why in mutant_table.NOT_SHOWN.values())


def test_unknown_mutant_is_the_users_error() -> None:
    """The message names the mutants of barriers and those of tasks' ends."""
    with pytest.raises(UserError, match=r"gate_local_lookup.*closes_without_acknowledgement"):
        run_world(by_name("keyed_crash"), seed=0, mutant="nobody")
    with pytest.raises(UserError, match="takes slot ordering"):
        run_world(by_name("keyed_crash"), seed=0, mutant="gaps_tolerated")


@pytest.mark.long
def test_table_is_what_the_program_finds() -> None:
    """The document holds what its own command would write now."""
    assert mutant_table.DOCUMENT.read_text(encoding="utf-8") == mutant_table.table()


DOCUMENT = Path(__file__).parents[4] / "docs" / "hazards.md"
STOP = Subject(scenario=by_name("stop_overtaken_at_once"))
CLOCK = Subject(scenario=by_name("single_channel_clock"))
LATE = Subject(
    scenario=by_name("late_trigger_at_once"),
    mutant="skipped_trigger_sets_minimum",
)


@pytest.mark.parametrize("ties", ["random", "pct"])
def test_order_of_ties_alone_shows_both(ties: str) -> None:
    """Within sixty orders the stop hangs, and the mutant closes a task too early."""
    assert check(STOP, range(60), ties=(ties,)).expected["stop_ends"] > 0
    (found,) = check(LATE, range(60), ties=(ties,)).unexpected
    assert {row.property for row in found.violations} == {"closes_when_all_is_over"}


def test_structural_order_shows_neither() -> None:
    """In the order in which figures are drawn nothing happens."""
    for subject in (STOP, LATE):
        assert subject.run(0, "structural").violations == []


def test_exhaustive_exploration_hangs_the_stop() -> None:
    """Some of the first two hundred orders of one seed show it."""
    report = check(STOP, range(1), ties=("exhaustive",), orders=200)
    assert report.expected["stop_ends"] > 0


def test_exhaustive_exploration_finds_the_late_trigger() -> None:
    """It takes two departures from the structural order, among the first four hundred tried."""
    (found,) = check(LATE, range(1), ties=("exhaustive",), orders=400).unexpected
    assert {row.property for row in found.violations} == {"closes_when_all_is_over"}
    assert sum(int(part) > 0 for part in found.ties.removeprefix("exhaustive:").split(".")) == 2


def test_right_core_survives_the_late_trigger_in_every_order_tried() -> None:
    """The orders that show the mutant show nothing of the core that skips it."""
    right = Subject(scenario=LATE.scenario)
    assert check(right, range(1), ties=("exhaustive",), orders=400).passed


def test_hunt_shrinks_the_hanging_stop() -> None:
    """What is left is a lone source, no fault, and still no order of messages."""
    found = hunt(STOP, range(60), property_name="stop_ends")
    assert found is not None
    job = found.shrunk.scenario.model
    assert len(job.vertices) == 1  # type: ignore[attr-defined]
    assert not job.costs.messages_in_order  # type: ignore[attr-defined]
    assert found.shrunk.scenario.faults == ()


@pytest.mark.parametrize(
    ("subject", "seed", "ties", "place"),
    [(STOP, 5, "random", 0), (LATE, 5, "random", 1), (CLOCK, 0, "structural", 2)],
    ids=["stop", "late", "clock"],
)
def test_pictures_are_what_replay_draws(subject: Subject, seed: int, ties: str, place: int) -> None:
    """Every line of a picture in the document is in the replay's diagram, in this order."""
    pictures = re.findall(r"```mermaid\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    result = run_world(
        subject.scenario, seed=seed, ties=ties, mutant=subject.mutant, keep_trace=True
    )
    vocabulary = load_world("final_checkpoint").VOCABULARY
    told = iter(mermaid.diagram(result.trace, vocabulary).splitlines())
    for line in pictures[place].splitlines():
        assert line in told, line


def test_a_single_channel_loses_the_clock_and_several_keep_it() -> None:
    """The hazard shows in every order; with all channels open only the mutant loses the clock."""
    assert check(CLOCK, range(30), ties=("random", "pct")).expected == {
        "single_channel_keeps_the_clock": 30
    }
    several = Subject(scenario=by_name("flink_23201_tracker_clock"))
    assert check(several, range(60), ties=("random", "pct", "structural")).passed
    faulty = replace(several, mutant="tracker_stops_any_clock")
    (found,) = check(faulty, range(60), ties=("random", "pct")).unexpected
    assert {row.property for row in found.violations} == {"tasks_fail_for_a_cause"}
