"""The examples of the kernel's page run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "kernel.md"


def test_the_examples_of_the_page_run():
    """Each Python block of the page runs, and what it asserts holds."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), {"__name__": "example"})
