"""The notebooks of `examples`: each runs from top to bottom, and its outputs are still true."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from matplotlib import pyplot as plt
from pyspark.sql import SparkSession

from tests.package.notebooks import NOTEBOOKS, code_of, executed, read, texts_of


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_says_what_it_shows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every cell gives the text that is kept with it, and all take less than two minutes of CPU."""
    assert SparkSession.getActiveSession() is not None  # which a sweep uses: it opens no other
    monkeypatch.chdir(tmp_path)
    began_s = time.process_time()
    cells = code_of(read(name))
    found = executed(["".join(cell["source"]) for cell in cells])
    assert time.process_time() - began_s < 120
    for cell, outputs in zip(cells, found, strict=True):
        assert texts_of(outputs) == texts_of(cell["outputs"]), "".join(cell["source"])
    plt.close("all")


def test_the_notebooks_read_like_tutorials() -> None:
    """There are three, and each begins with a title and has text before every few cells."""
    assert len(NOTEBOOKS) == 3
    for name in NOTEBOOKS:
        cells = read(name)["cells"]
        assert cells[0]["cell_type"] == "markdown"
        assert cells[0]["source"][0].startswith("# ")
        kinds = "".join(cell["cell_type"][0] for cell in cells)
        assert "ccc" not in kinds
