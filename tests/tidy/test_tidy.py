"""The source as a whole: lengths, words, banned calls and tools."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ckptsim.sim.kernel.purity import impurities
from ckptsim.sim.kernel.purity.check import Rule
from tests.kernel.declared_sets import sets_declared

ROOT = Path(__file__).parents[2]
FOLDERS = ("models", "scenarios", "sim", "analysis")
SOURCES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
SOURCES += sorted((ROOT / "src" / "ckptsim").glob("*.py"))
API = sorted(
    path for name in ("_api", "testing") for path in (ROOT / "src" / "ckptsim" / name).rglob("*.py")
)
SETS = sets_declared(path.read_text(encoding="utf-8") for path in SOURCES)
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))

FUNCTION_LINES_MAX = 60
FILE_LINES_MAX = 400
# A folder with more modules than this wants folders of its own. `__init__.py` does not count.
FOLDER_FILES_MAX = 14

# What a stranger's clone does not have: machine paths and package indexes.  In parts, because this
# file is read too.
FORBIDDEN = [
    re.compile(pattern)
    for pattern in (
        r"(?<![\w.\-}/])/" + r"work\b",
        r"\.\./" + r"shared\b",
        r"/(?:ro" + r"ot|ho" + r"me)/\w",
        r"py" + r"pi\.org|python" + r"hosted\.org",
        r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b",
    )
]
# Text that is not ours: recordings, vectors, and the locked list of packages.
FOREIGN = ("tests/data/", "requirements.lock")

# Files that reach outside a run on purpose, and which rules they are free of.
OUTSIDE_ON_PURPOSE: dict[str, frozenset[Rule]] = {
    # The fence names all that it guards.
    "sim/kernel/fence.py": frozenset({Rule.CLOCK, Rule.RANDOM, Rule.OUTSIDE}),
    # Starts the processes in which runs take place.
    "sim/search/check.py": frozenset({Rule.OUTSIDE}),
    # The environment names a module with more mutants, which a run is given by name.
    "sim/mutants/registry.py": frozenset({Rule.OUTSIDE}),
    # Starts processes, too, and ends when its seconds are over.
    "sim/search/explore/explore.py": frozenset({Rule.CLOCK, Rule.OUTSIDE}),
    "sim/search/shrink.py": frozenset({Rule.CLOCK}),  # for how long to shrink
    # Asks whether it is in a main thread, where alone a run can be limited.
    "sim/limits.py": frozenset({Rule.OUTSIDE}),
    "sim/validate/predict.py": frozenset({Rule.OUTSIDE}),
    # Waits for the answers of programs, and gives up in time.
    "sim/slots/process/program.py": frozenset({Rule.CLOCK, Rule.OUTSIDE}),
    # Measures a core's call, in a main thread alone, by a limit that its processes have, too.
    # Starts the shell that says which core has ended the process.
    "sim/slots/guest.py": frozenset({Rule.CLOCK, Rule.OUTSIDE}),
    # How the kernel is compiled and where it is kept. Either way it gives the same run.
    "sim/job/buffers/compiled/jit.py": frozenset({Rule.OUTSIDE}),
    "sim/job/buffers/compiled/kept.py": frozenset({Rule.OUTSIDE}),
    # Names of a real store have to differ between real processes.
    "sim/store/real/duck.py": frozenset({Rule.RANDOM}),
    # Makes global random generators raise in the workers.
    "analysis/spark/daemon.py": frozenset({Rule.RANDOM}),
}
# Folders outside of runs: they measure time, start processes, read the environment.
OUTSIDE_OF_RUNS = (
    "sim/cli/",
    "sim/capture/",
    "analysis/",
    "sim/order.py",
    "sim/store/real/",
    "sim/validate/",
)


def _relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _texts() -> Iterator[Path]:
    """Yield every text file of the project, as a clone has them."""
    for path in sorted(ROOT.rglob("*")):
        name = _relative(path)
        hidden = name != ".gitignore" and name.startswith(".") and not name.startswith(".ci/")
        made = name.startswith(("out/", "build/")) or "__pycache__" in name or ".egg-info" in name
        if path.is_file() and not hidden and not made and not name.startswith(FOREIGN):
            yield path


def _run(*command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_linter_finds_nothing():
    """Ruff's rules hold everywhere."""
    _run("ruff", "check", "--no-cache", ".")


def test_the_formatter_changes_nothing():
    """Every file is formatted."""
    _run("ruff", "format", "--no-cache", "--check", ".")


