"""What carries the records of a job: buffers and network, or channels with room for records."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from ckptsim.scenarios.dialect import Limits
from ckptsim.scenarios.fields import choice, count, duration_ns, flag, size_bytes
from ckptsim.scenarios.limits import not_in_pipelines, not_on_buffers, not_on_records

_JOB = "assumption: a small job, to be replaced by the job in question"
_SMALL = "assumption: small enough to be hunted in milliseconds"
_FLINK = "Source: Apache Flink 1.20.3, TaskManagerOptions"
_LOOPBACK = "assumption: loopback network with thread wake-ups"
_OF_NETWORK = not_on_buffers("`network` says what a channel holds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """Records, buffers and the network between task managers, on buffers."""

    SOURCE = _FLINK
    LIMITS: ClassVar[Limits] = not_on_records("`channels` says what a channel holds", noted=True)

    record_bytes: int = size_bytes(
        "1 KiB", minimum=1, maximum="64 MiB", says="one serialised record", source=_JOB
    )
    segment_bytes: int = size_bytes("32 KiB", minimum=256, maximum="64 MiB", says="one buffer")
    exclusive_buffers: int = count(2, maximum=1000, says="buffers that a remote channel owns")
    floating_buffers: int = count(
        8, minimum=1, maximum=10_000, says="buffers that the channels of a gate share"
    )
    max_buffers_per_channel: int = count(
        10, minimum=2, maximum=10_000, says="most buffers of one outgoing channel"
    )
    max_overdraft_buffers: int = count(
        5, maximum=10_000, says="buffers beyond the pool to finish one record"
    )
    buffer_timeout_ns: int = duration_ns(
        "100 ms",
        says="flush interval, 0 for never",
        source="Source: Apache Flink 1.20.3, execution.buffer-timeout.interval",
    )
    debloat: bool = flag(False, says="shrink buffers to a target time")
    debloat_target_ns: int = duration_ns(
        "1 s", minimum="1 ms", says="time that buffered data may take"
    )
    latency_ns: int = duration_ns(
        "150 us", says="least time of a message one way", source=_LOOPBACK
    )
    jitter_ns: int = duration_ns(
        "100 us", says="mean of what comes on top, exponential", source=_LOOPBACK
    )
    send_ns: int = duration_ns("40 us", says="time to write one buffer", source=_LOOPBACK)


class BufferSizes(StrEnum):
    """How full buffers are when they are sent, on records."""

    CONSTANT = "constant"
    FLUSHED = "flushed"
    DEBLOATED = "debloated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """What every channel between two subtasks can hold on records, and what passing it costs."""

    SOURCE = _SMALL
    LIMITS: ClassVar[Limits] = _OF_NETWORK

    sender_records: int = count(
        4, minimum=1, maximum=100_000, unit="records", says="room in the sender's queue"
    )
    receiver_records: int = count(
        4, minimum=1, maximum=100_000, unit="records", says="credit of the receiver"
    )
    preloaded_records: int = count(
        0,
        maximum=10_000,
        unit="records",
        says="records that every channel holds at the start, as if processed upstream, on top of "
        "those that the source emits",
        source="assumption: represents a backlog that has built up",
        limits=not_in_pipelines("its source begins with nothing in flight"),
    )
    record_buffers: int = count(
        1,
        minimum=1,
        maximum=100,
        unit="buffers",
        says="buffers that one record takes; a checkpoint can lie between two of them, and room "
        "and credit count buffers",
    )
    buffer_sizes: BufferSizes = choice(
        "constant",
        BufferSizes,
        says="bytes in a buffer: all are full; half of them, by chance, are flushed before; or "
        "they shrink while a channel is in use. It matters to what computes with them",
        source="Source: Apache Flink 1.20.3, buffer timeout and buffer debloating; sizes assumed",
        limits=_OF_NETWORK + not_in_pipelines("it replays no log"),
    )
    latency_ns: int = duration_ns(0, maximum="1 min", says="time on the wire")
    end_of_partition_ns: int = duration_ns(
        0, maximum="1 min", says="time that EndOfPartition takes on top"
    )
