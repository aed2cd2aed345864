"""What a checkpoint holds of a task on records, and the files that it is written to."""

from ckptsim.sim.job.records.state.channel_state_files import ChannelStateFile as ChannelStateFile
from ckptsim.sim.job.records.state.channel_state_files import groups_of as groups_of
from ckptsim.sim.job.records.state.channel_state_files import make_files as make_files
from ckptsim.sim.job.records.state.snapshot import SOURCE_SPAN as SOURCE_SPAN
from ckptsim.sim.job.records.state.snapshot import WATERMARK as WATERMARK
from ckptsim.sim.job.records.state.snapshot import Element as Element
from ckptsim.sim.job.records.state.snapshot import Item as Item
from ckptsim.sim.job.records.state.snapshot import Mark as Mark
from ckptsim.sim.job.records.state.snapshot import Parts as Parts
from ckptsim.sim.job.records.state.snapshot import Record as Record
from ckptsim.sim.job.records.state.snapshot import SpillCounts as SpillCounts
from ckptsim.sim.job.records.state.snapshot import TaskSnapshot as TaskSnapshot
from ckptsim.sim.job.records.state.snapshot import is_record as is_record
from ckptsim.sim.job.records.state.snapshot import whole_records as whole_records
from ckptsim.sim.job.records.state.snapshots import Snapshots as Snapshots
