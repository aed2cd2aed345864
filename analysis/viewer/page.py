"""One self-contained page from the data of one run, or of two: template, style and scripts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ckptsim.analysis.templates import style, template

# In the order in which they need each other.
MODULES = ("format", "model", "layout", "state", "diagram", "app")
_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=const|class|function)", re.MULTILINE)


def view_page(documents: Sequence[Mapping[str, Any]]) -> str:
    """Return the page of one run, or of two beside each other, as from `document`.

    Raises ValueError for another number of runs.
    """
    if len(documents) not in (1, 2):
        raise ValueError(f"documents: found {len(documents)}, expected one or two")
    parts = {
        "STYLE": style("view"),
        "DATA": _embedded(documents),
        "SCRIPT": bundled([template(f"view/{name}.js") for name in MODULES]),
    }
    return re.sub(r"@(STYLE|DATA|SCRIPT)@", lambda found: parts[found[1]], template("view.html"))


def bundled(modules: Sequence[str]) -> str:
    """Return modules as one script: they import each other alone, and share their names."""
    return "".join(_EXPORT.sub("", _IMPORT.sub("", module)) for module in modules)


def _embedded(documents: Sequence[Mapping[str, Any]]) -> str:
    """Return data as JSON that no browser takes for the end of the script around it."""
    text = json.dumps(documents, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c")
