"""Check, hunt and shrink: what they find, how small it gets, and that nothing is random."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import pytest

from ckptsim.scenarios import LINKS
from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.blame import CORE_RAISED
from ckptsim.sim.search import Subject, check, hunt
from ckptsim.sim.search.check import RUN_REPEATS
from ckptsim.sim.search.faults import FaultDraw
from ckptsim.sim.search.shrink import TRIALS_MAX, shrink
from ckptsim.sim.search.trial import trial
from tests.search.toy import Lose, Producer, Slow

TWO = (Producer(name="one", items=40), Producer(name="two", items=30, pause_ns=1_234_567))


def test_a_sound_scenario_passes_and_its_goals_are_counted(toy):
    """No violation, runs counted, the situation that no run reached is named."""
    report = check(Subject(scenario=toy(producers=TWO)), range(5))
    assert report.passed
    assert (report.runs, report.outcomes) == (5, {"completed": 5})
    assert (report.goals, report.missed_goals) == ({"shop_full": 5, "never": 0}, ["never"])


def test_check_stops_at_the_first_violation_and_tells_its_story(toy):
    """The lowest violating seed is reported with the story of what it concerns."""
    report = check(Subject(scenario=toy(Lose(occurrence=2))), range(3, 9), ties=("structural",))
    assert (report.passed, report.runs) == (False, 1)
    (found,) = report.unexpected
    (row,) = found.violations
    assert (found.seed, row.property, row.scope, row.index) == (3, "nothing_lost", "producer[0]", 1)
    lines = [line.strip().partition("ms  ")[2] or line for line in row.story.splitlines()]
    assert lines[:4] == [
        "about producer[0]/1, with our cores",
        "producer[0]: makes item 1",
        "last good point: 5 entries, up to 4 ms, are the same without fault lose",
        "counter: loses producer[0]/1",
    ]
    assert lines[4].endswith("counter: serves producer[0]/1")
    assert row.replay == "ckptsim replay toy --seed 3"


def test_keep_going_finds_them_all(toy):
    """Asked to continue, check reports every violating seed."""
    report = check(Subject(scenario=toy(Lose())), range(4), keep_going=True)
    assert [found.seed for found in report.unexpected] == [0, 1, 2, 3]


def test_an_expected_violation_is_no_failure_but_its_absence_is(toy):
    """An anti-pattern has to break what it says that it breaks."""
    breaking = replace(toy(Lose()), violates=("nothing_lost",))
    report = check(Subject(scenario=breaking), range(3))
    assert (report.passed, report.expected) == (True, {"nothing_lost": 3})
    report = check(Subject(scenario=replace(breaking, faults=())), range(3))
    assert (report.passed, report.unbroken) == (False, ["nothing_lost"])


def test_too_few_seeds_are_told_from_what_does_not_break(toy):
    """What breaks by chance is looked for in more seeds and the number that shows it is named."""
    pair = (Producer(name="one", pause_ns=1000), Producer(name="two", pause_ns=1000))
    chance = replace(toy(producers=pair), violates=("first_is_first",))
    subject = Subject(scenario=chance, mutant="overtaking")
    quiet = next(
        seed
        for seed in range(100)
        if not trial(subject, seed, "random").violations
        and trial(subject, seed + 1, "random").violations
    )
    report = check(subject, range(quiet, quiet + 1))
    assert (report.passed, report.runs, report.late) == (True, 1, {"first_is_first": 2})
    report = check(subject, range(quiet, quiet + 2))
    assert (report.passed, report.expected, report.late) == (True, {"first_is_first": 1}, {})
    report = check(Subject(scenario=chance), range(1))
    assert (report.passed, report.unbroken, report.late) == (False, ["first_is_first"], {})


def test_only_some_tie_orders_break_the_mutant(toy):
    """Random ties find what structural order never shows."""
    pair = (Producer(name="one", pause_ns=1000), Producer(name="two", pause_ns=1000))
    subject = Subject(scenario=toy(producers=pair), mutant="overtaking")
    same_time = [trial(subject, seed, "random") for seed in range(30)]
    assert 0 < sum(bool(found.violations) for found in same_time) < 30


def test_a_core_that_raises_is_a_violation_and_we_raising_is_not(toy):
    """Someone else's exception is reported with the command. Ours is passed on with it."""
    core = f"{__package__}.toy:Raising"
    report = check(Subject(scenario=toy(Lose()), cores={"answer": core}), range(2))
    (row,) = report.unexpected[0].violations
    assert (row.property, row.replay) == (
        CORE_RAISED,
        f"ckptsim replay toy --seed 0 --ties random --core answer={core}",
    )
    assert row.says == f"core answer={core} raised KeyError: 0"
    with pytest.raises(AssertionError) as caught:
        trial(Subject(scenario=_without_model(toy())), 4, "pct")
    assert caught.value.__notes__ == [
        "in the run that this repeats: ckptsim replay toy --seed 4 --ties pct"
    ]


def test_a_core_that_remembers_other_runs_is_found(toy):
    """The first run is repeated in the end, and a second digest is a violation with its command."""
    core = f"{__package__}.toy:Remembering"
    report = check(Subject(scenario=toy(), cores={"answer": core}), range(3))
    (row,) = report.unexpected[0].violations
    assert (row.property, report.passed) == (RUN_REPEATS, False)
    assert row.replay == f"ckptsim replay toy --seed 0 --ties random --core answer={core}"


def _without_model(scenario):
    return replace(scenario, model=Producer())


