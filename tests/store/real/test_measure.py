"""Measured costs reach the model: the written data into the file is what every run with it uses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ckptsim._api.sweeps.asked import with_costs
from ckptsim.models.store import StepContent
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.composed import Pipeline
from ckptsim.scenarios.errors import ScenarioError
from ckptsim.scenarios.files import cost_parameters, costs_text, load_costs
from ckptsim.scenarios.planning import all_plans, plan_from, points, scenarios_of, with_parameters
from ckptsim.scenarios.store import StepCosts, StoreModel
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_USER, main
from ckptsim.sim.store.costs import local_ns
from ckptsim.sim.store.real.measure import Measurement, costs_of

GIVEN = {"transaction_ns": 77_000_000, "flush_ns": 33_000_000, "flush_bytes_per_s": 12_345_678}


def _file(folder: Path, costs: dict[str, int] | None = None) -> Path:
    path = folder / "costs.toml"
    path.write_text(costs_text(costs or GIVEN, {"machine": "a test"}), encoding="utf-8")
    return path


def test_measured_costs_are_those_that_the_file_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every measured cost is in the file, and is one of the model's parameters."""
    out = tmp_path / "deep" / "costs.toml"
    words = ["measure-store", "--repeats", "3", "--rounds", "2", "--json", "--out", str(out)]
    assert main(words) == EXIT_FINE
    document = json.loads(capsys.readouterr().out)
    for row in document["measurements"]:
        assert row["n"] >= 3
        assert 0 < row["fastest_round_ns"] <= row["median_ns"] <= row["slowest_round_ns"]
    assert load_costs(out) == document["costs"]
    assert set(document["costs"]) == set(StepCosts.__slots__) - {"remote_ns", "remote_ns_p99"}


def _measurements(costs: StepCosts) -> list[Measurement]:
    """Return what a machine with exactly these costs would show."""
    sizes = [(1, 100), (100, 100), (1000, 100), (10_000, 100)]
    named: dict[str, tuple[int, int, int]] = {
        "checkpoint": (1, 0, local_ns(costs, StepContent.CHECKPOINT, rows=1, size_bytes=0)),
        "fsync": (0, 0, costs.fsync_ns),
    }
    for kind, part in (("transaction", StepContent.BOTH), ("flush", StepContent.DATA)):
        for rows, size in [*sizes, *([(1000, 4096)] if kind == "flush" else [])]:
            name = "flush_wide" if size > 100 else f"{kind}_{rows}"
            lasts = local_ns(costs, part, rows=rows, size_bytes=rows * size)
            named[name] = (rows, size, lasts)
    return [
        Measurement(
            name=name,
            says=name,
            rows=rows,
            row_bytes=size,
            n=3,
            median_ns=ns,
            p95_ns=ns,
            fastest_round_ns=ns,
            slowest_round_ns=ns,
        )
        for name, (rows, size, ns) in named.items()
    ]


def test_the_model_charges_what_was_measured() -> None:
    """From measurements of a machine with known costs these costs come out, bytes charged once."""
    costs = StepCosts(
        transaction_ns=10_000_000,
        transaction_row_ns=9_000,
        flush_ns=9_700_000,
        flush_row_ns=5_000,
        flush_bytes_per_s=20_000_000,
        wal_ns=90_000,
        fsync_ns=110_000,
    )
    found = costs_of(_measurements(costs))
    for name in ("transaction_ns", "transaction_row_ns", "flush_ns", "wal_ns", "fsync_ns"):
        assert found[name] == pytest.approx(getattr(costs, name), rel=0.01), name
    for name in ("flush_row_ns", "flush_bytes_per_s"):
        assert found[name] == pytest.approx(getattr(costs, name), rel=0.01), name


def test_the_costs_beside_the_documents_are_read() -> None:
    """The measured costs that figures in the documents use are a file of costs like any other."""
    costs = load_costs(Path(__file__).parents[3] / "docs" / "costs" / "two-core-vm.toml")
    assert set(costs) == set(StepCosts.__slots__) - {"remote_ns", "remote_ns_p99"}


