"""Which old subtasks' in-flight data a new subtask takes when the parallelism changes.

A mapper answers, for a new subtask index, which old indices it takes over.  Ambiguous mappers give
one old subtask to several new ones: its records are then replicated and each new one filters them.
An identity needs no virtual channels at all.

Each edge has two mappers, one for its output state (upstream side) and one for its input state
(downstream side), given by how records are distributed over it.

Source: Apache Flink 1.20.3, SubtaskStateMapper, StreamPartitioner and its subclasses,
TaskStateAssignment, RescaleMappings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ckptsim.models.core import ProtocolError
from ckptsim.models.recovery.key_groups import MAX_PARALLELISM, key_group_range

Mapping = tuple[tuple[int, ...], ...]
"""For each new index the old indices that it takes, ascending."""


class Mapper(Enum):
    """A rule that distributes the state of old subtasks over new ones."""

    ARBITRARY = "ARBITRARY"
    COPY = "COPY"  # not of the engine: as broadcast state is read, one old subtask for each new
    FIRST = "FIRST"
    FULL = "FULL"
    RANGE = "RANGE"
    ROUND_ROBIN = "ROUND_ROBIN"
    UNSUPPORTED = "UNSUPPORTED"

    @property
    def may_be_ambiguous(self) -> bool:
        """Whether one old subtask may go to several new ones."""
        return self in (Mapper.RANGE, Mapper.FULL)


def old_subtasks(mapper: Mapper, new_index: int, *, old: int, new: int) -> tuple[int, ...]:
    """Return the old indices that a new index takes, ascending. There may be none.

    Raises ProtocolError for an edge with in-flight data that cannot be redistributed.
    """
    match mapper:
        case Mapper.ARBITRARY | Mapper.ROUND_ROBIN:
            return tuple(range(new_index, old, new))
        case Mapper.COPY:
            return (new_index % old,)
        case Mapper.FIRST:
            return tuple(range(old)) if new_index == 0 else ()
        case Mapper.FULL:
            return tuple(range(old))
        case Mapper.RANGE:
            return _meeting_ranges(new_index, old=old, new=new)
        case Mapper.UNSUPPORTED:
            raise ProtocolError("unsupported_rescale", state=f"{old} to {new} subtasks")


def mapping_of(mapper: Mapper, *, old: int, new: int) -> Mapping:
    """Return what every new index takes."""
    return tuple(old_subtasks(mapper, index, old=old, new=new) for index in range(new))


def inverted(mapping: Mapping, *, old: int) -> Mapping:
    """Return for each old index the new indices that take it, ascending."""
    takers: list[list[int]] = [[] for _ in range(old)]
    for new_index, taken in enumerate(mapping):
        for old_index in taken:
            takers[old_index].append(new_index)
    return tuple(tuple(indices) for indices in takers)


def ambiguous_subtasks(mapping: Mapping, *, old: int) -> tuple[int, ...]:
    """Return the old indices that go to more than one new index, ascending."""
    takers = inverted(mapping, old=old)
    return tuple(index for index in range(old) if len(takers[index]) > 1)


def is_identity(mapping: Mapping, *, old: int) -> bool:
    """Return whether each old subtask stays where it was and new ones begin empty."""
    if len(mapping) < old:
        return False
    return all(taken == ((index,) if index < old else ()) for index, taken in enumerate(mapping))


class Partitioner(Enum):
    """How records are distributed over an edge, under the name of the class that does it."""

    KEY_GROUP = "KeyGroupStreamPartitioner"
    REBALANCE = "RebalancePartitioner"
    SHUFFLE = "ShufflePartitioner"
    GLOBAL = "GlobalPartitioner"
    CUSTOM = "CustomPartitionerWrapper"
    FORWARD = "ForwardPartitioner"
    RESCALE = "RescalePartitioner"
    BROADCAST = "BroadcastPartitioner"
    FORWARD_UNSPECIFIED = "ForwardForUnspecifiedPartitioner"
    FORWARD_CONSECUTIVE_HASH = "ForwardForConsecutiveHashPartitioner"


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """What a partitioner means for in-flight data.

    downstream: None when asking for it is an error (the partitioner is chosen later).
    """

    upstream: Mapper
    downstream: Mapper | None
    pointwise: bool = False
    broadcast: bool = False

    @property
    def supports_unaligned(self) -> bool:
        """Whether barriers may overtake on the edge. Otherwise they are forced to align."""
        return not (self.pointwise or self.broadcast)


_POINTWISE = Distribution(
    upstream=Mapper.UNSUPPORTED, downstream=Mapper.UNSUPPORTED, pointwise=True
)
_CHOSEN_LATER = Distribution(upstream=Mapper.UNSUPPORTED, downstream=None, pointwise=True)

DISTRIBUTIONS: dict[Partitioner, Distribution] = {
    Partitioner.KEY_GROUP: Distribution(upstream=Mapper.ARBITRARY, downstream=Mapper.RANGE),
    Partitioner.REBALANCE: Distribution(upstream=Mapper.ARBITRARY, downstream=Mapper.ROUND_ROBIN),
    Partitioner.SHUFFLE: Distribution(upstream=Mapper.ARBITRARY, downstream=Mapper.ROUND_ROBIN),
    Partitioner.GLOBAL: Distribution(upstream=Mapper.ARBITRARY, downstream=Mapper.FIRST),
    Partitioner.CUSTOM: Distribution(upstream=Mapper.ARBITRARY, downstream=Mapper.FULL),
    Partitioner.FORWARD: _POINTWISE,
    Partitioner.RESCALE: _POINTWISE,
    Partitioner.BROADCAST: Distribution(
        upstream=Mapper.UNSUPPORTED, downstream=Mapper.UNSUPPORTED, broadcast=True
    ),
    Partitioner.FORWARD_UNSPECIFIED: _CHOSEN_LATER,
    Partitioner.FORWARD_CONSECUTIVE_HASH: _CHOSEN_LATER,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GateAssignment:
    """What one new subtask recovers on one gate.

    old_subtasks: the old downstream subtasks that it takes input state of.
    old_channels: for each of its channels the old upstream indices mapped to it.
    identity: nothing has moved in either dimension, so no virtual channels are needed.
    ambiguous: old subtasks with records to filter by today's partitioner.
    on_one_side: it recovers what both ends had, so no sender has anything to replay.
    """

    old_subtasks: tuple[int, ...]
    old_channels: Mapping
    identity: bool
    ambiguous: tuple[int, ...]
    on_one_side: bool = False

    def virtual_channels(self, channel: int) -> tuple[tuple[int, int], ...]:
        """Return the pairs (old subtask, old channel) replayed through a channel, in order."""
        return tuple(
            (subtask, upstream)
            for subtask in self.old_subtasks
            for upstream in self.old_channels[channel]
        )


def assign_gate(
    distribution: Distribution,
    *,
    subtask: int,
    old_parallelism: tuple[int, int],
    new_parallelism: tuple[int, int],
) -> GateAssignment:
    """Work out what a new subtask recovers on a gate. Parallelisms are (upstream, downstream).

    Raises ProtocolError for an edge with in-flight data that cannot be redistributed.
    """
    old_up, old_down = old_parallelism
    new_up, new_down = new_parallelism
    if distribution.downstream is None:
        raise ProtocolError("unsupported_rescale", state="the partitioner is chosen later")
    downstream = mapping_of(distribution.downstream, old=old_down, new=new_down)
    upstream = mapping_of(distribution.upstream, old=old_up, new=new_up)
    moved = ambiguous_subtasks(downstream, old=old_down)
    return GateAssignment(
        old_subtasks=downstream[subtask],
        old_channels=upstream,
        identity=is_identity(downstream, old=old_down) and is_identity(upstream, old=old_up),
        ambiguous=tuple(index for index in downstream[subtask] if index in moved),
    )


def _meeting_ranges(new_index: int, *, old: int, new: int) -> tuple[int, ...]:
    wanted = key_group_range(new_index, max_parallelism=MAX_PARALLELISM, parallelism=new)
    return tuple(
        index
        for index, held in enumerate(_ranges(old))
        if held.start < wanted.stop and wanted.start < held.stop
    )


def _ranges(parallelism: int) -> Sequence[range]:
    return [
        key_group_range(index, max_parallelism=MAX_PARALLELISM, parallelism=parallelism)
        for index in range(parallelism)
    ]
