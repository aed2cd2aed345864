"""The sinks of one job over all its attempts, and the external system that they write to."""

from ckptsim.sim.job.control.sinks.sinks import Sinks as Sinks