def test_imports_follow_the_contracts():
    """The folders import in one direction, and models touch nothing of the world."""
    program = "import sys; from importlinter.cli import lint_imports_command as c; sys.exit(c())"
    done = subprocess.run(
        [sys.executable, "-c", program, "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_types_are_strict():
    """Mypy, as strict as it gets, finds nothing."""
    _run("mypy")


@pytest.mark.parametrize("path", [*SOURCES, *API], ids=_relative)
def test_files_and_functions_are_short(path):
    """No function is longer than 60 lines, no file longer than 400."""
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= FILE_LINES_MAX
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            assert lines <= FUNCTION_LINES_MAX, f"{node.name} has {lines} lines"


def test_imports_stand_together():
    """No module imports anything after the imports that are for type checkers alone."""
    late = []
    for path in (*SOURCES, *TESTS):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        kinds = [type(node) for node in body if not isinstance(node, ast.Expr)]
        checked = next((i for i, kind in enumerate(kinds) if kind is ast.If), len(kinds))
        late += [path for kind in kinds[checked:] if kind in (ast.Import, ast.ImportFrom)]
    assert [_relative(path) for path in late] == []


def test_folders_are_small():
    """No folder of sources or tests holds more modules than one takes in at a glance."""
    tests = (path for path in (ROOT / "tests").rglob("*.py") if "data" not in path.parts)
    counts = Counter(
        path.parent.relative_to(ROOT).as_posix()
        for path in (*SOURCES, *API, *tests)
        if path.name != "__init__.py"
    )
    assert {name: count for name, count in counts.items() if count > FOLDER_FILES_MAX} == {}


@pytest.mark.parametrize("path", SOURCES, ids=_relative)
def test_a_run_depends_on_nothing_but_its_seed(path):
    """No source iterates over a set for effect or asks for hashes, ids, clocks, random numbers."""
    name = _relative(path)
    rules = set(Rule) - OUTSIDE_ON_PURPOSE.get(name, frozenset())
    if name.startswith(OUTSIDE_OF_RUNS):
        rules -= {Rule.CLOCK, Rule.OUTSIDE}
    found = impurities(path.read_text(encoding="utf-8"), sorted(rules), sets_elsewhere=SETS)
    assert not found, "; ".join(map(str, found))


@pytest.mark.parametrize("path", SOURCES, ids=_relative)
def test_only_the_command_line_prints(path):
    """Anyone who lifts a core or the kernel out gets no output from it."""
    if _relative(path).startswith("sim/cli/"):
        return
    calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if _is_print(node)]
    assert not calls


def _is_print(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("print", "breakpoint", "input")
    )


def test_no_text_counts_nanoseconds() -> None:
    """No text that the program makes has a number of nanoseconds: people get ms, s or min."""
    told = re.compile(r"f(['\"]).*\} ?(?:ns|nanoseconds)\b")
    found = [path.name for path in SOURCES if told.search(path.read_text(encoding="utf-8"))]
    assert found == []


@pytest.mark.parametrize("path", TESTS, ids=_relative)
def test_each_test_says_what_must_hold(path):
    """Every test has a docstring that is a sentence."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            says = ast.get_docstring(node) or ""
            assert says.partition("\n")[0].endswith((".", ",", ":", ";")) or "\n" in says, node.name
            assert says, node.name


def test_nothing_names_a_machine_or_an_index():
    """No file has a path of the machine it was written on, an index, or a note to come back."""
    found = [
        f"{_relative(path)}:{number}: {line.strip()[:100]}"
        for path in _texts()
        if path.suffix in (".py", ".md", ".toml", ".html", ".sh", ".yml", "", ".cfg", ".txt")
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), start=1)
        if any(pattern.search(line) for pattern in FORBIDDEN)
    ]
    assert found == []


def test_the_door_for_machines_is_that_of_users():
    """What the continuous build runs of this project is `make test` and nothing else."""
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    tools = re.compile(r"\b(make|python3?|pip|pytest|ckptsim|ruff|mypy)\b")
    commands = [line for line in lines if tools.search(line) and not line.startswith("#")]
    assert commands == ['make test 2>&1 | tee "$log" || status=$?']


def _outside_of_make() -> dict[str, str]:
    """Return the environment without what a `make` that runs these tests shows another one."""
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
    }


def _recipe_of_test() -> str:
    """Return the command of `make test`, with this interpreter, as if the set-up was done."""
    words = ["make", "--dry-run", "--old-file=.venv/.installed", "test"]
    told = subprocess.run(
        words, cwd=ROOT, env=_outside_of_make(), capture_output=True, text=True, check=True
    ).stdout
    return told.strip().replace(".venv/bin/python", sys.executable)


@pytest.mark.parametrize(
    ("body", "code", "closing"),
    [
        ("assert True", 0, r"=+ 1 passed in [\d.]+s =+"),
        ("assert False", 2, r"=+ 1 failed in [\d.]+s =+"),
    ],
)
def test_the_build_ends_with_the_runner_s_closing_line(tmp_path, body, code, closing):
    """The last line of the build says how many tests passed and failed. Its exit code is make's."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    (tmp_path / "Makefile").write_text(f"test:\n\t@{_recipe_of_test()} -p no:cacheprovider\n")
    (tmp_path / "test_one.py").write_text(f"def test_one():\n    {body}\n")
    done = subprocess.run(
        [tmp_path / ".ci" / "run"],
        cwd="/",
        env=_outside_of_make(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert re.fullmatch(closing, done.stdout.splitlines()[-1]), done.stdout


def test_a_build_without_tests_says_so(tmp_path):
    """Where the set-up fails there is no closing line, and the last line says that."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    (tmp_path / "Makefile").write_text("test:\n\t@false\n")
    done = subprocess.run(
        [tmp_path / ".ci" / "run"],
        cwd="/",
        env=_outside_of_make(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout.splitlines()[-1] == "the tests were not run to their end"
