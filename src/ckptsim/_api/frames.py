"""Rows as tidy pandas frames: durations and instants are timedelta64, their names have no unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ckptsim.sim.extras import extras_explained

if TYPE_CHECKING:
    import pandas as pd

_NS = "_ns"


def tidy(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with a timedelta64 in place of every column in nanoseconds.

    `duration_ns` becomes `duration`, or `duration_time` where that name is taken.  Where nothing is
    known there is NaT.
    """
    found = {}
    for column in frame.columns:
        name = str(column)
        bare = name.removesuffix(_NS)
        times = bare != name
        if times and bare in frame.columns:
            bare = f"{bare}_time"
        found[bare] = timedeltas(frame[column]) if times else frame[column]
    return type(frame)(found, index=frame.index)


def timedeltas(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return nanoseconds, with gaps or without, as timedelta64. Only means are rounded."""
    import numpy as np
    import pandas as pd

    rounded = values.round() if values.dtype.kind == "f" else values
    whole: Any = rounded.astype("Int64").array
    gaps = np.iinfo(np.int64).min  # numpy's NaT
    exact = whole.to_numpy("int64", na_value=gaps).view("m8[ns]")
    return pd.Series(exact, index=values.index, name=values.name)


def frame_of_rows(table: str, rows: Sequence[object]) -> pd.DataFrame:
    """Return rows of a table as a tidy frame, in their order.

    Raises UserError when the extra `sweeps` is not installed.
    """
    with extras_explained():
        from ckptsim.analysis.tables.frames import frame_of
        from ckptsim.analysis.tables.schema import arrow_table

        return tidy(frame_of(table, arrow_table(table, rows)))


def frame_of(rows: Sequence[Any], columns: Sequence[str] = ()) -> pd.DataFrame:
    """Return tuples or dictionaries as a frame. columns: of tuples, or of a frame without rows."""
    with extras_explained():
        import pandas as pd

        named = bool(rows) and isinstance(rows[0], dict)
        return pd.DataFrame(list(rows), columns=None if named else list(columns))


def ns_of(value: float | None, unit_ns: int) -> int | None:
    """Return a time in ns, None where it is not known."""
    return None if value is None else round(value * unit_ns)
