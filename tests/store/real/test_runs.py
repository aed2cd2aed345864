"""Runs that are kept in a store file can be inspected, and say what the simulation said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ckptsim.models.store import Area, TopicPartition
from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_USER, main
from ckptsim.sim.store.real import DuckMedium, RunStore, inspect_store
from ckptsim.sim.world import run_world


@pytest.mark.parametrize("name", ["colocated_crashes", "group_outage", "external_unhooked"])
def test_kept_runs_hold_what_the_simulated_store_held(name: str, tmp_path: Path) -> None:
    """Rows, positions and checkpoints of a run come back from the file. Twice is like once."""
    result = run_world(by_name(name), seed=2, keep_trace=True)
    path = tmp_path / "runs.duckdb"
    for _ in range(2):
        with RunStore(path) as store:
            written = store.keep(result)
    contents = {each.key: each for each in inspect_store(path).partitions}
    assert sorted(contents) == sorted(written)
    prefix = result.run.run_key[:12]
    medium = DuckMedium(path)
    try:
        for kept in result.kept:
            key = TopicPartition(f"{prefix}-{kept.topic}", kept.partition)
            assert medium.rows(Area.DATA, key) == kept.rows
            state = contents[key].checkpoint
            assert state is not None
            assert state.position == 2001 if name == "colocated_crashes" else state.position > 0
        about = medium.rows(Area.DATA, TopicPartition(f"{prefix}-run_v1", 0))
    finally:
        medium.close()
    assert json.loads(about["run"])["digest"] == result.run.digest
    names = [each for each in about if each.startswith("checkpoint/")]
    assert len(names) == len(result.checkpoints)


def test_runs_without_details_keep_nothing_of_their_stores() -> None:
    """A run of a sweep does not carry the contents of its stores."""
    assert run_world(by_name("colocated_crashes"), seed=2).kept == []


def test_the_verb_shows_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`ckptsim store` lists partitions with positions, as text and as JSON."""
    path = tmp_path / "runs.duckdb"
    with RunStore(path) as store:
        store.keep(run_world(by_name("colocated_crashes"), seed=2, keep_trace=True))
    assert main(["store", str(path)]) == EXIT_FINE
    assert "s_v1/1" in capsys.readouterr().out
    assert main(["store", str(path), "--json"]) == EXIT_FINE
    document = json.loads(capsys.readouterr().out)
    assert len(document["partitions"]) == 3
    assert main(["store", str(tmp_path / "none.duckdb")]) == EXIT_USER
    assert "no such file" in capsys.readouterr().err
