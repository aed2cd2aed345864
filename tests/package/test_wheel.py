"""The wheel, installed into a fresh environment, beside folders of a user's own with our names.

The environment has what the package requires and nothing else: of the packages of this one only
those that `dependencies` names are linked into it, so that nothing has to be downloaded.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from dataclasses import dataclass
from importlib.metadata import files, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import ckptsim

ROOT = Path(__file__).parents[2]
FOLDERS = ("models", "scenarios", "sim", "analysis")
SOURCES = ("src", *FOLDERS, "pyproject.toml", "README.md", "LICENSE", "NOTICE")
NOT_SHIPPED = shutil.ignore_patterns("__pycache__", "*.egg-info")

# A user's project: four folders with our names, which must not be taken for ours.
TRAP = "raise RuntimeError(f'{__name__} of the user was taken for one of ckptsim')\n"
OWN_CORES = '''"""Cores of the user's own."""

from ckptsim.cores import ordering


def make_core(parameters):
    """Make the core of ckptsim."""
    return ordering.make_core(parameters)


class Refusing(ordering.OrderingCore):
    """Takes no event."""

    def step(self, event):
        """Raise what no core may raise."""
        raise RuntimeError("the core of the user's folder was asked")
'''
OWN_TEST = '''"""A test of the user's own."""

import pytest


@pytest.mark.ckptsim("ordering", runs=3)
@pytest.mark.parametrize("name", ["make_core", "Refusing"])
def test_core(survives, name):
    survives(f"models.mine:{name}")
