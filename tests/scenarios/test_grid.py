"""Sweep plans: expansion, seeds, and every problem at once."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.analysis.sweeps.plan import sweep_rows
from ckptsim.scenarios import ScenarioError, scenario_key
from ckptsim.scenarios.catalogue import PLANS, by_name, shelf
from ckptsim.scenarios.files import to_toml
from ckptsim.scenarios.planning import Plan, all_plans, load_plan, plan_from, runs
from ckptsim.scenarios.planning.grid import Run
from tests.scenarios.loader import toy
from tests.scenarios.loader.strategies import toml_values


@pytest.fixture
def base(tmp_path: Path) -> str:
    """Write the toy scenario and return its path."""
    file = tmp_path / "base.toml"
    file.write_text(to_toml(toy.EXAMPLE, links=toy.LINKS), encoding="utf-8")
    return str(file)


def _plan(text: str, scenario: str) -> Plan:
    head = {"name": "plan", "scenario": scenario}
    return plan_from(head | tomllib.loads(text), source="plan.toml")


def _runs(text: str, scenario: str) -> list[Run]:
    return runs(_plan(text, scenario), links=toy.LINKS)


def _problems(text: str, scenario: str) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        _runs(text, scenario)
    return [str(problem) for problem in caught.value.problems]


def test_a_plan_without_axes_is_one_point(base: str) -> None:
    """Without axes there is one point, run as often as there are replications."""
    found = _runs("replications = 3\nfirst_seed = 7", base)
    assert [run.seed for run in found] == [7, 8, 9]
    assert [run.replication for run in found] == [0, 1, 2]
    assert {run.point.parameters for run in found} == {"{}"}
    assert found[0].point.scenario == toy.EXAMPLE


def test_grid_varies_the_first_slowest_and_zip_the_fastest(base: str) -> None:
    """Points come in the order of the file: grid as nested loops, zip innermost."""
    text = """
        seeds = [5]
        [grid]
        "toy.sockets" = [1, 2]
        toy.word = ["a", "b"]
        [zip]
        "toy.timer.interval" = ["1 s", "2 s"]
        "toy.nodes[*].records" = [10, 20]
        """
    found = _runs(text, base)
    rows = [json.loads(run.point.parameters) for run in found]
    assert [tuple(row.values()) for row in rows] == [
        (records, sockets, interval, word)
        for sockets in (1, 2)
        for word in ("a", "b")
        for interval, records in (("1 s", 10), ("2 s", 20))
    ]
    assert [run.point.index for run in found] == list(range(8))
    model = found[-1].point.scenario.model
    assert isinstance(model, toy.Toy)
    assert (model.sockets, model.word, model.timer.interval_ns) == (2, "b", 2_000_000_000)
    assert [node.records for node in model.nodes] == [20, 20]
    assert len({scenario_key(run.point.scenario, toy.LINKS) for run in found}) == 8


def test_common_random_numbers_pair_the_points(base: str) -> None:
    """With common random numbers replication r has one seed everywhere, without it many."""
    text = '[grid]\n"toy.sockets" = [1, 2, 3]\n'
    paired = _runs("replications = 4\n" + text, base)
    for replication in range(4):
        assert len({run.seed for run in paired if run.replication == replication}) == 1
    own = _runs("replications = 4\ncommon_random_numbers = false\n" + text, base)
    assert len({run.seed for run in own}) == 12
    assert all(0 <= run.seed < 1 << 62 for run in own)


def test_own_seeds_stay_when_the_plan_grows(base: str) -> None:
    """Seeds of a point's own follow from its parameters, not from its place in the plan."""
    head = "common_random_numbers = false\nreplications = 2\n[grid]\n"
    few = _runs(head + '"toy.sockets" = [2]', base)
    many = _runs(head + '"toy.sockets" = [1, 2, 3]', base)
    seeds = {(run.point.parameters, run.replication): run.seed for run in many}
    for run in few:
        assert seeds[run.point.parameters, run.replication] == run.seed


