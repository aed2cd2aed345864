"""Predict measured Flink runs and compare: read, simulate, summarise, score."""

from __future__ import annotations

from ckptsim.sim.validate.comparison import Comparison
from ckptsim.sim.validate.files import read_measurements, read_runs
from ckptsim.sim.validate.measured import MeasuredRun
from ckptsim.sim.validate.predict import Prediction, predict_all
from ckptsim.sim.validate.score import Score, score
from ckptsim.sim.validate.sequence import CheckpointSequence, sequence_of
from ckptsim.sim.validate.text import report_lines

__all__ = [
    "CheckpointSequence",
    "Comparison",
    "MeasuredRun",
    "Prediction",
    "Score",
    "predict_all",
    "read_measurements",
    "read_runs",
    "report_lines",
    "score",
    "sequence_of",
]
