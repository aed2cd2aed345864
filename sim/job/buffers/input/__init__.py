"""A task's inputs on buffers: gates, channels with credits, and what comes of them."""

from ckptsim.sim.job.buffers.input.input_choice import InputChoice as InputChoice
from ckptsim.sim.job.buffers.input.input_choice import InputTurns as InputTurns
from ckptsim.sim.job.buffers.input.input_events import InputEvents as InputEvents
from ckptsim.sim.job.buffers.input.input_gate import Channel as Channel
from ckptsim.sim.job.buffers.input.input_gate import InputGate as InputGate
from ckptsim.sim.job.buffers.input.input_gate import buffers_in_use as buffers_in_use
from ckptsim.sim.job.buffers.input.input_gate import debloat as debloat
from ckptsim.sim.job.buffers.input.input_gate import (
    declined_while_recovering as declined_while_recovering,
)
from ckptsim.sim.job.buffers.input.local_channel import LocalChannel as LocalChannel
from ckptsim.sim.job.buffers.input.recovered_channel import RecoveredBuffers as RecoveredBuffers
from ckptsim.sim.job.buffers.input.remote_channel import RemoteChannel as RemoteChannel
from ckptsim.sim.job.buffers.input.wire import Wire as Wire
