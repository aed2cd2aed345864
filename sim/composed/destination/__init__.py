"""The destination of a pipeline: records go through the job, and are reported when stored."""

from ckptsim.sim.composed.destination.destination import PipelineDestination as PipelineDestination
