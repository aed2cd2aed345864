"""The file of in-flight data that several subtasks of one task manager share."""

from ckptsim.models.barriers.channel_state.writer import (
    MAX_SUBTASKS_PER_FILE as MAX_SUBTASKS_PER_FILE,
)
from ckptsim.models.barriers.channel_state.writer import SharedStateWriter as SharedStateWriter
from ckptsim.models.barriers.channel_state.writer import group_of as group_of
from ckptsim.models.barriers.channel_state.writer import handle_bytes as handle_bytes
