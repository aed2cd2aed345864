"""One language of options: paths of ours and the engine's names, in every verb that sets one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest

from ckptsim.scenarios import Scenario, ScenarioError
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.files import load
from ckptsim.scenarios.job import Job, Mode
from ckptsim.scenarios.planning import plan_from, points, with_parameters
from ckptsim.sim.cli.main import main
from ckptsim.sim.infer.change import axis_of, changed, parameters_of
from ckptsim.sim.world import run_world
from tests.recording.folders import SHIPPED

FIELD = Path(__file__).parents[1] / "data" / "field" / "jobs"
Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def job() -> Scenario:
    """Return a source and a keyed operator of two subtasks."""
    return load(FIELD / "none-completed.toml")


def _job(scenario: Scenario, *words: str) -> Job:
    parameters = parameters_of(scenario, words)
    return cast("Job", with_parameters(scenario, parameters).model)


@pytest.mark.parametrize(
    "words",
    [
        ["execution.checkpointing.interval=3 min 59 s"],
        ["job.checkpointing.interval=239 s"],
        ["job.checkpointing.interval_ns=239000000000"],
        ["interval=3 min 59 s"],
        ["execution.checkpointing.interval=239000"],
    ],
)
def test_an_interval_has_several_names(job: Scenario, words: list[str]) -> None:
    """The engine's name, our path in either form, and the last key of it set the same."""
    assert _job(job, *words).checkpointing.interval_ns == 239_000_000_000


@pytest.mark.parametrize(
    "change",
    [
        {"execution.checkpointing.unaligned.enabled": "true", "parallelism.default": "3"},
        {"vertex.keyed.parallelism": "4", "source.source.rate": "25 /s"},
        {"taskmanager.memory.segment-size": "64 kb", "vertex.keyed.state": "3 GB"},
        {"execution.buffer-timeout.interval": "10 ms", "job.vertices[keyed].service": "2 ms"},
    ],
)
def test_paths_come_to_what_the_options_come_to(job: Scenario, change: dict[str, str]) -> None:
    """What `run` sets by paths is the scenario that `whatif` compares."""
    words = [f"{option}={value}" for option, value in change.items()]
    found = with_parameters(job, parameters_of(job, words))
    assert found == changed(job, change)
    assert found != job


@pytest.mark.parametrize(
    ("name", "word", "says"),
    [
        ("job", "execution.checkpointing.intervall=1s", 'mean "execution.checkpointing.interval"?'),
        ("job", "execution.checkpointing.interval=soon", "a duration such as 500 ms"),
        ("job", "service=1 ms", '"job.vertices[source].service", "job.vertices[keyed].service"'),
        ("job", "service=1 ms", 'or all of them: "job.vertices[*].service"'),
        ("job", "intervall=1 s", 'did you mean "interval"?'),
        ("job", "checkpointing.enabeld=1", "an option that the simulation knows"),
        ("job", "parallelism=2", '"parallelism.default"'),
        (
            "job",
            "vertex.kyed.state=1 GB",
            'expected one of "source", "keyed", did you mean "keyed"',
        ),
        ("job", "nonsense=1", "an option that the simulation knows, or a path such as"),
        ("reference", "records=1", 'of 2, expected one of "sync.streams[0].records", '),
        ("reference", "nonsense=1", "a path that begins with one of name, link, says, goals"),
        ("reference", "parallelism.default=2", "only jobs have the engine's options"),
    ],
)
def test_an_option_that_is_not_known_is_refused(
    job: Scenario, name: str, word: str, says: str
) -> None:
    """With the value expected, and with the known names where there are some."""
    with pytest.raises(ScenarioError) as caught:
        parameters_of(job if name == "job" else by_name(name), [word])
    assert says in str(caught.value)


def test_an_option_of_the_engine_is_an_axis_of_a_sweep(job: Scenario) -> None:
    """Also where one of the values is the one of the scenario.

    One of several parameters is none.
    """
    path, values = axis_of(job, "execution.checkpointing.interval", ["1 min", "5 s"])
    assert (path, values) == ("job.checkpointing.interval", ("1 min", "5 s"))
    path, values = axis_of(job, "execution.checkpointing.unaligned", ["true", "false"])
    assert values == ("unaligned", "aligned")
    with pytest.raises(
        ScenarioError, match=r"found values that set .*, expected values of one parameter$"
    ):
        axis_of(job, "parallelism.default", ["2", "3"])


