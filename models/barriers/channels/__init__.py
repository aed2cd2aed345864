"""Both ends of a channel: the sender's subpartition and the receiver's input channel."""

from ckptsim.models.barriers.channels.input_channel import LocalInputChannel, RemoteInputChannel
from ckptsim.models.barriers.channels.network import (
    Buffers,
    NetworkEffect,
    OutputStateFailed,
    OutputStateKnown,
    OutputStateOpened,
    PersistInput,
    PersistOutput,
    ResumeSender,
)
from ckptsim.models.barriers.channels.persister import Persister, PersisterStatus
from ckptsim.models.barriers.channels.subpartition import Subpartition

__all__ = [
    "Buffers",
    "LocalInputChannel",
    "NetworkEffect",
    "OutputStateFailed",
    "OutputStateKnown",
    "OutputStateOpened",
    "PersistInput",
    "PersistOutput",
    "Persister",
    "PersisterStatus",
    "RemoteInputChannel",
    "ResumeSender",
    "Subpartition",
]
