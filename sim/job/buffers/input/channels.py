"""The receiver's ends of channels: remote ones with credits, and local ones without."""

from ckptsim.sim.job.buffers.input.local_channel import LocalChannel
from ckptsim.sim.job.buffers.input.remote_channel import RemoteChannel

Channel = RemoteChannel | LocalChannel

__all__ = ["Channel", "LocalChannel", "RemoteChannel"]
