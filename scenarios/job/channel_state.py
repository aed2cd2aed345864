"""How in-flight data is kept and put back: the open questions of FLIP-76 as choices.

The defaults are what Apache Flink 1.20.3 does. What else there is was argued about and not built.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from ckptsim.scenarios.dialect import EVERYWHERE, Limits
from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.fields import choice, duration_ns, flag, ratio
from ckptsim.scenarios.limits import not_on_buffers

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


# Without identities a record that is processed twice, or lost, cannot be seen.
_ON_BUFFERS = (ReplayFrom.TOLD_AT_SNAPSHOT, ReplayFrom.FILE_INDEX)


class HandledBy(StrEnum):
    """Which task puts the in-flight data of both ends of a channel back."""

    BOTH = "both"
    DOWNSTREAM = "downstream"


class OrderedEdges(StrEnum):
    """What becomes of in-flight data on forwarded, broadcast and rescale edges."""

    ALIGNED = "aligned"
    FORCED = "forced"
    REASSIGNED = "reassigned"


class Rescaling(StrEnum):
    """Which exchanges may be rescaled while a checkpoint holds in-flight data of them."""

    REFUSED = "refused"
    KEYED = "keyed"
    ALLOWED = "allowed"


class SubtaskIndices(StrEnum):
    """What a restart does with the indices of subtasks."""

    KEPT = "kept"
    PERMUTED = "permuted"
    CARRIED = "carried"


class Persistence(StrEnum):
    """What keeps in-flight data."""

    HANDLES = "handles"
    LOG_SERVICE = "log_service"


class Recovered(StrEnum):
    """How records that several old channels bring into one come out whole."""

    JOINED = "joined"
    ATOMIC = "atomic"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelState:
    """How in-flight data of channels is kept in checkpoints, and put back."""

    SOURCE = _SMALL
    LIMITS: ClassVar[Limits] = not_on_buffers(
        "its records have no identities, and `storage` says what reads and writes cost"
    )

    spilling: Spilling = choice(
        "ad_hoc",
        Spilling,
        says="what is in flight is copied when a barrier overtakes it, or all that is sent is "
        "logged at the sender and a checkpoint holds an offset",
        source=_FLIP + "ad-hoc vs continuous spilling (decided: ad-hoc)",
        limits=EVERYWHERE,
    )
    replay_from: ReplayFrom = choice(
        "told_at_snapshot",
        ReplayFrom,
        says="how a replayed log leaves out what the receiver has processed, where spilling is "
        "continuous: not at all; the receiver finds the place by names and index of the sender's "
        "files; it computes it from the size of a buffer; it tells the sender while it snapshots, "
        "or when it recovers",
        source=_FLIP + "avoiding double processing",
        limits=EVERYWHERE,
    )
    offset_loss_ratio: float = ratio(
        0.0, says="share of the messages between receiver and sender about offsets that are lost"
    )
    write_record_ns: int = duration_ns(
        0,
        maximum="1 min",
        says="time to write one buffer of in-flight data or of a log; a task writes one at a time",
    )

    handled_by: HandledBy = choice(
        "both",
        HandledBy,
        says="who puts back what both ends of a channel had: each end its own, or the receiver "
        "all, in memory taken from its sender's pool",
        source=_FLIP + "in and out buffers (tentatively: both)",
        limits=EVERYWHERE,
    )
    recovered: Recovered = choice(
        "joined",
        Recovered,
        says="how old channels come through a new one: parts are joined on the fly, told apart by "
        "descriptors; or one old channel after the other, both its ends at once",
        source=_FLIP + "spanning records with rescaling, option 2 and option 1",
        limits=EVERYWHERE,
    )
    read_piece_ns: int = duration_ns(
        0, maximum="1 min", says="time to begin one read of channel state at a restart"
    )

    ordered_edges: OrderedEdges = choice(
        "aligned",
        OrderedEdges,
        says="forwarded, broadcast and rescale edges: barriers do not overtake there; they are "
        "forced to, and a rescale deals out what is in flight; or it goes with its key group, its "
        "split, or the state that its copy is for",
        source=_FLIP + "non-keyed, forwarded operators; execution.checkpointing.unaligned.forced",
    )
    order_required: bool = flag(
        False,
        says="the order of a split, or of its records of one key group, matters behind forwarded "
        "edges",
        source="assumption: part of the job",
    )
    rescaling: Rescaling = choice(
        "allowed",
        Rescaling,
        says="whether a job is rescaled from a checkpoint with in-flight data of an exchange that "
        "changes: never, if the exchange is keyed, or always",
        source=_FLIP + "scope of the first version (decided: refused)",
    )

    subtask_indices: SubtaskIndices = choice(
        "kept",
        SubtaskIndices,
        says="a restart keeps the indices of subtasks; gives them out anew, by chance; or does so "
        "while all state carries the identity of its subtask, which is what is matched",
        source=_FLIP + "retaining subtask indices (resolved: kept)",
    )
    persistence: Persistence = choice(
        "handles",
        Persistence,
        says="in-flight data is kept by handles of its checkpoint, or in a log service that is cut "
        "whenever a checkpoint is complete",
        source=_FLIP + "existing persistence mechanism or a new one",
        limits=EVERYWHERE,
    )

    @property
    def on_one_side(self) -> bool:
        """Whether receivers put everything back."""
        return self.handled_by is HandledBy.DOWNSTREAM

    def problems_on_buffers(self) -> list[Problem]:
        """Return the values that plane `buffers` does not have."""
        if self.replay_from in _ON_BUFFERS:
            return []
        expected = f'"{_ON_BUFFERS[0]}" or "{_ON_BUFFERS[1]}" on plane "buffers"'
        return [Problem("channel_state.replay_from", f'"{self.replay_from.value}"', expected)]

    def problems(self) -> list[Problem]:
        """Return what does not hold between the values."""
        found = []
        if self.recovered is Recovered.ATOMIC and not self.on_one_side:
            expected = '"joined", unless handled_by is "downstream"'
            found.append(Problem("recovered", '"atomic"', expected))
        if self.is_logged and self.on_one_side:
            expected = '"both", for what a receiver puts back would be in no log'
            found.append(Problem("handled_by", '"downstream"', expected))
        return found

    @property
    def is_logged(self) -> bool:
        """Whether senders log all that they send."""
        return self.spilling is Spilling.CONTINUOUS

    @property
    def is_log(self) -> bool:
        """Whether each task keeps in-flight data by itself, in a log."""
        return self.is_logged or self.persistence is Persistence.LOG_SERVICE

    @property
    def one_by_one(self) -> bool:
        """Whether a new channel gets all of one old channel after all of another."""
        return self.is_logged or self.recovered is Recovered.ATOMIC
