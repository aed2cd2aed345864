"""Figures of results on matplotlib Axes: each takes `ax=` and returns the axes that it drew on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from ckptsim.scenarios import UserError
from ckptsim.sim.extras import extras_explained

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BARS_MAX = 30


class Plots:
    """The figures of one result. Nothing is shown: a notebook does that, or `pyplot.show`."""

    __slots__ = ()
    _first: ClassVar[str]
    """The name of the figure that says most."""

    def __call__(self, *, ax: Axes | None = None) -> Axes:
        """Draw the figure that says most."""
        axes: Axes = getattr(self, self._first)(ax=ax)
        return axes

    def __repr__(self) -> str:
        names = [name for name in dir(type(self)) if not name.startswith("_")]
        return f"<{type(self).__name__}: {', '.join(names) or 'plot()'}>"


@contextmanager
def on(ax: Axes | None) -> Iterator[Axes]:
    """Draw on given axes, or in a new figure. The extra `sweeps` has what draws."""
    with extras_explained():
        from ckptsim.analysis.figures.style import drawn_on

        with drawn_on(ax) as axes:
            yield axes


def inline(draw: Callable[[], Figure], prefix: str, title: str) -> str:
    """Return a figure as SVG, or nothing without matplotlib. prefix: of names. title: its text."""
    from ckptsim.sim.extras import ExtraMissing

    try:
        with extras_explained():
            from ckptsim.analysis.figures.vector import inline as drawn

            return drawn(draw(), prefix, title)
    except ExtraMissing:
        return ""


def bars(names: Sequence[str], values: Sequence[float], xlabel: str, ax: Axes | None) -> Axes:
    """Draw a bar for each name, the first on top."""
    with on(ax) as axes:
        from ckptsim.analysis.figures.style import BLUE, new_figure, styled

        @styled
        def draw() -> Figure:
            figure = new_figure(1.2 + 0.26 * min(len(names), _BARS_MAX))
            place = figure.add_subplot()
            shown = list(names)[:_BARS_MAX]
            place.barh(range(len(shown)), list(values)[:_BARS_MAX], color=BLUE)
            place.set_yticks(range(len(shown)), shown, fontsize=8)
            place.invert_yaxis()
            place.grid(visible=False, axis="y")
            place.set_xlim(0, None)
            left = f" (the first {_BARS_MAX} of {len(names)})" if len(names) > _BARS_MAX else ""
            place.set_xlabel(xlabel + left)
            return figure

        draw()
    return axes


class CountPlots(Plots):
    """A bar for each count."""

    __slots__ = ("_counts", "_label")

    def __init__(self, counts: Mapping[str, int], label: str) -> None:
        self._counts, self._label = counts, label

    def __call__(self, *, ax: Axes | None = None) -> Axes:
        """Draw a bar for each count."""
        return bars(list(self._counts), list(self._counts.values()), self._label, ax)


def some(rows: pd.DataFrame, what: str) -> pd.DataFrame:
    """Return rows to draw. Raises UserError where there are none."""
    if rows.empty:
        raise UserError(f"plot: found no {what}, expected some to draw")
    return rows
