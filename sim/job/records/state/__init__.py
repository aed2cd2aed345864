"""What a checkpoint holds of a task on records, and the files that it is written to."""

from ckptsim.sim.job.records.state.channel_state_files import ChannelStateFile, make_files
from ckptsim.sim.job.records.state.snapshot import (
    SOURCE_SPAN,
    WATERMARK,
    Element,
    Item,
    Mark,
    Parts,
    Record,
    SpillCounts,
    TaskSnapshot,
    is_record,
    whole_records,
)
from ckptsim.sim.job.records.state.snapshots import Snapshots

__all__ = [
    "SOURCE_SPAN",
    "WATERMARK",
    "ChannelStateFile",
    "Element",
    "Item",
    "Mark",
    "Parts",
    "Record",
    "Snapshots",
    "SpillCounts",
    "TaskSnapshot",
    "is_record",
    "make_files",
    "whole_records",
]
