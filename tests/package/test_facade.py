"""What `import ckptsim` offers: cheap to import, and the same runs as the command line's."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ckptsim
from ckptsim.models.ordering import OrderingCore
from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim import kernel
from ckptsim.sim.cli.main import EXIT_FINE, main
from ckptsim.sim.world import run_world
from tests.package.own_core import Silent

SOURCE = Path(ckptsim.__file__)
HEAVY = ("simpy", "numpy", "pandas", "pyarrow", "pyspark", "matplotlib", "duckdb")


def fresh(program: str) -> list[str]:
    """Run a program in a fresh interpreter and return the lines that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_importing_costs_next_to_nothing() -> None:
    """`import ckptsim` and looking around load no library and no part of the program."""
    (loaded,) = fresh(
        "import sys, ckptsim\n"
        "dir(ckptsim), ckptsim.__version__, ckptsim.__all__\n"
        f"found = [name for name in sys.modules if name.split('.')[0] in {HEAVY!r}]\n"
        "print(found + [name for name in sys.modules if name.startswith('ckptsim.')])"
    )
    assert loaded == "[]"


def test_scenarios_need_no_library() -> None:
    """Loading, looking up and varying scenarios load neither SimPy nor numpy."""
    (loaded,) = fresh(
        "import sys, ckptsim\n"
        "ckptsim.vary(ckptsim.library()['reference'], {'sync.sockets.count': 1})\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    assert loaded == "[]"


def test_people_and_type_checkers_see_the_same_names() -> None:
    """Each public name comes from where the stub for type checkers says, and none is missing."""
    imports = ast.parse(SOURCE.with_suffix(".pyi").read_text("utf-8")).body[:-1]
    wanted: dict[str, str | None] = {}
    for node in imports:
        assert isinstance(node, ast.ImportFrom)
        assert [alias.asname for alias in node.names] == [alias.name for alias in node.names]
        wanted |= {alias.name: node.module for alias in node.names}
    assert wanted == ckptsim._HOMES
    assert {*wanted, "__version__"} == set(ckptsim.__all__)
    assert dir(ckptsim) == sorted(ckptsim.__all__)
    for name in ckptsim.__all__:
        assert getattr(ckptsim, name).__doc__


def test_an_unknown_name_is_refused() -> None:
    """A name that is not there raises AttributeError, as of any module."""
    with pytest.raises(AttributeError, match="no attribute 'simulate'"):
        ckptsim.simulate  # type: ignore[attr-defined]  # noqa: B018


def test_the_library_is_a_mapping() -> None:
    """The library has every scenario under its name, in order, and no others."""
    library = ckptsim.library()
    assert list(library) == sorted(library)
    assert len(library) == len(list(library)) > 100
    assert library["reference"] == by_name("reference") == ckptsim.load("reference")
    assert "no such" not in library
    with pytest.raises(KeyError, match="no such"):
        library["no such"]


def test_scenarios_are_loaded_from_files_and_texts(tmp_path: Path) -> None:
    """A path, its text and a name give scenarios. The problem is reported with its place."""
    text = 'name = "mine"\nlink = "ordering"\nsays = "a sync of one record"\n'
    path = tmp_path / "mine.toml"
    path.write_text(text)
    assert ckptsim.load(path) == ckptsim.load(str(path)) == ckptsim.loads(text)
    with pytest.raises(ckptsim.ScenarioError, match='here: link: found "order"'):
        ckptsim.loads('name = "a"\nlink = "order"', source="here")
    with pytest.raises(ckptsim.UserError, match=r"did you mean.*reference"):
        ckptsim.load("referense")


def test_varying_leaves_the_original_alone() -> None:
    """Parameters are set in a new scenario, with units as in files. A wrong one is refused."""
    base = ckptsim.load("reference")
    varied = ckptsim.vary(base, {"sync.sockets.count": 1, "faults[0].at": "3 ms"})
    assert varied.model.sockets.count == 1  # type: ignore[attr-defined]
    assert varied.faults[0].at_ns == 3_000_000  # type: ignore[attr-defined]
    assert base == ckptsim.load("reference") != varied
    assert ckptsim.vary("reference", {}) == base
    with pytest.raises(ckptsim.ScenarioError, match="count"):
        ckptsim.vary(base, {"sync.sockets.coumt": 1})


def test_a_run_is_the_run_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The same scenario, seed and ties give the same run row as `ckptsim run --json`."""
    result = ckptsim.run("reference", seed=7, ties="random", keep_trace=True)
    assert main(["run", "reference", "--seed", "7", "--ties", "random", "--json"]) == EXIT_FINE
    told = json.loads(capsys.readouterr().out)
    assert told["digest"] == result.run.digest
    assert told["replay"] == result.run.replay
    assert len(told["checkpoints"]) == len(result.checkpoints)
    assert result.trace
    again = ckptsim.run(ckptsim.load("reference"), seed=7, ties="random")
    assert (again.run, again.trace) == (result.run, [])
    assert isinstance(result.run, ckptsim.RunRow)
    assert all(isinstance(row, ckptsim.CheckpointRow) for row in result.checkpoints)


def test_a_violation_has_its_story() -> None:
    """A mutant's violation is a row with the story and the command, with and without a trace."""
    report = ckptsim.check("reference", seeds=50, mutant="no_ordering")
    assert not report.passed
    trial = report.unexpected[0]
    for keep_trace in (False, True):
        result = ckptsim.run(
            "reference",
            seed=trial.seed,
            ties=trial.ties,
            mutant="no_ordering",
            keep_trace=keep_trace,
        )
        assert result.violations == list(trial.violations)
        assert result.violations[0].story
        assert bool(result.trace) is keep_trace


def test_a_core_of_the_user_s_takes_its_slot() -> None:
    """A factory, or the text that names it, is run instead of ours, and the rows say which."""
    own = {"ordering": Silent}
    broken = ckptsim.run("reference", cores=own)
    assert broken.violations
    assert json.loads(broken.run.cores) == {"ordering": f"{Silent.__module__}:Silent"}
    assert broken.run.replay.endswith(f"--core ordering={Silent.__module__}:Silent")
    named = ckptsim.run("reference", cores={"ordering": f"{Silent.__module__}:Silent"})
    assert (named.run, named.violations) == (broken.run, broken.violations)
    right = ckptsim.check("reference", seeds=5, cores={"ordering": OrderingCore})
    assert right.passed
    assert right.digest == ckptsim.check("reference", seeds=5).digest
    assert not ckptsim.check("reference", seeds=20, cores=own, jobs=2).passed
    assert ckptsim.hunt("reference", seeds=3, cores=own) is not None


def test_a_core_that_does_not_fit_is_refused() -> None:
    """A slot that the link has not, and a factory that cannot travel, are the user's errors."""
    with pytest.raises(ckptsim.UserError, match="found slot 'handler'"):
        ckptsim.run("reference", cores={"handler": Silent})

    def inner(parameters):
        return Silent(parameters)

    with pytest.raises(ckptsim.UserError, match="other processes can import"):
        ckptsim.check("reference", cores={"ordering": inner}, jobs=2)


def test_seeds_and_ties_of_a_check() -> None:
    """Seeds are a number or a range, ties one policy or several. Progress is reported."""
    seen: list[int] = []
    many = ckptsim.check(
        "reference", seeds=range(3, 9), ties=("random", "pct"), progress=seen.append
    )
    assert (many.passed, many.runs, many.seeds) == (True, 6, range(3, 9))
    assert (many.ties, seen) == (("random", "pct"), list(range(1, 7)))
    assert ckptsim.check("reference", seeds=2, ties="structural").ties == ("structural",)
    in_processes = ckptsim.check("reference", seeds=range(3, 9), ties=("random", "pct"), jobs=2)
    assert in_processes.digest == many.digest
    with pytest.raises(ckptsim.UserError, match="ties: found 'odd'"):
        ckptsim.check("reference", ties="odd")


def test_a_hunt_ends_with_the_smallest_scenario() -> None:
    """What a hunt finds breaks the named property. Where nothing is wrong it finds nothing."""
    find = ckptsim.hunt("reference", seeds=30, mutant="no_ordering")
    assert find is not None
    small, trial = find.shrunk.scenario, find.shrunk.trial
    result = ckptsim.run(small, seed=trial.seed, ties=trial.ties, mutant="no_ordering")
    assert find.property in {row.property for row in result.violations}
    assert ckptsim.hunt("reference", seeds=3) is None


def test_the_kernel_and_the_cores_are_those_that_run() -> None:
    """`ckptsim.kernel` and `ckptsim.cores` name the classes of the simulator, not copies."""
    assert ckptsim.kernel.Environment is kernel.Environment
    assert set(ckptsim.kernel.__all__) == set(kernel.__all__)
    assert ckptsim.cores.ordering.OrderingCore is OrderingCore
    for name in ckptsim.cores.__all__:
        assert getattr(ckptsim.cores, name).__doc__


def test_a_run_of_an_unfit_scenario_is_refused() -> None:
    """Ties, names and mutants that are not there are the user's errors."""
    for named in ({"ties": "odd"}, {"mutant": "no_such_mutant"}):
        with pytest.raises(ckptsim.UserError, match="found"):
            ckptsim.run("reference", **named)  # type: ignore[arg-type]
    assert run_world(by_name("reference"), seed=0).run == ckptsim.run("reference").run


@pytest.mark.long
def test_a_type_checker_knows_what_a_user_gets(tmp_path: Path) -> None:
    """Strict mypy sees the types of results, cores and kernel, and refuses a name that is not."""
    script = tmp_path / "script.py"
    script.write_text(
        "import ckptsim\n"
        "from ckptsim.kernel import Environment\n"
        "from ckptsim.model import Input, Job, Vertex, VertexKind\n"
        "pair = Job(vertices=(Vertex(name='a', kind=VertexKind.SOURCE),"
        " Vertex(name='b', inputs=(Input(upstream='a'),))))\n"
        "job = ckptsim.Scenario(name='m', link='barriers', says='two', model=pair)\n"
        "found = ckptsim.sweep(job.with_(interval='5 s'), vary={'mode': ['aligned']})\n"
        "reveal_type(job.with_({'mode': 'aligned'}).job.checkpointing.interval_ns)\n"
        "reveal_type(found.frame())\n"
        "reveal_type(ckptsim.whatif(job, failure=True).plot)\n"
        "reveal_type(ckptsim.run('reference').run.digest)\n"
        "reveal_type(ckptsim.check('reference').passed)\n"
        "reveal_type(Environment(1).now)\n"
        "ckptsim.simulate('reference')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), script.name],
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": str(SOURCE.parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    told = [line.partition(": ")[2] for line in done.stdout.splitlines()]
    assert told[:7] == [
        'note: Revealed type is "int"',
        'note: Revealed type is "pandas.core.frame.DataFrame"',
        'note: Revealed type is "ckptsim._api.jobs.plots.WhatIfPlots"',
        'note: Revealed type is "str"',
        'note: Revealed type is "bool"',
        'note: Revealed type is "int"',
        'error: Module has no attribute "simulate"  [attr-defined]',
    ]
