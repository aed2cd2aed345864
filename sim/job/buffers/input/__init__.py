"""A task's inputs on buffers: gates, channels with credits, and what comes of them."""

from ckptsim.sim.job.buffers.input.input_choice import InputChoice, InputTurns
from ckptsim.sim.job.buffers.input.input_events import InputEvents
from ckptsim.sim.job.buffers.input.input_gate import (
    Channel,
    InputGate,
    buffers_in_use,
    debloat,
    declined_while_recovering,
)
from ckptsim.sim.job.buffers.input.local_channel import LocalChannel
from ckptsim.sim.job.buffers.input.recovered_channel import RecoveredBuffers
from ckptsim.sim.job.buffers.input.remote_channel import RemoteChannel
from ckptsim.sim.job.buffers.input.wire import Wire

__all__ = [
    "Channel",
    "InputChoice",
    "InputEvents",
    "InputGate",
    "InputTurns",
    "LocalChannel",
    "RecoveredBuffers",
    "RemoteChannel",
    "Wire",
    "buffers_in_use",
    "debloat",
    "declined_while_recovering",
]
