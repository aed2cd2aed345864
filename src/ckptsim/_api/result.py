"""What all results have in common: a short repr, HTML for a notebook, a frame, a plot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from ckptsim._api.columns import table
from ckptsim.scenarios import UserError
from ckptsim.sim.extras import extras_explained

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


LINES_MAX = 12
_COLUMNS_MAX = 100
Facts: TypeAlias = Sequence[tuple[str, object]]
Duration: TypeAlias = object
"""A text such as "30 min", a timedelta, or a number of seconds."""


class Result(ABC):
    """A result: it prints as a few lines, and a notebook shows it as a table and a picture."""

    __slots__ = ()

    @abstractmethod
    def _facts(self) -> Facts:
        """Return its facts by name, the subject first."""

    @abstractmethod
    def frame(self) -> pd.DataFrame:
        """Return it as a tidy pandas frame."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data, as the option `--json` of its verb prints it."""

    @property
    def text(self) -> str:
        """What the command line prints of it."""
        return table(self._facts())

    @property
    def failed(self) -> bool:
        """Whether the command line ends with exit code 1: a violation, or a failed comparison."""
        return False

    @property
    @abstractmethod
    def plot(self) -> Plots:
        """Return its figures. Calling it draws the one that says most."""

    def _shown(self) -> dict[str, Any]:
        """Return what a notebook shows below the facts: `head`, `rows`, `more`, `link`, `svg`."""
        return {}

    def __repr__(self) -> str:
        return facts_text(type(self).__name__, self._facts())

    def _repr_html_(self) -> str:
        return facts_html(type(self).__name__, self._facts(), **self._shown())


def facts_text(title: str, facts: Facts) -> str:
    """Return facts as at most `LINES_MAX` lines, each no longer than a line of a terminal."""
    width = max((len(name) for name, _ in facts), default=0)
    lines = [f"<{title}>"] + [f"  {name:<{width}}  {_line(value)}" for name, value in facts]
    if len(lines) > LINES_MAX:
        left = len(lines) - LINES_MAX + 1
        lines = [*lines[: LINES_MAX - 1], f"  ... and {left} more"]
    return "\n".join(_cut(line) for line in lines)


def facts_html(title: str, facts: Facts, **shown: Any) -> str:
    """Return facts for a notebook, with a table and a picture below. shown: as of `Result`."""
    from ckptsim.analysis.templates import notebook, rendered

    below = {"head": (), "rows": (), "more": "", "link": "", "svg": "", "caption": ""} | shown
    lines = [(name, _line(value)) for name, value in facts]
    return notebook(rendered("result.html", title=title, facts=lines, **below))


def _line(value: object) -> str:
    return " ".join(str(value).split())


def _cut(line: str) -> str:
    return line if len(line) <= _COLUMNS_MAX else line[: _COLUMNS_MAX - 1].rstrip() + "…"


def nanoseconds(value: object, name: str) -> int:
    """Return a text with a unit, a timedelta or seconds as ns. Raises UserError."""
    from ckptsim.scenarios.errors import UserError
    from ckptsim.sim.recording.answers import duration_ns

    found: int | None = None
    if isinstance(value, timedelta):
        found = (value.days * 86_400 + value.seconds) * 1_000_000_000 + value.microseconds * 1_000
    elif isinstance(value, str) and not value.strip().isdigit():
        found = duration_ns(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        found = round(value * 1e9)
    if found is None or found < 0:
        expected = 'a duration such as "30 min", a timedelta, or seconds'
        raise UserError(f"{name}: found {value!r}, expected {expected}")
    return found


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
