"""The notebooks of `examples`: runs their cells in order, as a notebook does, and keeps outputs.

`python -m tests.package.notebooks` writes the outputs again. Review the difference.  A cell is run
in one namespace with the cells before it.  Its output is what it prints, the value of its last
expression as text and, where it has one, as HTML, and the figures that it leaves open.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples"
NOTEBOOKS = tuple(sorted(path.name for path in FOLDER.glob("*.ipynb")))
_DPI = 64
# What differs from run to run though nothing is wrong: seconds that passed.
_PASSED = re.compile(r"(?<=of this call in )[0-9.]+ s")


def read(name: str) -> dict[str, Any]:
    """Return a notebook."""
    found: dict[str, Any] = json.loads((FOLDER / name).read_text("utf-8"))
    return found


def executed(sources: list[str]) -> list[list[dict[str, Any]]]:
    """Run code cells in order in one namespace, here. Return the outputs of each.

    Raises what a cell raises.
    """
    plt.switch_backend("Agg")
    space: dict[str, Any] = {"__name__": "__main__"}
    return [_outputs(source, space) for source in sources]


def _outputs(source: str, space: dict[str, Any]) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        last = ast.Expression(tree.body.pop().value)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(tree, "cell", "exec"), space)
        value = None if last is None else eval(compile(last, "cell", "eval"), space)
    found: list[dict[str, Any]] = []
    if out.getvalue():
        found.append({"output_type": "stream", "name": "stdout", "text": _lines(out.getvalue())})
    if value is not None:
        found.append(_result(value))
    return [*found, *_figures()]


def _result(value: object) -> dict[str, Any]:
    data = {"text/plain": _lines(repr(value))}
    html = getattr(value, "_repr_html_", None)
    if html is not None:
        data["text/html"] = _lines(html())
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}


def _figures() -> list[dict[str, Any]]:
    """Return the figures that are open, and close them."""
    found = []
    for number in plt.get_fignums():
        buffer = io.BytesIO()
        plt.figure(number).savefig(buffer, dpi=_DPI, metadata={"Software": None})
        picture = base64.b64encode(buffer.getvalue()).decode()
        data = {"image/png": picture, "text/plain": ["<Figure>"]}
        found.append({"output_type": "display_data", "data": data, "metadata": {}})
    plt.close("all")
    return found


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def code_of(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the code cells of a notebook."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def texts_of(outputs: list[dict[str, Any]]) -> list[str]:
    """Return what outputs say as text, and which kinds of pictures are among them."""
    found = []
    for one in outputs:
        data = one.get("data", {})
        text = "".join(one.get("text", data.get("text/plain", [])))
        found.append(_PASSED.sub("… s", text))
        found += sorted(kind for kind in data if kind != "text/plain")
    return found


def run(name: str, folder: Path) -> list[list[dict[str, Any]]]:
    """Run a notebook in a fresh process, in a folder of its own. Return the outputs per code cell.

    Raises RuntimeError with the traceback when a cell fails.
    """
    sources = ["".join(cell["source"]) for cell in code_of(read(name))]
    done = subprocess.run(
        [sys.executable, "-m", "tests.package.notebooks", "--cells"],
        input=json.dumps([str(folder), sources]),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    found: list[list[dict[str, Any]]] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Write the outputs of every notebook, or run cells that come in on standard input."""
    if sys.argv[1:2] == ["--cells"]:
        folder, sources = json.loads(sys.stdin.read())
        os.chdir(folder)
        print(json.dumps(executed(sources)))
        return
    for name in sys.argv[1:] or NOTEBOOKS:
        notebook = read(name)
        with tempfile.TemporaryDirectory() as place:
            found = run(name, Path(place))
        for cell, outputs in zip(code_of(notebook), found, strict=True):
            cell["outputs"] = outputs
        (FOLDER / name).write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
