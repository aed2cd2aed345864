"""Predict measured runs of state, storage and recovery, as production jobs have them."""

from ckptsim.sim.validate.state.predict import StatePrediction, predict_state
from ckptsim.sim.validate.state.score import state_document, state_lines

__all__ = ["StatePrediction", "predict_state", "state_document", "state_lines"]
