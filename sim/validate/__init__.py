"""Predict measured Flink runs and compare: read, simulate, summarise, score."""

from __future__ import annotations

from ckptsim.sim.validate.comparison import Comparison as Comparison
from ckptsim.sim.validate.files import read_measurements as read_measurements
from ckptsim.sim.validate.measured import MeasuredRun as MeasuredRun
from ckptsim.sim.validate.predict import predict as predict
from ckptsim.sim.validate.predict import predict_all as predict_all
from ckptsim.sim.validate.sequence import CheckpointSequence as CheckpointSequence
from ckptsim.sim.validate.sequence import sequence_of as sequence_of
