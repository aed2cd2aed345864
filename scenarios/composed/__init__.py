"""Pipelines as frozen data: their model, their faults, their properties and goals."""

from ckptsim.scenarios.composed.faults import (
    COMPOSED_FAULTS,
    JOB_KINDS,
    SYNC_KINDS,
    ComposedFault,
    CrashInCommit,
    DelayReport,
    ForeignCommit,
    LoseStore,
    Lost,
    RefuseCommits,
    SlowStore,
)
from ckptsim.scenarios.composed.model import (
    READERS,
    SINK,
    OffsetReset,
    Pipeline,
    Placement,
    StepOrder,
    Writes,
)
from ckptsim.scenarios.composed.names import GOALS, OWN_PROPERTIES, PROPERTIES

__all__ = [
    "COMPOSED_FAULTS",
    "GOALS",
    "JOB_KINDS",
    "OWN_PROPERTIES",
    "PROPERTIES",
    "READERS",
    "SINK",
    "SYNC_KINDS",
    "ComposedFault",
    "CrashInCommit",
    "DelayReport",
    "ForeignCommit",
    "LoseStore",
    "Lost",
    "OffsetReset",
    "Pipeline",
    "Placement",
    "RefuseCommits",
    "SlowStore",
    "StepOrder",
    "Writes",
]
