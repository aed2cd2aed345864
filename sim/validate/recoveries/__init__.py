"""Predict measured recoveries and compare: downtime, records done again, latency, catching up."""

from __future__ import annotations

from ckptsim.sim.validate.recoveries.measured import RecoveryRun as RecoveryRun
from ckptsim.sim.validate.recoveries.predict import RecoveryPrediction as RecoveryPrediction
from ckptsim.sim.validate.recoveries.predict import RecoveryScore as RecoveryScore
from ckptsim.sim.validate.recoveries.predict import predict_recovery as predict_recovery
from ckptsim.sim.validate.recoveries.predict import recovery_lines as recovery_lines
from ckptsim.sim.validate.recoveries.predict import score_recoveries as score_recoveries
