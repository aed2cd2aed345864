"""Tables and diagrams of the lifecycle, as people and programs see them."""

import json
from pathlib import Path

import pytest

from ckptsim.models.lifecycle import TaskKind, rules
from ckptsim.models.lifecycle.diagram import as_mermaid
from ckptsim.models.lifecycle.tables import as_text
from ckptsim.sim.cli.main import main
from ckptsim.sim.cli.pages.protocol_pages import HEADER, document
from tests.lifecycle.pages import DOCUMENT


def test_the_document_is_what_the_tables_give() -> None:
    """The page in the documentation equals the one made from the tables that run."""
    assert DOCUMENT.read_text() == document()


def test_the_readme_shows_the_diagram_of_the_table() -> None:
    """The picture of a source's life in the README is the one made from the table that runs."""
    readme = Path(__file__).parents[2] / "README.md"
    assert as_mermaid(TaskKind.SOURCE) in readme.read_text(encoding="utf-8")


def test_explain_prints_every_cell_of_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON of the topic has both tables, cell by cell, and the parameters of the link."""
    assert main(["explain", "final_checkpoint", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    for kind in TaskKind:
        rows = data["lifecycle"][kind.name.lower()]
        assert [tuple(row[head] for head in HEADER) for row in rows] == as_text(kind)
        assert data["diagrams"][kind.name.lower()] == as_mermaid(kind)
    assert [row["rule"] for row in data["variants"]] == [row[0] for row in rules.as_text()]
    assert any(row["path"] == "job.ending.protocol" for row in data["parameters"])


def test_explain_prints_the_tables_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    """Both tables are there, in lines that fit a wide terminal."""
    assert main(["explain", "final_checkpoint"]) == 0
    out = capsys.readouterr().out
    tables = out[: out.index("An empty event")]
    assert "Lifecycle of source tasks" in tables
    assert tables.count("WAITING_FOR_FINAL_CP") == 11
    assert max(len(line) for line in tables.splitlines()) <= 150


def test_the_diagram_has_a_transition_per_cue() -> None:
    """A source runs, waits and closes; checkpoints are loops of the waiting state."""
    lines = as_mermaid(TaskKind.SOURCE).splitlines()
    arrows = [line.split(":")[0].strip() for line in lines[1:]]
    assert arrows == [
        "[*] --> RUNNING",
        "RUNNING --> WAITING_FOR_FINAL_CP",
        "WAITING_FOR_FINAL_CP --> WAITING_FOR_FINAL_CP",
        "WAITING_FOR_FINAL_CP --> WAITING_FOR_FINAL_CP",
        "WAITING_FOR_FINAL_CP --> CLOSED",
        "CLOSED --> [*]",
    ]
    assert "finish task (drain, no drain)" in lines[2]
