"""Whole stretches of the flow of data at once: the third driver of the one model."""

from ckptsim.sim.job.buffers.stretch.driver import Stretches

__all__ = ["Stretches"]
