"""Ways to keep in-flight data that FLIP-76 argues about, besides the one that Apache Flink has."""

from ckptsim.models.recovery.persistence.log import (
    ChannelLog,
    Logged,
    LogSlice,
    ReplayRule,
    first_needed,
    replayed,
)

__all__ = [
    "ChannelLog",
    "LogSlice",
    "Logged",
    "ReplayRule",
    "first_needed",
    "replayed",
]
