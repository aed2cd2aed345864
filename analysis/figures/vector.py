"""A figure as SVG inside a page: text as text, colours of the page, values that a pointer finds."""

from __future__ import annotations

import io
import re
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from ckptsim.analysis.figures.style import GREY, GRID, INK, SETTINGS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TOLD = "told:"
# A colour of the figure -> its name in the page's style sheet. All others stay in the dark.
_THEME = {INK: "--ink", GRID: "--grid", GREY: "--soft", "#ffffff": "--paper", "#000000": "--ink"}
_FONT = re.compile(r"font-family: [^;\"]*; ")  # the page's style sheet has it once
_NO_TURN = re.compile(r' transform="rotate\(-0 [^"]*"')
_NAMED = re.compile(r'(id="|xlink:href="#|url\(#)([^")]+)')


def tell(ax: Axes, x: float, y: float, text: str) -> None:
    """Let a pointer at this place of the data show a text."""
    ax.plot(
        [x], [y], "o", ms=9, mew=0, color=INK, alpha=0, gid=_TOLD + quote(text), zorder=9,
        label="_told",
    )  # fmt: skip


def inline(figure: Figure, prefix: str, title: str) -> str:
    """Return a figure as an `<svg>` element with a prefix on all names.

    title: the text for readers who cannot see it.
    """
    import matplotlib as mpl

    buffer = io.StringIO()
    settings = {**SETTINGS, "svg.fonttype": "none", "savefig.transparent": True}
    with mpl.rc_context(settings):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r' id="(?:figure|axes|patch|text|line2d|matplotlib|xtick|ytick|legend|'
                  r'\w*Collection)[\w.]*_\d+"', "", text)  # fmt: skip
    text = re.sub(rf'id="{_TOLD}([^"]*)"', _mark, text)
    text = _NAMED.sub(lambda found: f"{found[1]}{prefix}-{found[2]}", text)
    text = _NO_TURN.sub("", _FONT.sub("", text))
    for color, name in _THEME.items():
        text = re.sub(color, f"var({name})", text, flags=re.IGNORECASE)
    head, rest = text.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    width = re.search(r'width="([\d.]+)pt"', head)
    found_box, found_width = box[0] if box else "", width[1] if width else "500"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'role="img" aria-label="{escape(title, quote=True)}" {found_box} '
        f'style="--width: {float(found_width):.0f}">{rest.strip()}'
    )


def _mark(found: re.Match[str]) -> str:
    return f'class="told" data-says="{escape(unquote(found[1]), quote=True)}"'
