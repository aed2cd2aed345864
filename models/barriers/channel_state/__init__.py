"""The file of in-flight data that several subtasks of one task manager share."""

from ckptsim.models.barriers.channel_state.writer import (
    MAX_SUBTASKS_PER_FILE,
    SharedStateWriter,
    group_of,
    handle_bytes,
)

__all__ = [
    "MAX_SUBTASKS_PER_FILE",
    "SharedStateWriter",
    "group_of",
    "handle_bytes",
]
