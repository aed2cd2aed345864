"""Predict measured recoveries and compare: downtime, records done again, latency, catching up."""

from __future__ import annotations

from ckptsim.sim.validate.recoveries.measured import RecoveryRun
from ckptsim.sim.validate.recoveries.predict import RecoveryPrediction, predict_recovery
from ckptsim.sim.validate.recoveries.score import RecoveryScore, recovery_lines, score_recoveries

__all__ = [
    "RecoveryPrediction",
    "RecoveryRun",
    "RecoveryScore",
    "predict_recovery",
    "recovery_lines",
    "score_recoveries",
]
