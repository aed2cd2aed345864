"""The split enumerator of a source: which reader gets which split, and what a checkpoint has."""

from ckptsim.models.enumerator.enumerator import SplitEnumerator
from ckptsim.models.enumerator.events import (
    AssignSplit,
    CheckpointAborted,
    CheckpointRequested,
    EnumeratorEffect,
    EnumeratorEvent,
    FailReader,
    KeepState,
    NoMoreSplits,
    ReaderSnapshotTaken,
    Restored,
    SplitDelivered,
    SplitLost,
    SplitRequested,
    TriggersSent,
)

__all__ = [
    "AssignSplit",
    "CheckpointAborted",
    "CheckpointRequested",
    "EnumeratorEffect",
    "EnumeratorEvent",
    "FailReader",
    "KeepState",
    "NoMoreSplits",
    "ReaderSnapshotTaken",
    "Restored",
    "SplitDelivered",
    "SplitEnumerator",
    "SplitLost",
    "SplitRequested",
    "TriggersSent",
]
