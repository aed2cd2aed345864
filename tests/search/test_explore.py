"""Exploring: scenarios are drawn, repeat, shrink, and what they find is convicted."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache, partial
from pathlib import Path

import pytest

from ckptsim.models.ordering import OrderingCore
from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import all_names, by_name
from ckptsim.scenarios.files import plain, read
from ckptsim.scenarios.generators import GENERATORS, Choices
from ckptsim.scenarios.generators.varying import around
from ckptsim.scenarios.job import Job
from ckptsim.scenarios.job.checkpointing import Mode
from ckptsim.scenarios.job.faults import CrashTaskManager, Rescale, Resubmit, Symptom
from ckptsim.scenarios.job.graph.planes import Plane
from ckptsim.scenarios.sync import SYNC_FAULTS, MemoryPolicy
from ckptsim.sim.cli import main
from ckptsim.sim.kernel import Streams
from ckptsim.sim.search import shrink
from ckptsim.sim.search.explore import (
    Corpus,
    Explorer,
    ExploreReport,
    Exploring,
    explore,
)
from ckptsim.sim.search.explore import run as run_module
from ckptsim.sim.slots.guest import TIMEOUT_VARIABLE
from tests.search.test_folder import run_pytest

RUNS = 48
SEEDS_MAX = 12


def _drawn(link: str, number: int) -> tuple[Scenario, list[int]]:
    choices = Choices(more=Streams(1).stream(link, number).integer)
    return GENERATORS[link](choices), choices.taken


@pytest.mark.parametrize("link", GENERATORS)
def test_a_drawn_scenario_is_valid_and_repeats(link: str) -> None:
    """A document holds it, the same choices give it again, and no choices a plain one."""
    for number in range(100):
        scenario, taken = _drawn(link, number)
        assert read(plain(scenario), source="drawn") == scenario
        assert GENERATORS[link](Choices(taken)) == scenario
    assert GENERATORS[link](Choices()).faults == ()


@pytest.mark.parametrize("link", GENERATORS)
def test_any_list_of_numbers_is_a_valid_scenario(link: str) -> None:
    """What mutation makes of a list of choices is still a scenario that can be written down."""
    stream = Streams(2).stream("numbers")
    for _ in range(100):
        numbers = [stream.integer(0, 1 << 20) for _ in range(stream.integer(0, 120))]
        scenario = GENERATORS[link](Choices(numbers))
        assert read(plain(scenario), source="numbers") == scenario


def test_every_kind_of_fault_of_a_sync_is_drawn() -> None:
    """No kind of fault is left out, and some scenarios have none."""
    drawn = [scenario.faults for scenario, _ in (_drawn("ordering", n) for n in range(400))]
    assert {type(fault) for faults in drawn for fault in faults} == set(SYNC_FAULTS.values())
    assert () in drawn


def test_readers_that_wait_for_memory_are_drawn() -> None:
    """Both policies for a memory that is used up. That one may wait for good is a known hazard."""
    drawn = [_drawn("ordering", n)[0] for n in range(60)]
    policies = {one.model.destination.memory_policy for one in drawn}  # type: ignore[union-attr]
    assert policies == set(MemoryPolicy)
    for one in drawn:
        blocks = one.model.destination.memory_policy is MemoryPolicy.BLOCK  # type: ignore[union-attr]
        assert ("flood_does_not_block_data" in one.violates) == blocks


def test_submissions_and_silent_task_managers_are_drawn() -> None:
    """Jobs are submitted again in every mode, and lose task managers with every symptom."""
    drawn = [_drawn("barriers", n)[0] for n in range(500)]
    faults = [fault for one in drawn for fault in one.faults]
    modes = {fault.new_mode for fault in faults if isinstance(fault, Resubmit)}
    assert modes == {None, *Mode}
    symptoms = {fault.symptom for fault in faults if isinstance(fault, CrashTaskManager)}
    assert symptoms == set(Symptom)
    assert {one.model.recovery.timed for one in drawn} == {False, True}  # type: ignore[union-attr]


def test_rescales_are_drawn_on_both_planes() -> None:
    """Jobs on records and on buffers are rescaled, some of the latter while much is in flight."""
    drawn = [_drawn("barriers", n)[0] for n in range(200)]
    rescaled = [one for one in drawn if any(isinstance(fault, Rescale) for fault in one.faults)]
    jobs = [one.model for one in rescaled if isinstance(one.model, Job)]
    assert {job.plane for job in jobs} == set(Plane)
    assert any(job.plane is Plane.BUFFERS and job.checkpointing.unaligned for job in jobs)


@pytest.mark.parametrize("link", ["barriers", "final_checkpoint"])
def test_drawn_sources_remember_what_they_have_read(link: str) -> None:
    """One that forgets what finished subtasks have read doubles records, and is no fault."""
    for number in range(200):
        model = _drawn(link, number)[0].model
        assert not isinstance(model, Job) or all(one.keeps_position for one in model.vertices)


def test_a_budget_in_runs_gives_the_same_on_any_number_of_processes() -> None:
    """Digest, coverage and corpus do not depend on who carries out a run."""
    found = []
    for jobs in (1, 2):
        corpus = Corpus()
        how = Exploring(seed=3, runs=RUNS + 5, jobs=jobs)
        report = explore(Explorer(link="ordering"), how, corpus)
        found.append((report.digest, report.covered, corpus.entries))
    assert found[0] == found[1]
    assert len(found[0][2]) > 1


@cache
def _explored(link: str) -> ExploreReport:
    return explore(Explorer(link=link), Exploring(runs=RUNS), Corpus())


@pytest.mark.parametrize("link", GENERATORS)
def test_scenarios_of_the_library_are_among_the_drawn_ones(link: str) -> None:
    """One of two runs begins with one. The simplest choices of all lead to a drawn one."""
    explorer, streams = Explorer(link=link), Streams(0)
    drawn = [explorer.subject((), streams.stream("choices", n).integer)[0] for n in range(200)]
    shelved = [each.scenario for each in drawn if each.scenario.name in all_names()]
    assert 70 <= len(shelved) <= 130
    assert {each.link for each in shelved} >= {link}
    assert explorer.subject(())[0].scenario.name not in all_names()


@pytest.mark.parametrize("link", GENERATORS)
def test_right_cores_survive(link: str) -> None:
    """A right core breaks nothing."""
    report = _explored(link)
    assert report.violating == []
    assert report.runs == RUNS


def test_a_hazard_of_released_systems_is_named_and_no_violation() -> None:
    """A stop that waits for a lost word without end is counted under its name."""
    hazards: Counter[str] = Counter()
    seed = 0
    while not hazards["stop_ends"] and seed < SEEDS_MAX:  # few runs meet one or the other hazard
        how = Exploring(runs=RUNS, seed=seed)
        report = explore(Explorer(link="final_checkpoint"), how, Corpus())
        assert report.violating == []
        hazards.update(report.hazards)
        seed += 1
    assert hazards["stop_ends"] > 0


def test_what_a_scenario_of_the_library_lists_is_no_hazard_of_drawn_ones() -> None:
    """A checkpoint that is ahead of its data is counted apart where the scenario says so."""
    report = explore(Explorer(link="checkpoint_store"), Exploring(runs=4 * RUNS), Corpus())
    assert report.violating == []
    assert report.listed["no_checkpoint_ahead_of_data"] > 0
    assert "no_checkpoint_ahead_of_data" not in report.hazards


@pytest.mark.parametrize(
    ("link", "mutant"),
    [
        ("ordering", "cursor_before_send"),
        ("ordering", "no_ordering"),
        ("checkpoint_store", "checkpoint_first"),
        ("final_checkpoint", "told_before_stored"),
    ],
)
def test_a_mutant_is_convicted_and_its_run_shrinks(link: str, mutant: str) -> None:
    """What breaks a property continues breaking it in a smaller scenario."""
    explorer = Explorer(link=link, mutant=mutant)
    report = explore(explorer, Exploring(runs=400), Corpus())
    (broken,) = report.violating
    name = broken.trial.violations[0].property
    subject, *_ = explorer.subject(broken.choices)
    asked = partial(shrink, subject, broken.trial, property_name=name, run=explorer.trial)
    smallest = asked(trials_max=60)
    assert name in {row.property for row in smallest.trial.violations}
    assert smallest.steps > 0
    assert smallest.trials <= 60
    assert asked(seconds_max=0).trials <= 2


@pytest.mark.parametrize(
    "name",
    ["reference", "final_chain", "damaged_checkpoint", "quickstart", "pipeline"],
)
def test_scenarios_are_drawn_around_one(name: str) -> None:
    """No choices give the scenario itself. Others give valid ones nearby. Right cores pass."""
    scenario = by_name(name)
    generate = around(scenario)
    assert generate(Choices()).model == scenario.model
    drawn = [generate(Choices(more=Streams(3).stream(name, n).integer)) for n in range(20)]
    assert len({repr(one.model) for one in drawn}) > 3
    assert len({len(one.faults) for one in drawn}) > 1
    explorer = Explorer(link=scenario.link, scenario=scenario)
    assert explore(explorer, Exploring(runs=8), Corpus()).violating == []


def test_a_mutant_is_convicted_around_a_scenario(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command line takes a scenario's name, and writes what breaks under it."""
    monkeypatch.chdir(tmp_path)
    command = ["check", "quickstart", "--explore", "--runs", "200", "--json"]
    assert main([*command, "--mutant", "cursor_before_send"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["scenario"] == "quickstart"
    (violation,) = found["violations"]
    folder = Path(violation["file"]).parent
    assert folder.name == f"quickstart-{violation['property']}"
    assert {"scenario.toml", "decisions.json", "test_find.py", "story.txt", "sequence.mmd"} <= {
        path.name for path in folder.iterdir()
    }
    capsys.readouterr()
    assert main(["replay", str(folder), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["repeated"] is True
    done = run_pytest(folder.absolute())
    assert "1 failed" in done.stdout, done.stdout + done.stderr


class _Raising(OrderingCore):
    def step(self, event):  # type: ignore[no-untyped-def]
        if type(event).__name__ == "SendFailed":
            raise TypeError("found None")
        return super().step(event)


def test_an_exception_of_a_core_is_a_violation() -> None:
    """What a core raises ends the run with a violation that names it."""
    explorer = Explorer(link="ordering", cores={"ordering": _Raising})
    report = explore(explorer, Exploring(runs=400), Corpus())
    (row,) = report.violating[0].trial.violations
    assert row.property == "the_core_raises_protocol_errors_only"
    assert "found None" in row.says


class _Endless(OrderingCore):
    def step(self, event):  # type: ignore[no-untyped-def]
        while True:
            pass


def test_a_core_that_does_not_come_back_is_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's core that never returns has its own limit, and its own property."""
    monkeypatch.setenv(TIMEOUT_VARIABLE, "0.5")
    explorer = Explorer(link="ordering", cores={"ordering": _Endless})
    found = explorer.run(0, ())
    assert [row.property for row in found.trial.violations] == ["a_core_answers"]
    assert "has not come back from a call within 0.5 s of CPU" in found.trial.violations[0].says


def test_a_run_that_does_not_end_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    """What never ends in our own part of a run is convicted by a limit of real time."""
    monkeypatch.setattr(run_module, "RUN_SECONDS_MAX", 1)
    monkeypatch.setattr(OrderingCore, "step", _Endless.step)
    found = Explorer(link="ordering").run(0, ())
    assert [row.property for row in found.trial.violations] == ["a_run_ends"]
    assert found.trial.violations[0].says == "the run has not ended after 1 s of work"


def test_a_corpus_is_kept_and_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second command begins with what the first one has kept, and reaches at least as much."""
    monkeypatch.chdir(tmp_path)
    command = ["check", "ordering", "--explore", "--runs", str(RUNS), "--corpus", "kept", "--json"]
    assert main(command) == 0
    first = json.loads(capsys.readouterr().out)
    kept = Path("kept", "ordering.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(kept) > 1
    assert main(command) == 0
    second = json.loads(capsys.readouterr().out)
    assert second["coverage"]["reached"] >= first["coverage"]["reached"]
    assert (
        Path("kept", "ordering.jsonl").read_text(encoding="utf-8").splitlines()[: len(kept)] == kept
    )


def test_what_failed_last_is_run_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--last-failed` runs the violating list alone, and forgets it when it breaks nothing."""
    monkeypatch.chdir(tmp_path)
    command = ["check", "ordering", "--explore", "--json"]
    mutant = ["--mutant", "no_ordering"]
    assert main([*command, *mutant, "--runs", "200"]) == 1
    found = json.loads(capsys.readouterr().out)["violations"][0]
    assert found["shrinking_runs"] <= 300
    assert main(found["replay"].split()[1:]) == 1
    assert found["property"] in capsys.readouterr().out
    for arguments, code, runs in ((mutant, 1, 1), ([], 0, 1), ([], 0, 0)):
        assert main([*command, *arguments, "--last-failed"]) == code
        assert json.loads(capsys.readouterr().out)["runs"] == runs


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere", "--explore"], "nowhere"),
        (["ordering", "--explore", "--mutant", "nobody"], "nobody"),
        (["ordering", "--explore", "--set", "sync.sockets.count=4"], "--set: found together"),
        (["reference", "--seconds", "1"], "--seconds: found without --explore"),
        (["reference", "--master", "local[2]"], "--master: found without --explore"),
        (["ordering", "--explore", "--master", "here"], "--master: found 'here'"),
        (["ordering", "--explore", "--partitions", "2"], "found without --master"),
        (["ordering", "--explore", "--master", "local[2]", "--jobs", "2"], "--jobs: found togeth"),
        (["ordering", "--explore", "--corpus", "kept"], "expected an array of whole numbers"),
    ],
)
def test_wrong_arguments_end_with_two(
    tmp_path: Path,
    arguments: list[str],
    says: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What cannot be explored is reported with the value found and expected."""
    monkeypatch.chdir(tmp_path)
    Path("kept").mkdir()
    Path("kept", "ordering.jsonl").write_text("[1,2]\n[true]\n", encoding="utf-8")
    assert main(["check", *arguments]) == 2
    assert says in capsys.readouterr().err
