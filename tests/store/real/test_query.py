"""Questions in SQL to a store file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.cli.main import EXIT_FINE, EXIT_USER, main
from ckptsim.sim.store.real import RunStore, inspect_store
from ckptsim.sim.store.real.query import query
from ckptsim.sim.world import run_world


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store file with one run."""
    path = tmp_path_factory.mktemp("kept") / "runs.duckdb"
    with RunStore(path) as store:
        store.keep(run_world(by_name("colocated_crashes"), seed=2, keep_trace=True))
    return path


def test_checkpoints_have_a_column_per_field(kept: Path) -> None:
    """Positions and sizes in the table `checkpoints` are those of the decoded blobs."""
    names, rows = query(
        kept, "SELECT topic, part, position, blob_bytes FROM checkpoints ORDER BY ALL"
    )
    assert names == ["topic", "part", "position", "blob_bytes"]
    held = [one for one in inspect_store(kept).partitions if one.checkpoint is not None]
    assert rows == sorted(
        (one.key.topic, one.key.partition, one.checkpoint.position, one.blob_bytes)
        for one in held
        if one.checkpoint is not None
    )


def test_an_answer_is_printed_as_lines_and_as_json(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The digest of the kept run comes from the table `runs`."""
    question = "SELECT run->>'scenario' AS scenario, count(*) AS n FROM runs GROUP BY ALL"
    assert main(["store", str(kept), "--sql", question]) == EXIT_FINE
    assert capsys.readouterr().out == "scenario           n\ncolocated_crashes  1\n"
    assert main(["store", str(kept), "--sql", question, "--json"]) == EXIT_FINE
    assert json.loads(capsys.readouterr().out) == [{"scenario": "colocated_crashes", "n": 1}]


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("SELEC", "syntax error"),
        ("", "expected a question"),
        ("DELETE FROM store_rows", "read-only"),
        ("SELECT * FROM read_csv('/etc/passwd')", "file system operations are disabled"),
        ("COPY (SELECT 1) TO 'out.csv'", "file system operations are disabled"),
        ("SET enable_external_access = true", "Cannot enable external access"),
    ],
)
def test_a_question_changes_nothing_and_reads_no_other_file(
    question: str, says: str, kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong or dangerous question is refused with code 2 and what the database says."""
    before = kept.read_bytes()
    assert main(["store", str(kept), "--sql", question]) == EXIT_USER
    found = capsys.readouterr().err
    assert found.startswith("ckptsim store: --sql: ")
    assert says in found
    assert kept.read_bytes() == before
