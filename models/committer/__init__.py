"""The global committer of a sink: one commit for each checkpoint, over all parallel writers."""

from ckptsim.models.committer.committer import GlobalCommitter
from ckptsim.models.committer.events import (
    Acknowledge,
    CheckpointAborted,
    CheckpointCompleted,
    Commit,
    CommitDone,
    CommittableArrived,
    CommitterEffect,
    CommitterEvent,
    Forget,
    Persist,
    Recovered,
    RewindTo,
    Row,
    SnapshotTaken,
    SummaryArrived,
    WriterReady,
)

__all__ = [
    "Acknowledge",
    "CheckpointAborted",
    "CheckpointCompleted",
    "Commit",
    "CommitDone",
    "CommittableArrived",
    "CommitterEffect",
    "CommitterEvent",
    "Forget",
    "GlobalCommitter",
    "Persist",
    "Recovered",
    "RewindTo",
    "Row",
    "SnapshotTaken",
    "SummaryArrived",
    "WriterReady",
]
