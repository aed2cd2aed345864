"""Predict measured runs of state, storage and recovery, as production jobs have them."""

from ckptsim.sim.validate.state.predict import StatePrediction as StatePrediction
from ckptsim.sim.validate.state.predict import predict_state as predict_state
from ckptsim.sim.validate.state.predict import state_document as state_document
from ckptsim.sim.validate.state.predict import state_lines as state_lines
