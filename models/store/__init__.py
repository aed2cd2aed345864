"""Where a checkpoint is kept, relative to the data it speaks of, and what a crash does to both."""

from ckptsim.models.store.client import Parts, StoreClient
from ckptsim.models.store.errors import Refusal, StoreError
from ckptsim.models.store.log import Control, ControlRecord, DataRecord, LogBook, PartitionLog
from ckptsim.models.store.medium import (
    Area,
    Changes,
    Checkpoints,
    GroupCodec,
    Medium,
    ModelMedium,
    PlainCodec,
    Rows,
    RowsWrite,
    Slot,
    SlotWrite,
    Step,
)
from ckptsim.models.store.settings import (
    Durability,
    Order,
    Placement,
    Reset,
    Settings,
    StepContent,
    SyncRules,
)
from ckptsim.models.store.state import PartitionState, VersionState, decode_state, encode_state
from ckptsim.models.store.topics import LocalTopics, TopicPartition, version_topic
from ckptsim.models.store.versions import StoreVersions, make_store

__all__ = [
    "Area",
    "Changes",
    "Checkpoints",
    "Control",
    "ControlRecord",
    "DataRecord",
    "Durability",
    "GroupCodec",
    "LocalTopics",
    "LogBook",
    "Medium",
    "ModelMedium",
    "Order",
    "PartitionLog",
    "PartitionState",
    "Parts",
    "Placement",
    "PlainCodec",
    "Refusal",
    "Reset",
    "Rows",
    "RowsWrite",
    "Settings",
    "Slot",
    "SlotWrite",
    "Step",
    "StepContent",
    "StoreClient",
    "StoreError",
    "StoreVersions",
    "SyncRules",
    "TopicPartition",
    "VersionState",
    "decode_state",
    "encode_state",
    "make_store",
    "version_topic",
]
