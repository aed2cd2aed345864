"""The receiver's ends of channels: remote ones with credits, and local ones without."""

from sim.dataflow.local_channel import LocalChannel
from sim.dataflow.remote_channel import RemoteChannel

Channel = RemoteChannel | LocalChannel

__all__ = ["Channel", "LocalChannel", "RemoteChannel"]