'''


@dataclass(frozen=True, slots=True)
class Installed:
    """The environment with the package, the wheel that it came from, and the user's project."""

    python: Path
    wheel: Path
    project: Path

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the environment's Python in the user's project."""
        kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
        return subprocess.run(
            [self.python, *words],
            cwd=self.project,
            env=kept,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Build the wheel from a copy of the sources, and install it."""
    place = tmp_path_factory.mktemp("installed")
    wheel = _built(place)
    _pip("venv", "--without-pip", str(place / "env"))
    python = place / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    _link_requirements(python)
    pip = ("pip", "--python", str(python), "install", "--quiet", "--no-index", "--no-deps")
    _pip(*pip, "--disable-pip-version-check", str(wheel))
    return Installed(python, wheel, _project(place / "project"))


def _built(place: Path) -> Path:
    source = _copied(place / "source")
    options = ("--no-build-isolation", "--no-deps", "--no-index", "--quiet")
    _pip("pip", "wheel", *options, "--wheel-dir", str(place / "wheels"), str(source))
    (wheel,) = (place / "wheels").iterdir()
    return wheel


def _copied(source: Path) -> Path:
    """Copy what a checkout has of the package, and return where it is."""
    source.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            # Links stay links: setuptools has to follow them, as in a checkout.
            shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=NOT_SHIPPED)
        else:
            shutil.copy(ROOT / name, source / name)
    return source


def _pip(*words: str) -> None:
    # What lies on that path, such as a checkout that was installed in place, counts as there.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stdout + done.stderr


def _link_requirements(python: Path) -> None:
    """Link what `dependencies` names, with its metadata, into the environment."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    _link(python, [Requirement(line).name for line in project["dependencies"]])


def _link(python: Path, names: list[str]) -> None:
    (there,) = (python.parents[1] / "lib").glob("python*/site-packages")
    for name in names:
        listed = files(name) or []
        tops = {
            file.parts[0]: [place := Path(str(file.locate())), *place.parents][len(file.parts) - 1]
            for file in listed
        }
        for top, place in sorted(tops.items()):
            if top not in ("..", "__pycache__"):
                (there / top).symlink_to(place)


def _project(folder: Path) -> Path:
    for name in FOLDERS:
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("" if name == "models" else TRAP)
    (folder / "models" / "ordering.py").write_text(TRAP)
    (folder / "models" / "mine.py").write_text(OWN_CORES)
    return folder


def test_the_wheel_has_every_file_and_no_link(installed: Installed) -> None:
    """The wheel holds each source, scenario, plan and template once, as a plain file."""
    with zipfile.ZipFile(installed.wheel) as wheel:
        names = [name for name in wheel.namelist() if ".dist-info/" not in name]
        kinds = {info.external_attr >> 28 for info in wheel.infolist()}
    assert len(names) == len(set(names))
    assert 0o12 not in kinds  # a link
    wanted = {
        f"ckptsim/{path.relative_to(ROOT).as_posix()}"
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix in (".py", ".toml", ".html", ".css", ".properties")
    }
    own = {f"ckptsim/{path.name}" for path in (ROOT / "src" / "ckptsim").glob("*.py")}
    assert wanted | own | {"ckptsim/py.typed"} <= set(names)


def test_the_license_is_shipped(installed: Installed, tmp_path: Path) -> None:
    """Wheel and sdist carry the Apache License and name it in their metadata."""
    license_text = (ROOT / "LICENSE").read_text("utf-8")
    assert "Apache License" in license_text
    with zipfile.ZipFile(installed.wheel) as wheel:
        base = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        assert "License-Expression: Apache-2.0\n" in wheel.read(base).decode()
        shipped = base.replace("METADATA", "licenses/LICENSE")
        assert wheel.read(shipped).decode() == license_text
    source = installed.wheel.parents[1] / "source"
    program = "import sys; from setuptools.build_meta import build_sdist; build_sdist(sys.argv[1])"
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = tmp_path.iterdir()
    with tarfile.open(made) as sdist:
        top = made.name.removesuffix(".tar.gz")
        file = sdist.extractfile(f"{top}/LICENSE")
        assert file is not None
        assert file.read().decode() == license_text


def test_only_what_is_required_is_there(installed: Installed) -> None:
    """The environment is one without the optional packages, and has the version of the sources."""
    done = installed.run(
        "-c",
        "import ckptsim, importlib.metadata as m; print(m.version('ckptsim'), ckptsim.__file__)",
    )
    version, place = done.stdout.split()
    assert version == ckptsim.__version__
    assert Path(place).is_relative_to(installed.python.parents[1])
    assert "ModuleNotFoundError" in installed.run("-c", "import pandas").stderr


def test_the_package_runs_beside_folders_of_its_names(installed: Installed) -> None:
    """`import ckptsim` beside `models`, `sim`, `scenarios` and `analysis` gives our runs."""
    program = "import ckptsim; print(ckptsim.run('{}').run.digest)"
    for name in ("reference", "alignment_timeout", "pipeline", "external_crashes"):
        done = installed.run("-c", program.format(name))
        assert done.stdout.split() == [ckptsim.run(name).run.digest], done.stderr


def test_the_command_runs_beside_folders_of_its_names(installed: Installed) -> None:
    """`python -m ckptsim` and the script `ckptsim` run there, too."""
    script = installed.python.with_name("ckptsim")
    for words in (("-m", "ckptsim"), (str(script),)):
        done = installed.run(*words, "run", "reference", "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["digest"] == ckptsim.run("reference").run.digest
        assert installed.run(*words, "check", "reference", "--seeds", "5").returncode == 0
        assert "upload_latency" in installed.run(*words, "list", "upload").stdout


def test_a_core_in_a_folder_of_our_name_is_the_user_s(installed: Installed) -> None:
    """`--core models....` means the module in the user's own folder `models`, not one of ours."""
    words = ("-m", "ckptsim", "run", "reference", "--json", "--core")
    right = installed.run(*words, "models.mine:make_core")
    assert right.returncode == 0, right.stderr
    assert json.loads(right.stdout)["digest"] == ckptsim.run("reference").run.digest
    wrong = installed.run(*words, "models.mine:Refusing")
    assert wrong.returncode == 1, wrong.stderr
    (violation,) = json.loads(wrong.stdout)["violations"]
    assert "the core of the user's folder was asked" in violation["says"]


def test_the_plugin_is_there_with_the_extra(installed: Installed) -> None:
    """With pytest and Hypothesis the fixture convicts a user's core, found by its entry point."""
    wanted = ["-c", "import ckptsim.testing as t; t.scenarios"]
    assert "pip install 'ckptsim[testing]'" in installed.run(*wanted).stderr
    _link(installed.python, ["pytest", "hypothesis", *_needs("pytest"), *_needs("hypothesis")])
    assert installed.run(*wanted).returncode == 0
    (installed.project / "test_mine.py").write_text(OWN_TEST)
    done = installed.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py")
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "core ordering=models.mine:Refusing broke the_core_raises_protocol" in done.stdout


def _needs(name: str) -> list[str]:
    """Return what a distribution requires here, without what extras add."""
    found = [Requirement(line) for line in requires(name) or []]
    return [each.name for each in found if each.marker is None or each.marker.evaluate()]


def test_what_needs_an_extra_says_so(installed: Installed) -> None:
    """Without the extras, their verbs name the command that installs them and end with 2."""
    for words, extra in (("sweep upload_latency", "sweeps"), ("store a.duckdb", "store")):
        done = installed.run("-m", "ckptsim", *words.split())
        assert (done.returncode, done.stdout) == (2, "")
        assert f"pip install 'ckptsim[{extra}]'" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("extra", "commands"),
    [
        ("", ("new job.toml", "run job.toml", "whatif orders --failure join --seeds 1")),
        ("[sweeps]", ("sweep upload_latency --seeds 1 --out out/uploads --master local[2]",)),
    ],
)
def test_pip_installs_a_checkout_from_an_index(
    extra: str, commands: tuple[str, ...], tmp_path: Path
) -> None:
    """`pip install .` and `pip install '.[sweeps]'` give a new environment with commands that run.

    The package index decides the versions within the ranges, as it does for a user.
    """
    source, env = _copied(tmp_path / "source"), tmp_path / "env"
    _pip("venv", str(env))
    quiet = ("install", "--quiet", "--disable-pip-version-check", "--no-compile")
    subprocess.run([env / "bin/python", "-m", "pip", *quiet, f"{source}{extra}"], check=True)
    home = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    for command in ("doctor", *commands):
        words = [env / "bin" / "ckptsim", *command.split()]
        done = subprocess.run(
            words, cwd=tmp_path, env=home, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
