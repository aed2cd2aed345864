"""Both ends of a channel: the sender's subpartition and the receiver's input channel."""

from ckptsim.models.barriers.channels.input_channel import LocalInputChannel as LocalInputChannel
from ckptsim.models.barriers.channels.input_channel import RemoteInputChannel as RemoteInputChannel
from ckptsim.models.barriers.channels.network import Buffers as Buffers
from ckptsim.models.barriers.channels.network import NetworkEffect as NetworkEffect
from ckptsim.models.barriers.channels.network import OutputStateFailed as OutputStateFailed
from ckptsim.models.barriers.channels.network import OutputStateKnown as OutputStateKnown
from ckptsim.models.barriers.channels.network import OutputStateOpened as OutputStateOpened
from ckptsim.models.barriers.channels.network import Persister as Persister
from ckptsim.models.barriers.channels.network import PersisterStatus as PersisterStatus
from ckptsim.models.barriers.channels.network import PersistInput as PersistInput
from ckptsim.models.barriers.channels.network import PersistOutput as PersistOutput
from ckptsim.models.barriers.channels.network import ResumeSender as ResumeSender
from ckptsim.models.barriers.channels.subpartition import Subpartition as Subpartition
