"""How all figures look: colours, sizes, units on axes, labels of swept points."""

from __future__ import annotations

import functools
import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, cast

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

P = ParamSpec("P")

# Eight colours that people with any kind of colour blindness tell apart. Yellow is left out for
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
INK, GRID, GREY = "#1b1b1b", "#e4e4e4", "#777777"  # text and axes, lines after data, remarks
WIDTH = 7.2  # inches
OWN = "ckptsim"  # marks a figure that is ours, so that it may have the size that we want
_GIVEN: ContextVar[Axes | None] = ContextVar("_GIVEN", default=None)
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
    """Return an empty figure of this size in inches, outside of any global state.

    Inside of `drawn_on` it is the given axes, which are asked for all that a figure is.
    """
    from matplotlib.figure import Figure

    ax = _GIVEN.get()
    if ax is None:
        return Figure(figsize=(width, height))
    figure: Any = ax.figure
    if figure.get_gid() == OWN:
        figure.set_size_inches(width, height)
    return cast("Figure", OnAxes(ax))


@contextmanager
def drawn_on(ax: Axes | None) -> Iterator[Axes]:
    """Let the functions that draw a figure draw on given axes, or on the ones of a new figure.

    A new figure is one of pyplot, as a notebook shows it. Nothing here shows anything.
    """
    use_private_cache()
    import matplotlib as mpl

    if ax is None:
        import matplotlib.pyplot as plt

        with mpl.rc_context(SETTINGS):
            figure = plt.figure(layout="constrained")
            figure.set_gid(OWN)
            ax = figure.add_subplot()
    token = _GIVEN.set(ax)
    try:
        yield ax
    finally:
        _GIVEN.reset(token)


class OnAxes:
    """Axes of the user's in the place of a figure. Several panels are laid side by side in them."""

    def __init__(self, ax: Axes) -> None:
        self._ax = ax
        self._alone = ax.figure.get_gid() == OWN

    def add_subplot(self) -> Axes:
        """Return the axes."""
        return self._ax

    def subplots(
        self, rows: int, columns: int, *, sharey: bool = False, squeeze: bool = True
    ) -> Any:
        """Return an array of axes as a figure does. Where it is one panel, the axes themselves."""
        found = np.empty((rows, columns), dtype=object)
        if found.size == 1:
            found[0, 0] = self._ax
        else:
            self._ax.set_axis_off()
            wide, high = 1 / columns, 1 / rows
            for row, column in np.ndindex(rows, columns):
                place = (column * wide, (rows - 1 - row) * high, 0.78 * wide, 0.72 * high)
                shared = found[0, 0] if sharey and found[0, 0] is not None else None
                found[row, column] = self._ax.inset_axes(place, sharey=shared)
        return found.squeeze() if squeeze else found

    def legend(self, *given: Any, loc: str, **named: Any) -> None:
        """Put the legend outside of axes that have a figure for themselves, else inside."""
        if self._alone:
            self._ax.figure.legend(*given, loc=loc, **named)
        else:
            self._ax.legend(*given, loc="best", **named)

    def suptitle(self, text: str, **_place: object) -> None:
        """Give the axes their title."""
        self._ax.set_title(text, loc="left", fontsize=SETTINGS["font.size"])

    def colorbar(self, image: Any, *, ax: Axes, label: str) -> None:
        """Put a bar of colours beside the axes."""
        self._ax.figure.colorbar(image, ax=ax, label=label)


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
