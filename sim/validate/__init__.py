"""Predict measured Flink runs and compare: read, simulate, summarise, score, ablate."""

from __future__ import annotations

from ckptsim.sim.validate.ablation import ABLATIONS, Ablation
from ckptsim.sim.validate.files import read_measurements, read_runs
from ckptsim.sim.validate.folds import folds_lines, folds_of
from ckptsim.sim.validate.measured import MeasuredRun
from ckptsim.sim.validate.predict import Prediction, predict_all
from ckptsim.sim.validate.score import Score, score
from ckptsim.sim.validate.sequence import CheckpointSequence, sequence_of
from ckptsim.sim.validate.text import ablation_lines, report_lines, sequence_lines

__all__ = [
    "ABLATIONS",
    "Ablation",
    "CheckpointSequence",
    "MeasuredRun",
    "Prediction",
    "Score",
    "ablation_lines",
    "folds_lines",
    "folds_of",
    "predict_all",
    "read_measurements",
    "read_runs",
    "report_lines",
    "score",
    "sequence_lines",
    "sequence_of",
]
