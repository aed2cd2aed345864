"""Writes docs/lifecycle.md again: `python -m tests.lifecycle.pages`."""

from __future__ import annotations

from pathlib import Path

from ckptsim.sim.cli.pages.protocol_pages import document

DOCUMENT = Path(__file__).parents[2] / "docs" / "lifecycle.md"

if __name__ == "__main__":
    DOCUMENT.write_text(document())
