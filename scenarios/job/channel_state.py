"""How in-flight data is kept and put back: the open questions of FLIP-76 as choices, on records.

The defaults are what Apache Flink 1.20.3 does; what else there is was argued about and not built.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ckptsim.scenarios.fields import choice, duration_ns, ratio

_FLIP = "Source: FLIP-76, "
_SMALL = "assumption: small enough to be hunted in milliseconds"


class Spilling(StrEnum):
    """When in-flight data is written."""

    AD_HOC = "ad_hoc"
    CONTINUOUS = "continuous"


class ReplayFrom(StrEnum):
    """From where a sender's log is replayed."""

    LOG_START = "log_start"
    FILE_INDEX = "file_index"
    BUFFER_SIZES = "buffer_sizes"
    TOLD_AT_SNAPSHOT = "told_at_snapshot"
    TOLD_AT_RECOVERY = "told_at_recovery"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelState:
    """How in-flight data of channels is kept in checkpoints, and put back."""

    spilling: Spilling = choice(
        "ad_hoc",
        Spilling,
        says="what is in flight is copied when a barrier overtakes it, or all that is sent is "
        "logged at the sender and a checkpoint holds an offset",
        source=_FLIP + "ad-hoc vs continuous spilling (decided: ad-hoc)",
    )
    replay_from: ReplayFrom = choice(
        "told_at_snapshot",
        ReplayFrom,
        says="how a replayed log leaves out what the receiver has processed, where spilling is "
        "continuous: not at all; the receiver finds the place by names and index of the sender's "
        "files; it computes it from the size of a buffer; it tells the sender while it snapshots, "
        "or when it recovers",
        source=_FLIP + "avoiding double processing",
    )
    offset_loss_ratio: float = ratio(
        0.0,
        says="share of the messages between receiver and sender about offsets that are lost",
        source=_SMALL,
    )
    write_record_ns: int = duration_ns(
        0,
        maximum="1 min",
        says="time to write one buffer of in-flight data or of a log; a task writes one at a time",
        source=_SMALL,
    )

    @property
    def is_logged(self) -> bool:
        """Whether senders log all that they send."""
        return self.spilling is Spilling.CONTINUOUS
