"""The verbs run, check, hunt and replay, as a user types them."""

from __future__ import annotations

import json

import pytest

from ckptsim.scenarios.files import load, to_toml
from ckptsim.sim.cli import main
from tests.search.toy import Lose, Producer

# What `hunt` writes.
FOLDER = [
    "decisions.json",
    "scenario.toml",
    "sequence.mmd",
    "shiviz.log",
    "story.txt",
    "test_find.py",
    "trace.perfetto.json",
    "view.html",
]


@pytest.fixture
def file(toy, tmp_path, monkeypatch):
    """Write a scenario that loses an item, and work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sound.toml").write_text(to_toml(toy()))
    lossy = toy(Lose(occurrence=3), producers=(Producer(items=9),))
    (tmp_path / "lossy.toml").write_text(to_toml(lossy))
    return tmp_path


def test_run_says_how_it_ended(file, capsys):
    """People get a summary, programs get JSON with digest, key, goals, rows and the command."""
    assert main(["run", "sound.toml"]) == 0
    text = capsys.readouterr().out
    assert "3 completed" not in text
    assert "ckptsim replay sound.toml --seed 0" in text
    assert main(["run", "sound.toml", "--json", "--seed", "3", "--ties", "random"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["replay"] == "ckptsim replay sound.toml --seed 3 --ties random"
    assert len(found["digest"]) == len(found["run_key"]) == 32
    assert (found["violations"], found["goals"]) == ([], {"shop_full": 0, "never": 0})
    assert [row["checkpoint_id"] for row in found["checkpoints"]] == [0, 1, 2]


def test_a_violation_is_exit_code_one_with_its_story(file, capsys):
    """Property, instant, story and command are printed by run and by check."""
    for verb in ("run", "check"):
        assert main([verb, "lossy.toml"]) == 1
        text = capsys.readouterr().out
        assert "VIOLATED nothing_lost at " in text
        assert "counter: loses producer[0]/2" in text
        assert "replay: ckptsim replay lossy.toml --seed 0" in text


def test_parameters_can_be_set_and_are_in_the_command(file, capsys):
    """`--set` varies the scenario, and the replay command repeats it."""
    assert main(["run", "lossy.toml", "--set", "toy.producers[0].items=2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["replay"] == (
        "ckptsim replay lossy.toml --seed 0 --set 'toy.producers[0].items=2'"
    )


def test_check_as_json(file, capsys):
    """The report for programs has the runs, the finds and the goals not reached."""
    assert main(["check", "lossy.toml", "--seeds", "5", "--first", "7", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["runs"], found["first_violating_seed"]) == (1, 7)
    assert found["violations"][0]["property"] == "nothing_lost"
    assert found["missed_goals"] == ["never"]
    assert main(["check", "sound.toml", "--seeds", "5", "--ties", "random,pct:2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outcomes"] == {"completed": 5}
    assert main(["check", "sound.toml", "--seeds", "5", "--require-goals"]) == 1
    assert "not reached  shop_full, never" in capsys.readouterr().out


def test_hunt_writes_what_replay_reads(file, capsys):
    """All that was found is a folder, and its command repeats the same run from nothing else."""
    assert main(["hunt", "lossy.toml", "--out", "small/est", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["folder"], found["replay"]) == ("small/est", "ckptsim replay small/est")
    names = sorted(path.name for path in (file / "small" / "est").iterdir())
    assert names == FOLDER
    assert main(["replay", "small/est"]) == 1
    text = capsys.readouterr().out
    assert "VIOLATED nothing_lost" in text
    assert "\nrepeated: the digest is the one that was kept\n" in text
    for words in (["--seed", "1"], ["--ties", "random"], ["--set", "toy.room=3"]):
        assert main(["replay", "small/est", *words]) == 2
        assert f"{words[0]}: found together with small/est" in capsys.readouterr().err
    assert main(["hunt", "sound.toml", "--seeds", "3"]) == 0
    assert "no violation in 3 runs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("no JSON", "cannot be read as decisions"),
        ("[]", "property: found None, expected str"),
        ('{"property": "p", "says": "s", "seed": true}', "seed: found True, expected int"),
        (
            '{"property": "p", "says": "s", "seed": 1, "ties": "x", "digest": "", "cores": {}}',
            "ties: found 'x'",
        ),
    ],
)
def test_a_folder_that_is_damaged_is_refused(file, capsys, text, says):
    """Decisions that cannot be read are the user's to mend, with the file and the problem."""
    assert main(["hunt", "lossy.toml", "--out", "found"]) == 1
    (file / "found" / "decisions.json").write_text(text)
    capsys.readouterr()
    assert main(["replay", "found"]) == 2
    error = capsys.readouterr().err
    assert "found/decisions.json" in error
    assert says in error


