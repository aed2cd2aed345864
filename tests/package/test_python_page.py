"""The page on the Python API: every block runs, in order, and prints what the page shows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ckptsim

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "python.md"
# Runs the blocks in one namespace, as a reader does, and prints a list of what each printed.
READER = """
import contextlib, io, json, sys
space, told = {"__name__": "example"}, []
for number, block in enumerate(json.loads(sys.stdin.read())):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(block, f"block {number}", "exec"), space)
    told.append(out.getvalue())
print(json.dumps(told))
"""


@pytest.mark.spark
def test_every_block_prints_what_the_page_shows(tmp_path: Path) -> None:
    """The output of each block is the text behind it; a block without one prints nothing."""
    text = PAGE.read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, re.DOTALL)
    assert len(blocks) == text.count("```python") > 8
    assert sum(bool(shown) for _, shown in blocks) == text.count("```text") > 8
    done = subprocess.run(
        [sys.executable, "-c", READER],
        input=json.dumps([block for block, _ in blocks]),
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for (block, shown), told in zip(blocks, json.loads(done.stdout), strict=True):
        assert told == shown, block


def test_the_page_names_every_function() -> None:
    """Each public function and module of `ckptsim` has its place on the page."""
    text = PAGE.read_text("utf-8")
    for name in ckptsim.__all__:
        if name.islower() and name != "__version__":
            assert re.search(rf"\bckptsim\.{name}\b", text), name
