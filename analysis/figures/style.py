"""How all figures look: colours, sizes, units on axes, labels of swept points."""

from __future__ import annotations

import functools
import io
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

if TYPE_CHECKING:
    from matplotlib.figure import Figure

P = ParamSpec("P")

# Eight colours that people with any kind of colour blindness tell apart; yellow is left out for
# lines, because it is too light on white.
# Source: M. Okabe and K. Ito, Color Universal Design, jfly.uni-koeln.de/color.
BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, BLACK, YELLOW = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00"),
    *("#CC79A7", "#56B4E9", "#000000", "#F0E442"),
)
LINES = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, BLACK)
# Colours never carry a meaning alone: lines differ in their dashes too.
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK, GRID, GREY = "#1b1b1b", "#e4e4e4", "#777777"  # text and axes, lines behind data, remarks
WIDTH = 7.2  # inches
SETTINGS: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor"), INK),
    **dict.fromkeys(("xtick.color", "ytick.color"), INK),
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "ckptsim",  # the same figure gives the same bytes
    "svg.fonttype": "path",
}


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Let a function that draws a figure do so with our settings, and theirs only."""

    @functools.wraps(draw)
    def drawn(*arguments: P.args, **named: P.kwargs) -> Figure:
        use_private_cache()
        import matplotlib as mpl

        with mpl.rc_context(SETTINGS):
            return draw(*arguments, **named)

    return drawn


def new_figure(height: float, *, width: float = WIDTH) -> Figure:
    """Return an empty figure of this size in inches, outside of any global state."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def svg(figure: Figure) -> str:
    """Return the figure as SVG text, the same for the same figure."""
    import matplotlib as mpl

    buffer = io.StringIO()
    with mpl.rc_context(SETTINGS):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def use_private_cache() -> None:
    """Keep matplotlib's font cache out of the home directory, unless the user has chosen a place.

    It is kept beside the installed packages when they are in an environment of our own.
    """
    if "MPLCONFIGDIR" in os.environ or "matplotlib" in sys.modules:
        return
    shared = Path(tempfile.gettempdir()) / f"ckptsim-matplotlib-{os.getuid()}"
    in_environment = sys.prefix != sys.base_prefix and os.access(sys.prefix, os.W_OK)
    place = Path(sys.prefix) / "var" / "matplotlib" if in_environment else shared
    place.mkdir(parents=True, exist_ok=True)
    os.environ["MPLCONFIGDIR"] = str(place)
