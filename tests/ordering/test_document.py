"""The page on the ordering core: its example runs and prints what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/ordering.md"


def test_the_example_prints_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    """Each `print` of the example gives the comment that follows it."""
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(example, str(PAGE), "exec"), {})
    expected = re.findall(r"^print\(.*\n# (.*)$", example, re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == expected
    assert len(expected) == 2
