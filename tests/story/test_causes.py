"""Stories of violations: where two runs part, both sides of it, and whom exceptions are put to."""

from __future__ import annotations

import pytest

from ckptsim.models.coordinator import CheckpointCoordinator
from ckptsim.models.ordering.release.releaser import Releaser
from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.blame import CORE_RAISED
from ckptsim.sim.job.control.coordinator import CoordinatorHost
from ckptsim.sim.search import Subject
from ckptsim.sim.search.stories import nearest, with_story
from ckptsim.sim.search.trial import trial
from ckptsim.sim.story import Telling
from ckptsim.sim.story.causes import causes
from ckptsim.sim.world import run_world

VOCABULARY = {
    "sent": Telling("sends {index}", "index", begins="way:index"),
    "got": Telling("gets {index}", "index", ends="way:index"),
    "does": Telling("does"),
    "hands": Telling("hands to {to}", "to"),
}
TRACE = [
    (1, "does", "c"),
    (2, "sent", "a", 1),
    (3, "does", "b"),
    (4, "sent", "c", 2),
    (5, "got", "b", 1),
    (6, "does", "a"),
    (7, "hands", "d", "b"),
    (8, "does", "b"),
]


def test_causes_go_back_along_entities_and_messages():
    """What no one told of is no cause. Messages, entities' own past and hand-overs are."""
    assert causes(TRACE, VOCABULARY, [7]) == [1, 2, 4, 6, 7]
    assert causes(TRACE, VOCABULARY, [7], first=3) == [4, 6, 7]
    assert causes(TRACE, VOCABULARY, [5, 0]) == [0, 1, 5]


def test_a_story_shows_both_sides_from_the_last_good_point_on():
    """Head with slot and mutant, the entry where both runs part, and its like with our core."""
    subject = Subject(scenario=by_name("reference"), mutant="no_ordering")
    (row, *_) = with_story(subject, trial(subject, 0, "random")).violations
    lines = [line.strip() for line in row.story.splitlines()]
    assert lines[0] == "about orders/2, with mutant no_ordering in slot ordering"
    good = next(at for at, line in enumerate(lines) if line.startswith("last good point: "))
    assert lines[good].endswith("are the same with our core in slot ordering")
    assert "destination: sends state orders/2, send 3" in lines[good + 1]
    assert lines[good + 2].startswith("with our core in slot ordering:  15.102 ms  ")
    assert lines[good + 1].partition(":  ")[2] != lines[good + 2].partition(":  ")[2]
    assert "property releases_without_gaps does not hold" in lines[-1]
    assert " ns: " not in row.story


def test_the_nearest_run_of_a_scenario_lacks_what_matters():
    """Where all cores are ours, the run beside is one without a fault, with other ties or seed."""
    scenario = by_name("stop_overtaken_at_once")
    subject = Subject(scenario=scenario)
    result = subject.run(5, "random", keep_trace=True)
    assert {row.property for row in result.violations} == {"stop_ends"}
    found = nearest(subject, result, "stop_ends")
    assert found is not None
    assert found.differs.startswith("with ")
    assert result.trace[: found.common] == found.trace[: found.common]
    assert result.trace[found.common] != found.trace[found.common]


@pytest.mark.parametrize(
    ("answer", "says"),
    [(None, "TypeError"), (["dance"], "AssertionError"), ([3, 4], "AssertionError")],
)
def test_a_wrong_answer_of_our_core_is_a_violation_of_it(monkeypatch, answer, says):
    """What no host can carry out is no fault of the program: it names the core, at its event."""
    monkeypatch.setattr(CheckpointCoordinator, "step", lambda *_: answer)
    result = run_world(by_name("keyed_crash"), seed=0)
    (row,) = result.violations
    assert row.property == CORE_RAISED
    assert row.says.startswith(f"core coordinator.coordinator made a run raise {says}")
    assert "SchedulerStarted" in row.says or "Requested" in row.says


def test_an_exception_out_of_our_core_names_its_module(monkeypatch):
    """The module of the core, the event and what happened until then are reported."""
    # Compiled as if it stood in the core's own file.
    code = compile(
        "def flush_if_waiting(self):\n    raise KeyError('users')\n",
        Releaser.flush_if_waiting.__code__.co_filename,
        "exec",
    )
    space: dict[str, object] = {}
    exec(code, space)
    monkeypatch.setattr(Releaser, "flush_if_waiting", space["flush_if_waiting"])
    subject = Subject(scenario=by_name("reference"))
    (row, *_) = with_story(subject, trial(subject, 0, "random")).violations
    assert row.property == CORE_RAISED
    assert row.says.startswith(
        "core ordering.release.releaser raised KeyError: 'users', at StateRead("
    )
    assert row.at_ns > 0
    assert "raise" in row.story


def test_a_fault_of_a_host_stays_one(monkeypatch):
    """Everything that is raised with no core on its way is not put down to any."""

    def broken(self, *_, **__):
        raise ZeroDivisionError("host")

    monkeypatch.setattr(CoordinatorHost, "__init__", broken)
    with pytest.raises(ZeroDivisionError, match="host"):
        run_world(by_name("keyed_crash"), seed=0)