def test_ties_multiply_the_runs(base: str) -> None:
    """Each tie policy runs every replication with the same seeds."""
    found = _runs('seeds = [1, 2]\nties = ["structural", "pct:3"]', base)
    assert [(run.ties, run.seed) for run in found] == [
        ("structural", 1),
        ("structural", 2),
        ("pct:3", 1),
        ("pct:3", 2),
    ]


def test_overrides_hold_for_all_points(base: str) -> None:
    """Overrides set parameters everywhere. They are not among the swept ones."""
    text = '[overrides]\ntoy.word = "b"\n[grid]\n"toy.sockets" = [1, 2]'
    found = _runs("seeds = [1]\n" + text, base)
    assert [run.point.parameters for run in found] == ['{"toy.sockets":1}', '{"toy.sockets":2}']
    assert {run.point.scenario.model.word for run in found} == {"b"}  # type: ignore[attr-defined]


def test_the_scenario_itself_can_be_swept(base: str, tmp_path: Path) -> None:
    """An axis `scenario` compares whole scenarios."""
    other = tmp_path / "other.toml"
    other.write_text('name = "other"\nlink = "toy"\nsays = "other"\n', encoding="utf-8")
    found = _runs(f'seeds = [1]\n[grid]\nscenario = ["{base}", "{other}"]', base)
    assert [run.point.scenario.name for run in found] == ["example", "other"]


def test_all_problems_of_a_plan_come_at_once(base: str) -> None:
    """Wrong keys are all reported with their places."""
    found = _problems(
        """
        sede = 1
        replications = 0
        ties = ["structural", "pct:x"]
        seeds = [1, -1]
        [grid]
        "toy.sockets" = 4
        "toy..x" = [1]
        [zip]
        a = []
        """,
        base,
    )
    assert [line.split(": found")[0] for line in found] == [
        "plan.toml: sede",
        "plan.toml: replications",
        "plan.toml: ties[1]",
        "plan.toml: seeds[1]",
        'plan.toml: grid."toy..x"',
        "plan.toml: zip.a",
    ]
    assert 'did you mean "seeds"?' in found[0]


def test_settings_that_contradict_each_other_are_refused(base: str) -> None:
    """Zips of two lengths, parameters set twice and two ways to give seeds are problems."""
    found = _problems(
        """
        seeds = [1]
        replications = 3
        [overrides]
        a.b = 1
        c = 2
        [grid]
        a.b = [1]
        [zip]
        a.b = [1, 2]
        d = [1]
        """,
        base,
    )
    assert [line.split(": found")[0] for line in found] == [
        "plan.toml: zip",
        "plan.toml: zip",
        "plan.toml: overrides",
        "plan.toml: replications",
    ]


def test_wrong_values_are_reported_once_at_their_place(base: str) -> None:
    """A wrong value of an axis is one problem, however many points it takes part in."""
    found = _problems(
        """
        [overrides]
        toy.factor = "much"
        [grid]
        "toy.sockets" = [1, 0, 2]
        "toy.sockts" = [1]
        """,
        base,
    )
    assert [line.split(", expected")[0] for line in found] == [
        'plan.toml: grid."toy.sockts"[0]: found an unknown key',
        'plan.toml: overrides: toy.factor: found "much"',
        'plan.toml: grid."toy.sockets"[1]: found 0',
    ]


def test_points_that_contradict_themselves_are_reported(base: str) -> None:
    """What does not hold between values of a point is reported with the point's number."""
    text = '[grid]\n"toy.delay.delay_min" = ["1 ns", "9 ns"]'
    assert _problems(text, base) == [
        "plan.toml: point 1: toy.delay.delay_max: found 5, expected at least delay_min"
    ]


def test_what_a_plan_asks_is_checked(base: str) -> None:
    """A metric that does not exist, a name for all that is not swept and no text are problems."""
    found = _problems(
        """
        question = 3
        answers = ["median_latency_ns", "latency"]
        """,
        base,
    )
    assert [line.split(": found")[0] for line in found] == [
        "plan.toml: question",
        "plan.toml: answers[1]",
    ]
    text = 'words = { "toy.sockets" = "sockets", "toy.factor" = "factor" }\n'
    assert _problems(text + '[grid]\n"toy.sockets" = [1]', base) == [
        "plan.toml: words: found toy.factor, which is not swept, expected parameters that are swept"
    ]


