"""Predict measured Flink runs and compare: read, simulate, summarise, score."""

from __future__ import annotations

from ckptsim.sim.validate.comparison import Comparison
from ckptsim.sim.validate.files import read_measurements
from ckptsim.sim.validate.measured import MeasuredRun
from ckptsim.sim.validate.predict import predict, predict_all
from ckptsim.sim.validate.sequence import CheckpointSequence, sequence_of

__all__ = [
    "CheckpointSequence",
    "Comparison",
    "MeasuredRun",
    "predict",
    "predict_all",
    "read_measurements",
    "sequence_of",
]
