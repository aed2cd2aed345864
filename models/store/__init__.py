"""Where a checkpoint is kept, relative to the data it speaks of, and what a crash does to both."""

from models.store.checkpoints import Checkpoints
from models.store.client import Parts, StoreClient
from models.store.codec import GroupCodec, PlainCodec
from models.store.errors import Refusal, StoreError
from models.store.interface import CheckpointStore
from models.store.log import Control, ControlRecord, DataRecord, LogBook, PartitionLog
from models.store.medium import (
    Area,
    Changes,
    Medium,
    ModelMedium,
    Rows,
    RowsWrite,
    Slot,
    SlotWrite,
    Step,
)
from models.store.partition_state import PartitionState, decode_state, encode_state
from models.store.rules import Order, Part, SyncRules
from models.store.settings import Durability, Placement, Reset, Settings
from models.store.topics import LocalTopics, TopicPartition, parse_topic, version_topic
from models.store.version_state import VersionCopy, VersionState
from models.store.versions import StoreVersions

__all__ = [
    "Area",
    "Changes",
    "CheckpointStore",
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
    "Part",
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
    "StoreClient",
    "StoreError",
    "StoreVersions",
    "SyncRules",
    "TopicPartition",
    "VersionCopy",
    "VersionState",
    "decode_state",
    "encode_state",
    "parse_topic",
    "version_topic",
]