def test_hunt_shrinks_to_the_one_fault_and_the_smallest_workload(toy):
    """Of many faults and items only those remain without which nothing would be lost."""
    faults = (Slow(at_ns=7_654_321), Lose(occurrence=37), Slow(producer=1), Lose(occurrence=50))
    subject = Subject(scenario=toy(*faults, producers=TWO, room=17, serve_ns=1_234_567))
    find = hunt(subject, range(100))
    assert find is not None
    assert (find.property, find.runs) == ("nothing_lost", 1)
    smallest = find.shrunk.scenario
    assert smallest.faults == (Lose(occurrence=1),)
    assert len(smallest.model.producers) == 1
    assert smallest.model.producers[0].items == 1
    assert smallest.model.serve_ns == 2_000_000
    assert smallest.model.producers[0].pause_ns == 1_000_000
    assert (find.shrunk.trial.seed, find.shrunk.trial.ties) == (0, "structural")


def test_shrinking_passes_by_what_makes_a_run_raise(toy, monkeypatch):
    """A faulty host may raise in a simpler scenario: that is not the value found."""

    def raising(subject, *rest, **more):
        if subject.scenario.model.room < 5:
            raise KeyError(subject.scenario.model.room)
        return trial(subject, *rest, **more)

    monkeypatch.setattr(import_module("ckptsim.sim.search.shrink"), "trial", raising)
    find = hunt(Subject(scenario=toy(Lose(occurrence=3), room=17)), range(3))
    assert find is not None
    assert 5 <= find.shrunk.scenario.model.room < 17
    assert find.shrunk.scenario.faults == (Lose(occurrence=1),)


def test_shrinking_passes_by_what_does_not_end(toy, monkeypatch):
    """With a limit of seconds a simpler scenario that runs on and on is aborted."""

    def endless(subject, *rest, **more):
        while subject.scenario.model.room < 16:
            pass
        return trial(subject, *rest, **more)

    found = trial(Subject(scenario=toy(Lose(occurrence=3), room=17)), 0, "structural")
    monkeypatch.setattr(import_module("ckptsim.sim.search.shrink"), "trial", endless)
    subject = Subject(scenario=toy(Lose(occurrence=3), room=17))
    smallest = shrink(subject, found, property_name="nothing_lost", run_seconds_max=0.05)
    assert 16 <= smallest.scenario.model.room < 18
    assert smallest.scenario.faults == (Lose(occurrence=1),)


def test_hunting_twice_gives_the_same(toy):
    """Neither the search nor the shrinking has anything random of its own."""
    subject = Subject(scenario=toy(producers=TWO))
    first, second = (hunt(subject, range(40), faults=4) for _ in range(2))
    assert first == second
    assert first is not None
    assert first.shrunk.scenario.faults == (Lose(occurrence=1),)


def test_hunt_returns_nothing_where_nothing_breaks(toy):
    """A sound scenario survives, and a property that is not asked for is passed over."""
    assert hunt(Subject(scenario=toy()), range(3)) is None
    assert hunt(Subject(scenario=toy(Lose())), range(3), property_names=["other"]) is None


def test_random_faults_are_valid_and_reach_every_kind(toy):
    """Whatever is drawn loads, fits the model, and over some seeds every kind occurs."""
    kinds: dict[type, int] = {}
    for seed in range(60):
        grown = FaultDraw(toy(producers=TWO), most=3).of_seed(seed)
        assert len(grown.faults) <= 3
        for fault in grown.faults:
            kinds[type(fault)] = kinds.get(type(fault), 0) + 1
            assert not isinstance(fault, Slow) or fault.producer < 2
    assert set(kinds) == set(LINKS["toy"].faults.values())


def test_the_report_does_not_depend_on_the_number_of_processes():
    """Two processes find what one finds, in the same order, and stop at the same seed."""
    subject = Subject(scenario=by_name("reference"), mutant="no_ordering")
    one = check(subject, range(40), keep_going=True)
    two = check(subject, range(40), keep_going=True, jobs=2)
    assert one == two
    assert check(subject, range(40), jobs=2) == check(subject, range(40))


def test_exhaustive_ties_find_the_one_order_that_breaks(toy):
    """Every order of one seed is tried. The one that breaks is found, by a name that repeats it."""
    pair = (Producer(name="one", items=1), Producer(name="two", items=1))
    subject = Subject(scenario=toy(producers=pair), mutant="overtaking")
    report = check(subject, range(1), ties=("exhaustive",))
    (found,) = report.unexpected
    assert found.ties.startswith("exhaustive:")
    assert found.violations[0].property == "first_is_first"
    assert trial(subject, 0, found.ties).digest == found.digest
    sound = check(replace(subject, mutant=None), range(2), ties=("exhaustive",), orders=5000)
    assert (sound.passed, sound.unexplored) == (True, [])
    assert check(replace(subject, mutant=None), range(2), ties=("exhaustive",), orders=2).unexplored


def test_shrinking_names_the_instants_whose_ties_matter():
    """A defect of tie order is shrunk to a few instants in another order, within the bound."""
    scenario = by_name("stop_overtaken_at_once")
    find = hunt(
        Subject(scenario=scenario), range(60), ties=("random",), property_names=["stop_ends"]
    )
    assert find is not None
    policy, _, instants = find.shrunk.trial.ties.partition("@")
    assert policy == "random"
    assert 1 <= len(instants.split(".")) <= 3
    assert find.shrunk.decisions <= 3
    assert find.shrunk.trials <= TRIALS_MAX
    again = trial(
        Subject(scenario=find.shrunk.scenario), find.shrunk.trial.seed, find.shrunk.trial.ties
    )
    assert again.digest == find.shrunk.trial.digest
