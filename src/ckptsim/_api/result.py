"""What all results have in common: a short repr, HTML for a notebook, a frame, a plot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from ckptsim._api.columns import table

if TYPE_CHECKING:
    import pandas as pd

    from ckptsim._api.plots import Plots

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
