"""The acknowledger of a source: up to where the owner of its log may cut it."""

from ckptsim.models.acknowledger.acknowledger import (
    Acknowledge,
    Acknowledger,
    AcknowledgerEvent,
    CheckpointAborted,
    CheckpointCompleted,
    Position,
    RecordRead,
    Restored,
    SnapshotTaken,
)

__all__ = [
    "Acknowledge",
    "Acknowledger",
    "AcknowledgerEvent",
    "CheckpointAborted",
    "CheckpointCompleted",
    "Position",
    "RecordRead",
    "Restored",
    "SnapshotTaken",
]