def test_library_plans_ask_and_name_what_answers() -> None:
    """Every plan of the library has a question, metrics that answer it and names of its axes."""
    for plan in all_plans():
        assert plan.question.endswith("?"), plan.name
        assert plan.answers, plan.name
        assert set(plan.words) == set(plan.axes), plan.name


def test_too_many_points_are_refused_before_they_are_made(base: str) -> None:
    """A plan with a grid that explodes is refused with the number of its points."""
    axes = "\n".join(f'"toy.a{i}" = {list(range(100))}' for i in range(5))
    assert "found 10000000000 points" in _problems(f"[grid]\n{axes}", base)[0]
    assert _problems(
        'replications = 1000000\n[grid]\n"toy.sockets" = [1,2,3,4,5,6,7,8,9,10,11]', base
    )


def test_unknown_scenarios_are_refused() -> None:
    """A plan that names a scenario that does not exist says so."""
    assert _problems("", "no_such")[0].startswith(
        'plan.toml: scenario: name: found "no_such", expected a name that `ckptsim list` shows'
    )
    with pytest.raises(ScenarioError):
        load_plan("no_such_plan")


@settings(max_examples=200)
@given(
    document=st.dictionaries(
        st.sampled_from(["overrides", "grid", "zip", "seeds", "ties", "replications", "says"]),
        toml_values()
        | st.dictionaries(
            st.sampled_from(["toy.sockets", "toy", "faults", "a.b", "name", "scenario"]),
            toml_values() | st.lists(toml_values(), max_size=3),
            max_size=3,
        ),
        max_size=4,
    )
)
def test_arbitrary_plans_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, document: dict[str, Any]
) -> None:
    """Whatever a plan's keys hold, the outcome is runs or a ScenarioError."""
    file = tmp_path_factory.getbasetemp() / "arbitrary.toml"
    if not file.exists():
        file.write_text(to_toml(toy.EXAMPLE, links=toy.LINKS), encoding="utf-8")
    head = {"name": "x", "scenario": str(file), "replications": 2}
    try:
        found = runs(plan_from(head | document, source="x"), links=toy.LINKS)
    except ScenarioError as error:
        assert error.problems  # noqa: PT017
    else:
        assert found


def test_library_plans_expand() -> None:
    """Every plan of the library says what it shows, expands to runs and is named as its file."""
    for plan, name in zip(all_plans(), sorted(shelf(PLANS)), strict=True):
        assert plan.name == name
        assert plan.says
        assert runs(plan)


def test_paths_in_a_plan_begin_at_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan finds the scenario beside it, not one of that name where the user is."""
    plans = tmp_path / "plans"
    plans.mkdir()
    mine, other = (by_name(name) for name in ("reference", "rework_reference"))
    (plans / "job.toml").write_text(to_toml(mine), encoding="utf-8")
    (tmp_path / "job.toml").write_text(to_toml(other), encoding="utf-8")
    text = 'name = "p"\nscenario = "job.toml"\n[grid]\nscenario = ["job.toml", "reference"]\n'
    (plans / "plan.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    rows = sweep_rows(load_plan("plans/plan.toml"))
    assert {row.scenario for row in rows} == {mine.name}
    assert [row.source for row in rows[::10]] == ["plans/job.toml", "reference"]
    for row in rows[::10]:
        _, verb, source, *_ = row.replay.split()
        assert (verb, source) == ("replay", row.source)
        assert scenario_key(by_name(source)) == scenario_key(mine)
    monkeypatch.chdir(plans)
    assert [row.source for row in sweep_rows(load_plan("plan.toml"))[::10]] == [
        "job.toml",
        "reference",
    ]
    (plans / "job.toml").unlink()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError, match=r"plans/job\.toml"):
        sweep_rows(load_plan("plans/plan.toml"))
