"""A picture of a report: a figure with its title, its caption and the data that it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A figure with what one sees in it; `data` is what a reader can take away as CSV."""

    title: str
    caption: str
    figure: Figure
    data: pd.DataFrame
