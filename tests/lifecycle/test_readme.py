"""The README shows the state diagram that the lifecycle table gives."""

from pathlib import Path

from ckptsim.models.lifecycle import TaskKind
from ckptsim.models.lifecycle.diagram import as_mermaid

ROOT = Path(__file__).parent.parent.parent


def test_the_readme_shows_the_diagram_of_the_table() -> None:
    """The picture of a source's life in the README is the one made from the table that runs."""
    assert as_mermaid(TaskKind.SOURCE) in (ROOT / "README.md").read_text(encoding="utf-8")
