"""Restarts on buffers in their time: state and in-flight data are read, then the job continues."""

from __future__ import annotations

from ckptsim.sim.job.buffers.restoring.costs import FIRST, LATER
from ckptsim.sim.job.buffers.restoring.lateness import Lateness
from ckptsim.sim.job.buffers.restoring.regions import Regions
from ckptsim.sim.job.buffers.restoring.rescales import Rescales
from ckptsim.sim.job.buffers.restoring.timed import TimedFailover

__all__ = ["FIRST", "LATER", "Lateness", "Regions", "Rescales", "TimedFailover"]
