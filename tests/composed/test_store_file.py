"""`ckptsim run --store FILE` keeps a composed run where DuckDB can look into it."""

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from ckptsim.models.store import Area, TopicPartition
from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_USER, main
from ckptsim.sim.store.real import DuckMedium, RunStore, StoreFileError, inspect_store
from ckptsim.sim.world import run_world


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
    """The digest is the same with and without a file, and JSON names the written data."""
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


@pytest.mark.parametrize("place", ["notes.txt/runs.duckdb", "notes.txt", "empty", "folder"])
def test_a_place_that_will_not_do_is_refused_before_the_run(
    place: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A store that cannot be written is refused before the run, and nothing changes."""
    (tmp_path / "notes.txt").write_text("not a store", encoding="utf-8")
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    monkeypatch.setattr("ckptsim.sim.search.Subject.run", None)
    assert main(["run", "pipeline", "--store", str(tmp_path / place)]) == EXIT_USER
    error = capsys.readouterr().err
    assert "expected a" in error
    assert str(tmp_path / place) in error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "folder", "notes.txt"]
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "not a store"


@pytest.mark.parametrize("schema", ["0", "2"])
def test_a_store_of_another_format_is_left_alone(
    schema: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An older or newer schema is named with the value expected. The file keeps its bytes."""
    path = tmp_path / "runs.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE store_about (name VARCHAR, value VARCHAR)")
        facts = [("schema", schema), ("duckdb", "9.9.9")]
        connection.executemany("INSERT INTO store_about VALUES (?, ?)", facts)
    before = path.read_bytes()
    for words in (["run", "pipeline", "--store", str(path)], ["store", str(path)]):
        assert main(words) == EXIT_USER
        found = f"found schema '{schema}' (written with duckdb '9.9.9'), expected schema '1'"
        assert found in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_store_that_another_process_has_open_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A store has one writer: who comes second is notified so, before the run and when looking."""
    path = tmp_path / "runs.duckdb"
    assert main(["run", "pipeline_aligned", "--store", str(path)]) == EXIT_FINE
    capsys.readouterr()
    script = (
        "import sys; from ckptsim.sim.store.real import RunStore\n"
        "store = RunStore(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == "open\n"
        for words in (["run", "pipeline_aligned", "--store", str(path)], ["store", str(path)]):
            assert main(words) == EXIT_USER
            assert "another process has this store open" in capsys.readouterr().err
        other.stdin.close()
    assert main(["store", str(path)]) == EXIT_FINE


def test_a_run_is_kept_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails while a run is being kept leaves the store as it was before."""
    path = tmp_path / "runs.duckdb"
    first = run_world(by_name("pipeline_aligned"), seed=1, keep_trace=True)
    second = run_world(by_name("pipeline"), seed=1, keep_trace=True)
    with RunStore(path) as store:
        store.keep(first)
    before = inspect_store(path).partitions

    def full_disk(*_: object) -> None:
        raise StoreFileError("the disk is full")

    monkeypatch.setattr("ckptsim.sim.store.real.typed.TypedFile.write_slots", full_disk)
    for result in (first, second):
        with RunStore(path) as store, pytest.raises(StoreFileError, match="full"):
            store.keep(result)
    assert inspect_store(path).partitions == before
