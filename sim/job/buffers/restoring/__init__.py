"""Restarts on buffers in their time: state and in-flight data are read, then the job continues."""

from __future__ import annotations

from ckptsim.sim.job.buffers.restoring.costs import FIRST as FIRST
from ckptsim.sim.job.buffers.restoring.costs import LATER as LATER
from ckptsim.sim.job.buffers.restoring.lateness import Lateness as Lateness
from ckptsim.sim.job.buffers.restoring.regions import Regions as Regions
from ckptsim.sim.job.buffers.restoring.rescales import Rescales as Rescales
from ckptsim.sim.job.buffers.restoring.timed import TimedFailover as TimedFailover