def test_replay_says_what_does_not_repeat(file, capsys):
    """A folder with a scenario that holds by now says so, and the replay ends well."""
    assert main(["hunt", "lossy.toml", "--out", "found"]) == 1
    path = file / "found" / "scenario.toml"
    path.write_text(to_toml(load(file / "sound.toml")))
    capsys.readouterr()
    assert main(["replay", "found"]) == 0
    assert "not repeated: nothing_lost holds; scenario, program or" in capsys.readouterr().out


def test_replay_writes_story_and_pictures(file, capsys):
    """The story of one checkpoint is printed, shortened if asked, and four files hold it."""
    arguments = ["replay", "sound.toml", "--checkpoint", "producer[0]/1", "--out", "pictures"]
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert "makes item 1" in text
    assert "item 2" not in text
    names = sorted(path.name for path in (file / "pictures").iterdir())
    assert names == ["sequence.mmd", "shiviz.log", "story.txt", "trace.perfetto.json"]
    assert main(["replay", "sound.toml", "--lines", "5"]) == 0
    assert "lines left out)" in capsys.readouterr().out


def test_a_core_that_raises_is_found_shrunk_and_shown(file, capsys):
    """Someone else's exception is a violation in every verb, and the smallest file repeats it."""
    core = ["--core", "answer=tests.search.toy:Raising"]
    assert main(["hunt", "lossy.toml", *core, "--out", "small", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["found"] == "the_core_raises_protocol_errors_only"
    assert found["replay"] == "ckptsim replay small"
    for verb in ("run", "replay", "check"):
        assert main([verb, "small/scenario.toml", *core]) == 1
        assert "core answer=tests.search.toy:Raising raised KeyError: 0" in capsys.readouterr().out
    assert main(["run", "small/scenario.toml", *core, "--json"]) == 1
    assert len(json.loads(capsys.readouterr().out)["violations"]) == 1


def test_an_impure_core_is_refused_with_its_lines(file, capsys):
    """A core with a source that depends on more than the seed is refused before it runs."""
    (file / "impure_core.py").write_text("import random\n\ndef make(**_):\n    return {1}.pop()\n")
    assert main(["check", "sound.toml", "--core", "answer=impure_core:make"]) == 2
    error = capsys.readouterr().err
    assert "line 1: module random" in error
    assert "line 4: `pop` takes an arbitrary item of a set" in error


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "nothing-of-that-name"],
        ["run", "sound.toml", "--ties", "fifo"],
        ["run", "sound.toml", "--set", "toy.rooom=3"],
        ["run", "sound.toml", "--core", "no.such:core"],
        ["run", "sound.toml", "--core", "answer=no.such:core"],
        ["run", "sound.toml", "--core", "answer=tests.search.toy:Answers", "--mutant", "c"],
        ["check", "sound.toml", "--seeds", "0"],
        ["check", "sound.toml", "--ties", "random,fifo"],
        ["replay", "sound.toml", "--checkpoint", "x"],
    ],
)
def test_wrong_input_is_exit_code_two(file, capsys, arguments):
    """What the user got wrong is said in words, without a traceback."""
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error
    assert "Traceback" not in error
