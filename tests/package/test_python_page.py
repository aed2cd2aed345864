"""The page on the Python API: every block runs, in order, and prints what the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ckptsim
from tests.package.python_page import PAGE, blocks, outputs


@pytest.mark.spark
def test_every_block_prints_what_the_page_shows(tmp_path: Path) -> None:
    """The output of each block is the text after it. A block without one prints nothing."""
    text, found = PAGE.read_text("utf-8"), blocks()
    assert len(found) == text.count("```python") > 8
    assert sum(bool(shown) for _, shown in found) == text.count("```text") > 8
    told = outputs([block for block, _ in found], tmp_path)
    for (block, shown), printed in zip(found, told, strict=True):
        assert printed == shown, block


def test_the_page_names_every_function() -> None:
    """Each public function and module of `ckptsim` has its place on the page."""
    text = PAGE.read_text("utf-8")
    for name in ckptsim.__all__:
        if name.islower() and name != "__version__":
            assert re.search(rf"\b(?:ck|ckptsim)\.{name}\b", text), name
