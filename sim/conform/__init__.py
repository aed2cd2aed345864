"""Conformance vectors: scripted inputs to one core and the outputs that must come out."""

from ckptsim.sim.conform.runner import Adapter, Mismatch, VectorOutcome, run_file

__all__ = ["Adapter", "Mismatch", "VectorOutcome", "run_file"]
