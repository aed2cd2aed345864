"""What a checkpoint holds of a task on buffers, where it is stored, and how it comes back."""

from ckptsim.sim.job.buffers.state.channel_state_files import ChannelStateFile as ChannelStateFile
from ckptsim.sim.job.buffers.state.channel_state_files import make_files as make_files
from ckptsim.sim.job.buffers.state.identities import Identities as Identities
from ckptsim.sim.job.buffers.state.identities import TaskRecords as TaskRecords
from ckptsim.sim.job.buffers.state.keyed_state import KeyedState as KeyedState
from ckptsim.sim.job.buffers.state.keyed_state import keyed_state as keyed_state
from ckptsim.sim.job.buffers.state.keyed_state import state_sizes as state_sizes
from ckptsim.sim.job.buffers.state.recovery import BufferSnapshot as BufferSnapshot
from ckptsim.sim.job.buffers.state.recovery import Span as Span
from ckptsim.sim.job.buffers.state.recovery import preload as preload
from ckptsim.sim.job.buffers.state.recovery import put_back as put_back
from ckptsim.sim.job.buffers.state.recovery import restore_channels as restore_channels
from ckptsim.sim.job.buffers.state.recovery import restore_counts as restore_counts
from ckptsim.sim.job.buffers.state.snapshots import BUFFER_HEADER_BYTES as BUFFER_HEADER_BYTES
from ckptsim.sim.job.buffers.state.snapshots import Snapshots as Snapshots
from ckptsim.sim.job.buffers.state.snapshots import SubtaskSnapshot as SubtaskSnapshot
from ckptsim.sim.job.buffers.state.storage import Storage as Storage
from ckptsim.sim.job.buffers.state.streams import Limiter as Limiter
