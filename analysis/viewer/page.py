"""One self-contained page from the data of one run, or of two: template, style and scripts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ckptsim.analysis.templates import rendered, script, style

# In the order in which they need each other.
MODULES = ("format", "model", "layout", "graph", "state", "diagram", "app")


def view_page(documents: Sequence[Mapping[str, Any]]) -> str:
    """Return the page of one run, or of two beside each other, as from `document`.

    Raises ValueError for another number of runs.
    """
    if len(documents) not in (1, 2):
        raise ValueError(f"documents: found {len(documents)}, expected one or two")
    return rendered(
        "view.html",
        title="a run of ckptsim",
        style=style("view"),
        data=_embedded(documents),
        script=script(MODULES),
    )


def _embedded(documents: Sequence[Mapping[str, Any]]) -> str:
    """Return data as JSON that no browser takes for the end of the script around it."""
    text = json.dumps(documents, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c")
