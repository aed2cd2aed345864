"""Ways to keep in-flight data that FLIP-76 argues about, besides the one that Apache Flink has."""

from ckptsim.models.recovery.persistence.credit import LentCredit
from ckptsim.models.recovery.persistence.indices import (
    SubtaskIndices,
    Succession,
    succession,
)
from ckptsim.models.recovery.persistence.log import (
    ChannelLog,
    Logged,
    LogSlice,
    ReplayRule,
    first_needed,
    replayed,
)
from ckptsim.models.recovery.persistence.ordered import (
    OrderedEdges,
    RescalingScope,
    distribution_of,
    may_rescale,
)
from ckptsim.models.recovery.persistence.reads import Files
from ckptsim.models.recovery.persistence.service import LogPosition, LogService

__all__ = [
    "ChannelLog",
    "Files",
    "LentCredit",
    "LogPosition",
    "LogService",
    "LogSlice",
    "Logged",
    "OrderedEdges",
    "ReplayRule",
    "RescalingScope",
    "SubtaskIndices",
    "Succession",
    "distribution_of",
    "first_needed",
    "may_rescale",
    "replayed",
    "succession",
]
