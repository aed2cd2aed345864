"""The edges of a job: inputs as a scenario has them, with how records choose a subtask."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ckptsim.scenarios.fields import REQUIRED, choice, flag, many, name, ratio, real, size_bytes
from ckptsim.scenarios.limits import not_on_records

_JOB = "assumption: part of the job"
_FLINK = "Source: Apache Flink 1.20.3, "
NO_SIZE = not_on_records("records and state have no size", noted=True)


class Partitioner(StrEnum):
    """How records choose a subtask of the next vertex, by the names of Flink's partitioners.

    Assumption: a custom one is the key modulo the number of subtasks.
    """

    FORWARD = "forward"
    HASH = "hash"
    REBALANCE = "rebalance"
    RESCALE = "rescale"
    SHUFFLE = "shuffle"
    BROADCAST = "broadcast"
    GLOBAL = "global"
    CUSTOM = "custom"

    @property
    def is_pointwise(self) -> bool:
        """Whether a sender is connected to some of the receivers only."""
        return self in (Partitioner.FORWARD, Partitioner.RESCALE)

    @property
    def supports_unaligned(self) -> bool:
        """Whether a barrier may overtake records: their order or copies must not matter.

        Source: Apache Flink 1.20.3, StreamPartitioner.disableUnalignedCheckpoints, which the job
        graph calls for pointwise and broadcast edges.
        """
        return not self.is_pointwise and self is not Partitioner.BROADCAST


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One input of a vertex: an edge of the job graph, and an input gate of each subtask."""

    SOURCE = _JOB

    upstream: str = name(REQUIRED, says="vertex that it comes from")
    partitioner: Partitioner = choice(
        "rebalance",
        Partitioner,
        says="how records choose a subtask",
        source=_FLINK + "StreamGraph, between vertices of unequal parallelism",
    )
    shares: tuple[float, ...] = many(
        real(minimum=0.0, maximum=1e9),
        says="weights of the receiving subtasks among the records that come by key, one each; "
        "absent: even, but for the source's hot_ratio",
        maximum=1024,
    )
    keeps_key: bool | None = flag(
        None,
        optional=True,
        says="records come by the key by which the vertex in front got them, so each of its "
        "subtasks sends to those whose key groups it shares (on records a record has one key for "
        "all); absent: if both have as many subtasks and no shares are told",
        source=_FLINK + "KeyGroupRangeAssignment; measured jobs have one key throughout",
        limits=not_on_records("a record has one key throughout", noted=True),
    )
    record_bytes: int | None = size_bytes(
        None,
        optional=True,
        minimum=1,
        maximum="64 MiB",
        says="one serialised record on this edge, where it is one of several outputs that differ; "
        "absent: as the vertex that it comes from has it",
        limits=NO_SIZE,
    )
    record_variation: float | None = ratio(
        None,
        optional=True,
        says="how much the sizes of records on this edge vary; absent: as the vertex that it comes "
        "from has it",
        limits=NO_SIZE,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One edge of the job graph, with both its ends."""

    upstream: str
    downstream: str
    partitioner: Partitioner
    shares: tuple[float, ...] = ()
    keeps_key: bool | None = None
    record_bytes: int | None = None
    record_variation: float | None = None
