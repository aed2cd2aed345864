"""The summaries of one sweep as pandas frames, without Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ckptsim.analysis.findings import Findings, find
from ckptsim.analysis.tables.store import SweepStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Summaries = Findings


def is_current(store: SweepStore) -> bool:
    """Return whether the summaries of a sweep are those of all rows that it has."""
    return bool(store.pieces())


def read(store: SweepStore) -> Summaries:
    """Return the summaries of a sweep, with swept parameters in words.

    Raises UserError when the directory holds no sweep, or summaries that are not current.
    """
    return find(store)


def frames(store: SweepStore) -> dict[str, pd.DataFrame]:
    """Return the frames of a sweep by name, as Spark has written them.

    Raises UserError when the directory holds no sweep, or summaries that are not current.
    """
    raise NotImplementedError(store.directory)


def refresh(session: SparkSession, store: SweepStore) -> None:
    """Aggregate the rows of a sweep on Spark, where its summaries are not current.

    The caller need not be the writer of the directory.
    Raises UserError when the directory holds no sweep, or one without a run.
    """
    del session, store