def test_a_plan_names_vertices(tmp_path: Path) -> None:
    """A grid has paths with names, and shows the problem at its own place."""
    place = str(FIELD / "none-completed.toml")
    grid: dict[str, list[object]] = {"job.vertices[keyed].parallelism": [1, 2]}
    found = points(plan_from({"name": "p", "scenario": place, "grid": grid}, source="p.toml"))
    counts = [cast("Job", one.scenario.model).vertices[1].parallelism for one in found]
    assert counts == [1, 2]
    grid["job.vertices[keyed].parallelism"].append(0)
    with pytest.raises(
        ScenarioError, match=r'grid."job.vertices\[keyed\].parallelism"\[2\]: found 0'
    ):
        points(plan_from({"name": "p", "scenario": place, "grid": grid}, source="p.toml"))


def test_verbs_take_both_languages_and_say_how_to_repeat_a_run(capsys: Captured) -> None:
    """The replay command of a run has paths of ours, and gives the same run."""
    place = str(FIELD / "none-completed.toml")
    words = ["--set", "execution.checkpointing.interval=5s", "--set", "job.duration=12 s"]
    assert main(["run", place, *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["run"]["checkpoints_completed"] == 2
    assert 'job.checkpointing.interval_ns="5 s"' in found["replay"]
    assert main(["check", place, *words, "--seeds", "1"]) == 0
    assert main(["explain", place, *words, "--changed"]) == 0
    assert "* interval_ns  5 s" in capsys.readouterr().out


def test_a_run_without_judgement_has_the_same_tables() -> None:
    """What `advise` and `whatif` leave out decides nothing of a run, with failures or without."""
    for scenario in (by_name("recovery_in_its_time"), load(FIELD / "advice.toml")):
        judged, other = (run_world(scenario, seed=3, judged=one) for one in (True, False))
        judged.violations.clear()
        assert other == judged


def test_a_run_that_is_all_warm_up_is_made_longer(capsys: Captured) -> None:
    """It agrees with `run`, and says how long it was simulated. A count is as the file has it."""
    words = ["whatif", str(FIELD / "none-completed.toml"), "--seeds", "1"]
    assert main([*words, "--vary", "job.machine.cores=2,40", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for one in (found["baseline"], *found["variants"]):
        assert one["predicted"]["end_to_end_duration_ms"]["median"] == pytest.approx(1518, abs=2)
    assert any("simulated for 6 min instead of 2 min" in note for note in found["notes"])
    assert main([*words, "--set", "job.checkpointing.count=2"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "2 of 2 left out as warm-up" in said
    assert "2 of 2 completed checkpoints left out as warm-up; raise job.checkpointing.count" in said


def test_recordings_are_not_made_longer(capsys: Captured) -> None:
    """A recorded job has a number of checkpoints, and its answer no such note."""
    assert main(["whatif", str(SHIPPED / "job00"), "--set", "interval=500 ms", "--seeds", "1"]) == 0
    assert "instead of" not in capsys.readouterr().out


def test_modes_are_known_by_their_last_key(job: Scenario) -> None:
    """`mode` is the one of checkpoints."""
    assert _job(job, "mode=unaligned").checkpointing.mode is Mode.UNALIGNED


def test_a_verb_takes_several_values_one_after_the_other(tmp_path: Path, capsys: Captured) -> None:
    """Each combination is run with its heading and a folder of its own. The worst code counts."""
    place, out = str(FIELD / "none-completed.toml"), tmp_path / "out"
    words = ["--set", "job.duration=12 s", "--vary", "interval=2 s,5 s"]
    assert main(["run", place, *words, "--vary", "job.machine.cores=2,4"]) == 0
    found = capsys.readouterr()
    assert found.err.splitlines()[2] == "3: interval=5 s, job.machine.cores=2"
    assert found.out.count("checkpoints  5 completed") == 2
    assert found.out.count("checkpoints  2 completed") == 2
    assert main(["replay", place, *words, "--out", str(out)]) == 0
    assert [one.name for one in sorted(out.iterdir())] == ["1", "2"]
    assert main(["check", place, "--vary", "interval=0 s,5 s", "--seeds", "1"]) == 2
    assert "found" in capsys.readouterr().err
    assert main(["run", place, "--vary", "interval"]) == 2
    assert "expected OPTION=VALUE" in capsys.readouterr().err


@pytest.mark.spark
def test_a_scenario_is_swept_without_a_plan(tmp_path: Path, capsys: Captured) -> None:
    """Values of both languages are axes. The settings holds at all points, and is no axis."""
    place, out = str(FIELD / "none-completed.toml"), tmp_path / "out"
    words = ["sweep", place, "--set", "job.duration=12 s", "--vary", "interval=2 s,5 s"]
    assert main([*words, "--set", "interval=9 s", "--out", str(out)]) == 2
    assert "which is swept already" in capsys.readouterr().err
    more = [
        "--vary",
        "job.vertices[keyed].state=1 GB,2 GB",
        "--seeds",
        "1",
        "--json",
        "--no-report",
    ]
    assert main([*words, *more, "--out", str(out), "--master", "local[1]"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == 4
