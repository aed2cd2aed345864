"""The GitHub Action, the hook for pre-commit, and the container files."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from ckptsim.sim.cli.main import VERBS, main

ROOT = Path(__file__).parents[2]
BESIDE = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def steps() -> list[str]:
    """Return the scripts of the steps of the action."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    found = re.findall(r"      run: \|\n((?:        .*\n|\n)+)", text)
    return [textwrap.dedent(one) for one in found]


def test_the_action_checks_a_core_and_annotates_what_breaks(tmp_path: Path) -> None:
    """The action ends with 1 where a core breaks, and its annotation names the property."""
    check, annotate = steps()
    given = {"SCENARIO": "reference", "SEEDS": "2", "SECONDS_TO_EXPLORE": "", "JUNIT": "out.xml"}
    (tmp_path / "broken.py").write_text("from tests.package.own_core import Silent as Core\n")
    env = {**BESIDE, **given, "CORE": "broken:Core", "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    script = ["bash", "-e", "-o", "pipefail", "-c"]
    done = subprocess.run([*script, check], cwd=tmp_path, env=env, capture_output=True, check=False)
    assert done.returncode == 1, done.stderr
    told = subprocess.run(
        [*script, annotate], cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    assert re.match(r"::error title=reference::\w+: .*replay: ckptsim replay", told.stdout)


def test_the_hook_refuses_a_file_that_does_not_load(tmp_path: Path) -> None:
    """The hook takes several files, and fails where one of them is no scenario."""
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    entry = shlex.split(re.search(r"entry: (.*)", text)[1])  # type: ignore[index]
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    shutil.copy(ROOT / "scenarios/library/ordering/quickstart.toml", good)
    bad.write_text('name = "bad"\n')
    for files, code in (([good], 0), ([good, bad], 2)):
        done = subprocess.run([*entry, *files], env=BESIDE, capture_output=True, check=False)
        assert done.returncode == code, done.stderr


@pytest.mark.parametrize("name", ["Dockerfile", "Dockerfile.spark"])
def test_a_container_installs_from_the_index_alone(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A container needs nothing but its base and pip, runs as a user, and its example is a verb."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert re.findall(r"^FROM (.*)$", text, re.MULTILINE) == ["python:3.12-slim"]
    assert not re.search(r"curl|wget|apt-get|ADD http", text)
    assert text.index("USER ckptsim") < text.index("ENTRYPOINT")
    extras = re.search(r"/src\[([\w,]+)\]", text)
    assert extras is not None
    known = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert all(re.search(rf"^{one} = \[", known, re.MULTILINE) for one in extras[1].split(","))
    example = re.search(r"ckptsim(?:-spark)? (run|demo)", text)
    assert example is not None
    assert example[1] in VERBS
    assert main(["--help"]) == 0
    assert example[1] in capsys.readouterr().out
