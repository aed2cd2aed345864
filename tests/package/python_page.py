"""The page on the Python API: runs its blocks, and writes what they print into it again.

`python -m tests.package.python_page` writes docs/python.md. Review the difference.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ckptsim.sim.infer.folder import RECORDINGS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "python.md"
_BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
# Runs the blocks in one namespace, as a reader does, and prints a list of what each printed.
_READER = """
import contextlib, io, json, sys
space, told = {"__name__": "example"}, []
for number, block in enumerate(json.loads(sys.stdin.read())):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(block, f"block {number}", "exec"), space)
    told.append(out.getvalue())
print(json.dumps(told))
"""


def blocks() -> list[tuple[str, str]]:
    """Return each block of the page with the output that the page shows for it, or nothing."""
    return _BLOCK.findall(PAGE.read_text("utf-8"))


def outputs(programs: list[str], folder: Path) -> list[str]:
    """Run the blocks one after the other in a fresh interpreter. Return what each prints.

    folder: where they run, with the recording that the page speaks of.
    Raises RuntimeError with the traceback when one fails.
    """
    shutil.copytree(RECORDINGS / "orders", folder / "recorded")
    done = subprocess.run(
        [sys.executable, "-c", _READER],
        input=json.dumps(programs),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    found: list[str] = json.loads(done.stdout)
    return found


def main() -> None:
    """Write the page with what its blocks print now, where it shows that."""
    found = blocks()
    with tempfile.TemporaryDirectory() as folder:
        told = iter(outputs([block for block, _ in found], Path(folder)))

    def again(match: re.Match[str]) -> str:
        block = f"```python\n{match[1]}```"
        shown = next(told)
        return f"{block}\n\n```text\n{shown}```" if match[2] is not None else block

    PAGE.write_text(_BLOCK.sub(again, PAGE.read_text("utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