@pytest.mark.parametrize("name", ["external_crashes", "pipeline_external"])
def test_both_worlds_take_the_file(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A store alone and a pipeline run with the same file, and their replay commands repeat it."""
    words = ["run", name, "--costs", str(_file(tmp_path)), "--json"]
    assert main(words) == EXIT_FINE
    found = json.loads(capsys.readouterr().out)
    path = "store.costs" if name == "external_crashes" else "pipeline.store.costs"
    scenario = with_parameters(by_name(name), {f"{path}.{k}": v for k, v in GIVEN.items()})
    model = scenario.model
    assert isinstance(model, StoreModel | Pipeline)
    costs = model.costs if isinstance(model, StoreModel) else model.store.costs
    assert (costs.transaction_ns, costs.flush_bytes_per_s) == (77_000_000, 12_345_678)
    assert f"{path}.flush_ns=33000000" in found["replay"]
    assert main(["run", name, "--json"]) == EXIT_FINE
    assert json.loads(capsys.readouterr().out)["digest"] != found["digest"]


def test_what_is_set_by_hand_wins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A parameter of `--set` overrides the file's."""
    words = ["run", "external_crashes", "--costs", str(_file(tmp_path)), "--json"]
    assert main([*words, "--set", "store.costs.flush_ns=1 ms"]) == EXIT_FINE
    assert 'store.costs.flush_ns=\\"1 ms' in capsys.readouterr().out.replace("'", "")


def test_a_sweep_takes_the_file_at_all_points(tmp_path: Path) -> None:
    """Costs become overrides of a plan, except for a cost that the plan itself sweeps."""
    plan = plan_from(
        {
            "name": "p",
            "says": "p",
            "scenario": "external_crashes",
            "grid": {"store.costs.flush_ns": ["1 ms", "2 ms"]},
        },
        source="p",
    )
    found = points(with_costs(plan, load_costs(_file(tmp_path))))
    models = [point.scenario.model for point in found]
    assert all(isinstance(model, StoreModel) for model in models)
    assert [m.costs.flush_ns for m in models] == [1_000_000, 2_000_000]  # type: ignore[attr-defined]
    assert {m.costs.transaction_ns for m in models} == {77_000_000}  # type: ignore[attr-defined]


def test_a_plan_with_costs_of_its_own_takes_the_file(tmp_path: Path) -> None:
    """Measured costs replace what a plan sets for all points, whichever key it has it by."""
    costs = load_costs(_file(tmp_path))
    for plan in all_plans():
        if {s.link for s in scenarios_of(plan)} == {"checkpoint_store"}:
            models = [point.scenario.model for point in points(with_costs(plan, costs))]
            assert {m.costs.transaction_ns for m in models} == {77_000_000}, plan.name  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "an empty file"),
        ("[costs]\ntransactoin = '1 ms'", 'did you mean "transaction"'),
        ("[costs]\ntransaction = '1 kB'", "costs.transaction"),
        ("[costs]\ntransaction = 3", "a text with a unit"),
        ("costs = 3", "a table of costs"),
        ("[measured]\nmachine = 'x'", "a table of costs"),
        ("[cost]\nflush = '1 ms'", "an unknown table"),
    ],
)
def test_a_wrong_file_is_the_users(
    text: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Everything that is wrong in a file of costs is named with its place."""
    path = tmp_path / "costs.toml"
    path.write_text(text, encoding="utf-8")
    assert main(["run", "external_crashes", "--costs", str(path)]) == EXIT_USER
    error = capsys.readouterr().err
    assert says in error
    assert "costs.toml" in error


def test_a_scenario_without_a_store_takes_no_costs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The links that have a store are named."""
    assert main(["run", "reference", "--costs", str(_file(tmp_path))]) == EXIT_USER
    assert "one with a store, of 'checkpoint_store', 'composed'" in capsys.readouterr().err
    with pytest.raises(ScenarioError):
        cost_parameters(GIVEN, "barriers")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--folder", "/no/such/folder"], "expected a folder"),
        (["--repeats", "1"], "from 3 to 10000"),
        (["--rounds", "0"], "from 1 to 100"),
    ],
)
def test_wrong_arguments_are_the_users(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder or number that will not do is refused with the value expected."""
    assert main(["measure-store", *words]) == EXIT_USER
    assert says in capsys.readouterr().err
