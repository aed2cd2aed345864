"""Results of the Python API: short, complete, and the same as the command line's documents."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt

import ckptsim as ck
from ckptsim._api.result import LINES_MAX, Result
from ckptsim.sim.cli.main import VERBS, main
from tests.package.own_core import Silent

ROOT = Path(__file__).parents[2]
AIRBYTE = ROOT / "tests" / "data" / "airbyte" / "source_faker.jsonl"
VECTORS = ROOT / "tests" / "data" / "vectors" / "ordering.jsonl"
UNALIGNED = "execution.checkpointing.unaligned.enabled"


@pytest.fixture(scope="module")
def run() -> ck.RunResult:
    """A run of a job on buffers."""
    return ck.run("alignment_timeout", seed=3)


@pytest.fixture(scope="module")
def compared() -> ck.WhatIf:
    """A recorded job with a change."""
    return ck.whatif("orders", set={UNALIGNED: True}, seeds=1)


@pytest.fixture(scope="module")
def results(run: ck.RunResult, compared: ck.WhatIf) -> list[Result]:
    """A result of every kind that needs neither Spark nor a server."""
    find = ck.hunt("reference", seeds=5, core={"ordering": Silent})
    assert find is not None
    return [
        run,
        compared,
        ck.check("reference", seeds=3),
        ck.check("reference", seeds=3, core={"ordering": Silent}),
        find,
        ck.replay(find),
        ck.why(run, 3),
        ck.why("orders", 12),
        ck.import_job("orders", seeds=0),
        ck.order(AIRBYTE),
        ck.conform(VECTORS),
        ck.conform(VECTORS, mutant="gaps_tolerated"),
        ck.list("crash"),
        ck.explain("reference"),
        ck.explain("slots"),
    ]


def test_every_verb_is_a_function() -> None:
    """Each verb of the command line has a function of its name, unless a shell alone needs it."""
    names = {"import": "import_job", "measure-store": "measure_store"}
    wanted = [names.get(verb, verb) for verb in VERBS if verb != "completion"]
    for name in wanted:
        assert name in ck.__all__
        assert callable(getattr(ck, name))


def test_results_are_short_and_complete(results: list[Result]) -> None:
    """Every result prints a few lines, shows a table, and has a text, a document and a plot."""
    for one in results:
        lines = repr(one).splitlines()
        assert 1 < len(lines) <= LINES_MAX, one
        assert max(map(len, lines)) <= 100, one
        assert "<table" in one._repr_html_(), one
        assert len(one.frame().columns) > 1, one
        assert json.loads(json.dumps(one.to_dict(), default=str)), one
        assert one.plot is not None
        assert one.text.strip(), one


def test_documents_are_those_of_the_command_line(
    run: ck.RunResult, compared: ck.WhatIf, capsys: pytest.CaptureFixture[str]
) -> None:
    """`to_dict` is what the verb prints with `--json`, and `text` what it prints without."""

    def told(*words: str) -> Any:
        main([*words, "--json"])
        return json.loads(capsys.readouterr().out)

    def same(one: Result) -> Any:
        return json.loads(json.dumps(one.to_dict()))

    assert told("run", "alignment_timeout", "--seed", "3") == same(run)
    words = ("whatif", "orders", "--set", f"{UNALIGNED}=true", "--seeds", "1")
    assert told(*words) == same(compared)
    check = ck.check("reference", seeds=3)
    assert told("check", "reference", "--seeds", "3") == same(check)
    main(["check", "reference", "--seeds", "3"])
    assert capsys.readouterr().out == f"{check.text}\n"
    assert told("list", "crash") == same(ck.list("crash"))


def test_a_frame_of_a_run_has_durations(run: ck.RunResult) -> None:
    """Times are timedelta64 without the unit in their name, exact, and NaT where none is known."""
    frame = run.frame()
    assert frame["duration"].dtype == np.dtype("m8[ns]")
    known = [row.duration_ns for row in run.checkpoints if row.duration_ns is not None]
    assert frame["duration"].dropna().astype("int64").tolist() == known
    assert frame["duration"].isna().sum() == len(run.checkpoints) - len(known)
    assert not [name for name in frame if name.endswith("_ns")]
    with pytest.raises(ck.UserError, match="expected one of checkpoints"):
        run.frame("nothing")


def test_figures_go_onto_given_axes(run: ck.RunResult, compared: ck.WhatIf) -> None:
    """A figure is drawn on the axes that are given, which come back. Without any on new ones."""
    plt.close("all")
    figure, axes = plt.subplots(1, 3)
    for ax, draw in zip(axes, (run.plot.durations, run.plot.barriers, compared.plot), strict=True):
        assert draw(ax=ax) is ax
        assert ax.lines or ax.patches
    assert plt.get_fignums() == [figure.number]
    own = compared.plot()
    assert plt.get_fignums() == [figure.number, own.figure.number]
    counts = [text.get_text() for text in own.texts]
    assert counts == [f"n = {row}" for row in compared.frame()["n"]]
    plt.close("all")


def test_options_have_the_names_of_the_command_line() -> None:
    """`with_` takes ends of paths, the engine's names, and vertices by name. The original stays."""
    job = ck.import_job("orders", seeds=0).scenario
    varied = job.with_(
        {UNALIGNED: True}, interval=timedelta(seconds=5), **{"vertices.enrich.state": "20 GB"}
    )
    assert varied.job.checkpointing.interval_ns == 5_000_000_000
    assert varied.job.checkpointing.unaligned
    assert sum(varied.job.vertices[-1].subtask_state_bytes) == 20_000_000_000
    assert not job.job.checkpointing.unaligned
    with pytest.raises(ck.ScenarioError, match="intervall"):
        job.with_(intervall="5 s")
    with pytest.raises(ck.UserError, match="expected a SyncModel"):
        _ = job.sync


