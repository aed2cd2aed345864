"""How all figures look: colours, sizes, units on axes, labels of swept points."""

from __future__ import annotations

import functools
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
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
GREY = "#777777"
WIDTH = 7.2  # inches
SETTINGS: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "ckptsim",  # the same figure gives the same bytes
    "svg.fonttype": "path",
}
_TIME_UNITS = (("ns", 1), ("µs", 10**3), ("ms", 10**6), ("s", 10**9), ("min", 60 * 10**9))
_SIZE_UNITS = (("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40))


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit for an axis: its name and how many base units it is."""

    name: str
    size: int


def time_unit(values_ns: Iterable[float]) -> Unit:
    """Return the largest unit in which the largest of these times is at least 1."""
    return _unit(values_ns, _TIME_UNITS)


def size_unit(values_bytes: Iterable[float]) -> Unit:
    """Return the largest unit in which the largest of these sizes is at least 1."""
    return _unit(values_bytes, _SIZE_UNITS)


def _unit(values: Iterable[float], units: Sequence[tuple[str, int]]) -> Unit:
    largest = max((value for value in values if value == value), default=0.0)  # noqa: PLR0124
    fitting = [Unit(name, size) for name, size in units if size <= largest]
    return fitting[-1] if fitting else Unit(*units[0])


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


def short_name(path: str) -> str:
    """Return the last words of a parameter's path, enough to know it by."""
    words = path.removesuffix("_ns").split(".")
    return ".".join(words[-2:])


def shown_value(path: str, value: object) -> str:
    """Return a swept value as people write it."""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    name = path.rsplit("[", 1)[0] if path.endswith("]") else path
    if isinstance(value, int) and name.endswith("_ns"):
        return in_unit(value, time_unit([value]))
    if isinstance(value, int) and name.endswith("_bytes"):
        return in_unit(value, size_unit([value]))
    if isinstance(value, int) and name.endswith("_bytes_per_s"):
        return f"{in_unit(value, size_unit([value]))}/s"
    return str(value)


def in_unit(value: float, unit: Unit) -> str:
    """Return a number of base units with its unit, to three digits."""
    return f"{value / unit.size:.3g} {unit.name}"


def point_label(parameters: str, axes: Sequence[str]) -> str:
    """Return a point's swept parameters in words, one per swept path."""
    values = json.loads(parameters)
    parts = [
        f"{short_name(path)} = {shown_value(path, values[path])}" for path in axes if path in values
    ]
    return ", ".join(parts) or "no swept parameter"


def count_label(n: int, unfinished: int = 0) -> str:
    """Return how many values stand behind something."""
    return f"n = {n:,}" + (f", {unfinished:,} unfinished" if unfinished else "")
