"""`ckptsim run --store FILE` keeps a composed run where DuckDB can look into it."""

import json
from pathlib import Path

import pytest

from models.store import Area, TopicPartition
from scenarios.catalogue import by_name
from sim.cli.main import EXIT_FINE, EXIT_USER, main
from sim.store.real import DuckMedium, inspect_store
from sim.world import run_world


def test_the_file_has_the_store_and_every_completed_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows, positions and the job's checkpoints come back as the simulation had them."""
    path = tmp_path / "kept" / "runs.duckdb"
    assert main(["run", "pipeline", "--seed", "3", "--store", str(path)]) == EXIT_FINE
    assert f"kept in {path}" in capsys.readouterr().out
    result = run_world(by_name("pipeline"), seed=3, keep_trace=True)
    prefix = result.run.run_key[:12]
    contents = {str(one.key): one for one in inspect_store(path).partitions}
    medium = DuckMedium(path)
    try:
        stored: dict[str, bytes] = {}
        for kept in result.kept:
            key = TopicPartition(f"{prefix}-{kept.topic}", kept.partition)
            rows = medium.rows(Area.DATA, key)
            assert rows == kept.rows
            if kept.topic == "pipeline_v1":
                stored |= rows
        checkpoints = medium.rows(Area.DATA, TopicPartition(f"{prefix}-checkpoints_v1", 0))
    finally:
        medium.close()
    assert len(stored) == 200
    completed = {
        row.checkpoint_id
        for row in result.checkpoints
        if row.scope == "job" and row.status == "completed"
    }
    assert {int(name.split("/")[0]) for name in checkpoints} == completed
    state = contents[f"{prefix}-checkpoints_v1/0"].checkpoint
    assert state is not None
    assert state.position == max(completed)
    readers = [json.loads(rows) for name, rows in checkpoints.items() if "/readers/" in name]
    assert any(document["state"] for document in readers)


def test_keeping_a_run_changes_nothing_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The digest is the same with and without a file, and JSON names what was written."""
    assert main(["run", "pipeline_aligned", "--json"]) == EXIT_FINE
    plain = json.loads(capsys.readouterr().out)
    path = tmp_path / "runs.duckdb"
    assert main(["run", "pipeline_aligned", "--json", "--store", str(path)]) == EXIT_FINE
    kept = json.loads(capsys.readouterr().out)
    assert kept["digest"] == plain["digest"]
    assert len(kept["store"]) == 4
    assert "store" not in plain


def test_a_file_that_is_no_store_is_the_users_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file of another kind is left alone and named."""
    path = tmp_path / "notes.txt"
    path.write_text("not a store", encoding="utf-8")
    assert main(["run", "pipeline_aligned", "--store", str(path)]) == EXIT_USER
    assert "notes.txt" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == "not a store"