def test_a_changed_scenario_says_how_to_repeat_its_runs(tmp_path: Path) -> None:
    """A scenario from a file remembers it and the settings since, so that commands name both."""
    path = tmp_path / "mine.toml"
    path.write_text(ck.dumps(ck.load("reference")))
    changed = ck.load(path).with_(**{"sync.sockets.count": 3}).with_(**{"sync.sockets.count": 1})
    replay = ck.run(changed, seed=2).run.replay
    assert replay == f"ckptsim replay {path} --seed 2 --set sync.sockets.count=1"


def test_a_scenario_of_python_is_checked() -> None:
    """Model classes make a scenario that runs. A wrong value is refused with its place."""
    model = ck.model
    job = model.Job(
        vertices=(
            model.Vertex(name="source", kind=model.VertexKind.SOURCE, records=20),
            model.Vertex(name="sink", inputs=(model.Input(upstream="source"),)),
        )
    )
    mine = ck.Scenario(name="mine", link="barrier_protocol", says="two vertices", model=job)
    assert ck.run(mine).run.outcome == "completed"
    assert ck.loads(ck.dumps(mine)) == mine
    with pytest.raises(ck.ScenarioError, match="Scenario: name"):
        ck.Scenario(name="", link="barrier_protocol", says="none", model=job)
    with pytest.raises(ck.ScenarioError, match="expected a SyncModel"):
        ck.Scenario(name="mine", link="ordering", says="none", model=job)


def test_replay_repeats_a_find_and_its_folder(tmp_path: Path) -> None:
    """A find is reported again as it is, and from the folder that it was saved in."""
    find = ck.hunt("reference", seeds=30, mutant="no_ordering")
    assert find is not None
    told = ck.replay(find)
    assert find.property in {row.property for row in told.result.violations}
    again = ck.replay(find.save(tmp_path / "found"))
    assert again.repeats
    assert again.result.run.digest == told.result.run.digest
    assert (ck.replay(ck.check("reference", seeds=1, mutant="no_ordering"))).result.violations
    with pytest.raises(ck.UserError, match="without a violation"):
        ck.replay(ck.check("reference", seeds=1))
