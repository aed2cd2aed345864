"""The receiver's ends of channels: remote ones with credits, and local ones without."""

from ckptsim.sim.dataflow.local_channel import LocalChannel
from ckptsim.sim.dataflow.remote_channel import RemoteChannel

Channel = RemoteChannel | LocalChannel

__all__ = ["Channel", "LocalChannel", "RemoteChannel"]
