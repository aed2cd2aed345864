"""What a checkpoint holds of a task on buffers, where it is stored, and how it comes back."""

from ckptsim.sim.job.buffers.state.channel_state_files import (
    ChannelStateFile,
    groups_of,
    make_files,
)
from ckptsim.sim.job.buffers.state.identities import Identities, TaskRecords
from ckptsim.sim.job.buffers.state.keyed_state import KeyedState, keyed_state, state_sizes
from ckptsim.sim.job.buffers.state.output_log import OutputLog
from ckptsim.sim.job.buffers.state.recovery import (
    BUFFER_HEADER_BYTES,
    BufferSnapshot,
    Span,
    preload,
    put_back,
    restore_channels,
    restore_counts,
)
from ckptsim.sim.job.buffers.state.requests import StorageFaults
from ckptsim.sim.job.buffers.state.snapshots import Snapshots, SubtaskSnapshot
from ckptsim.sim.job.buffers.state.storage import Storage
from ckptsim.sim.job.buffers.state.streams import Limiter

__all__ = [
    "BUFFER_HEADER_BYTES",
    "BufferSnapshot",
    "ChannelStateFile",
    "Identities",
    "KeyedState",
    "Limiter",
    "OutputLog",
    "Snapshots",
    "Span",
    "Storage",
    "StorageFaults",
    "SubtaskSnapshot",
    "TaskRecords",
    "groups_of",
    "keyed_state",
    "make_files",
    "preload",
    "put_back",
    "restore_channels",
    "restore_counts",
    "state_sizes",
]
