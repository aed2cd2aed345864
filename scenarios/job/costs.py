"""What the parts of a job cost: messages, snapshots and restores, and the checkpoint storage."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from ckptsim.scenarios.dialect import EVERYWHERE, Limits
from ckptsim.scenarios.fields import (
    choice,
    count,
    duration_ns,
    flag,
    number,
    rate_bytes_per_s,
    rate_per_s,
    ratio,
    size_bytes,
)
from ckptsim.scenarios.limits import not_in_pipelines, not_on_buffers, not_on_records

_SMALL = "assumption: small enough to be hunted in milliseconds"
_MACHINE = "assumption: the machine that the costs were measured on"
_STORE = "assumption: order of magnitude of an object store"
_FILE_MERGING = "Source: Apache Flink 1.20.3, execution.checkpointing.file-merging."
_MEASURED = not_on_buffers(
    "messages, snapshots and restores take the measured time, times `machine.cost_factor`"
)
_NO_STORAGE = not_on_records("`costs` says how long a snapshot takes", noted=True)
_FEW = not_in_pipelines("its storage is asked for few files")
_WITHOUT_BARRIERS = not_in_pipelines("its checkpoints are coordinated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What messages and snapshots cost on records, and what of them chance delays, loses or fails.

    On buffers measured constants take the place of the costs. What chance does acts on both.
    """

    SOURCE = _SMALL
    LIMITS: ClassVar[Limits] = _MEASURED

    rpc_ns: int = duration_ns(0, maximum="1 min", says="a message to or from the coordinator")
    rpc_jitter_ns: int = duration_ns(
        0, maximum="1 min", says="at most added to a message, by chance"
    )
    messages_in_order: bool = flag(
        True,
        says="triggers and words of completions that arrive at one instant keep their order",
        source="assumption; off: ties decide, as the coordinator's threads send them side by side",
    )
    notification_jitter_ns: int = duration_ns(
        0,
        maximum="1 min",
        says="at most added to a notification, by chance: notifications can change order",
        limits=EVERYWHERE,
    )
    notification_loss_ratio: float = ratio(
        0.0, says="share of completion notifications that are lost", limits=EVERYWHERE
    )
    log_message_ns: int = duration_ns(
        0,
        maximum="1 min",
        says="without barriers, how long logging one message keeps the sender's thread",
        limits=_MEASURED + _WITHOUT_BARRIERS,
    )
    carry_index_ns: int = duration_ns(
        0,
        maximum="1 min",
        says="communication-induced, how long the index of one message keeps the sender's thread",
        limits=_MEASURED + _WITHOUT_BARRIERS,
    )
    snapshot_sync_ns: int = duration_ns(
        0,
        maximum="1 min",
        says="how long copying the state keeps a task's thread, on either plane",
        source="assumption: a backend that copies on write; measured: 0 ms in the median",
        limits=EVERYWHERE,
    )
    snapshot_async_ns: int = duration_ns(0, maximum="1 h", says="from there to the acknowledgement")
    snapshot_jitter_ns: int = duration_ns(
        0, maximum="1 h", says="at most added to the asynchronous part, by chance"
    )
    checkpoint_failure_ratio: float = ratio(
        0.0, says="share of checkpoints that fail when they are to be stored", limits=EVERYWHERE
    )
    completion_ns: int = duration_ns(
        0,
        maximum="1 h",
        says="from the last acknowledgement to the notifications, during which the checkpoint is "
        "pending; on buffers on top of the measured time",
        limits=EVERYWHERE,
    )
    read_record_ns: int = duration_ns(
        0,
        maximum="1 min",
        says="time to read one buffer of input state back, where the parallelism has changed",
        limits=_MEASURED + not_in_pipelines("it is never rescaled"),
    )
    restore_ns: int = duration_ns(
        0,
        maximum="1 h",
        says="from a restart to the work of a restored task, which declines triggers until then",
    )
    closing_ns: int = duration_ns(
        0,
        maximum="1 min",
        says="from a task's close to its end; asked meanwhile it says so, afterwards it is unknown",
    )
    transaction_timeout_ns: int | None = duration_ns(
        None,
        minimum="1 us",
        says="after which the external system aborts a transaction that has not ended; absent: "
        "not before the job is over",
        source="Source: Apache Kafka, transaction.timeout.ms (1 min by default, at most 15 min)",
        optional=True,
        limits=EVERYWHERE,
    )


class Throttling(StrEnum):
    """What becomes of a request above the limit."""

    WAIT = "wait"
    RETRY = "retry"


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """Where checkpoints are written, on buffers. On records `costs` says how long that takes."""

    SOURCE = _STORE
    LIMITS: ClassVar[Limits] = _NO_STORAGE

    write_bytes_per_s: int | None = rate_bytes_per_s(
        None, optional=True, says="limit of one stream or of all, absent for none"
    )
    read_bytes_per_s: int | None = rate_bytes_per_s(
        None,
        optional=True,
        says="limit of each stream of a restore, absent for none; read where `recovery` is timed",
        limits=_NO_STORAGE + not_in_pipelines("its job comes back at once"),
    )
    read_job_bytes_per_s: int | None = rate_bytes_per_s(
        None,
        optional=True,
        says="limit of all streams of a restore together, absent for none",
        limits=_NO_STORAGE + not_in_pipelines("its job comes back at once"),
    )
    shared_limit: bool = flag(False, says="all streams of the job share the limit `write`")
    write_host_bytes_per_s: int | None = rate_bytes_per_s(
        None, optional=True, says="limit of all streams of a task manager together, absent for none"
    )
    read_host_bytes_per_s: int | None = rate_bytes_per_s(
        None,
        optional=True,
        says="the same of what a restore reads",
        limits=_NO_STORAGE + not_in_pipelines("its job comes back at once"),
    )
    requests_per_s: float | None = rate_per_s(
        None,
        optional=True,
        minimum=0.001,
        says="requests a second that create, open, list or delete, absent for any number",
    )
    prefixes: int = count(
        1,
        minimum=1,
        maximum=1_000_000,
        unit="prefixes",
        says="of keys that files are spread over, each with the limit `requests_per_s`: entropy "
        "injection makes many of one",
        source="Source: Amazon S3, 3,500 writes/s a prefix; Apache Flink 1.20.3, s3.entropy.key",
        limits=_NO_STORAGE + _FEW,
    )
    throttling: Throttling = choice(
        "wait",
        Throttling,
        says="a request above the limit waits for its turn; or it is answered with 503, and tried "
        "again after a back-off",
        limits=_NO_STORAGE + _FEW,
    )
    retry_backoff_ns: int = duration_ns(
        "500 ms",
        minimum="1 us",
        maximum="1 h",
        says="the first back-off after a 503, doubled each time up to 20 s, half of it by chance",
        source="Source: AWS SDK for Java, throttled base delay and longest back-off",
        limits=_NO_STORAGE + _FEW,
    )
    retries: int = count(
        10,
        maximum=1_000,
        unit="requests",
        says="after so many more 503 a file cannot be written; one that is read is tried on",
        source="assumption: order of magnitude of clients of object stores",
        limits=_NO_STORAGE + _FEW,
    )
    file_merging: bool = flag(
        False,
        says="files of a task manager go behind each other into one that is open, if one is free",
        source=_FILE_MERGING + "enabled",
        limits=_NO_STORAGE + not_in_pipelines("its stages have no state"),
    )
    file_merging_bytes: int = size_bytes(
        "32 MiB",
        minimum=1,
        says="size from which a merged file takes no more",
        source=_FILE_MERGING + "max-file-size",
        limits=_NO_STORAGE + not_in_pipelines("its stages have no state"),
    )
    file_merging_across: bool = flag(
        False,
        says="a merged file takes files of later checkpoints, too",
        source=_FILE_MERGING + "across-checkpoint-boundary",
        limits=_NO_STORAGE + not_in_pipelines("its stages have no state"),
    )
    host_transfers: int | None = count(
        None,
        optional=True,
        minimum=1,
        maximum=100_000,
        unit="files",
        says="that a task manager writes at once, and as many that it reads; absent: any number",
        source="Source: Apache Flink 1.20.3, s3.upload.max.concurrent.uploads",
        limits=_NO_STORAGE + _FEW,
    )
    open_latency_ns: int = duration_ns(
        "0 ms",
        says="time to open a file of a restore",
        limits=_NO_STORAGE + not_in_pipelines("its job comes back at once"),
    )
    list_latency_ns: int = duration_ns(
        "0 ms",
        says="time to list the folder of a checkpoint that is deleted",
        limits=_NO_STORAGE + _FEW,
    )
    delete_latency_ns: int = duration_ns(
        "0 ms",
        says="time to delete a file, in the background; while more checkpoints than "
        "`max_concurrent` are deleted no other one begins; without either latency a deletion "
        "takes neither time nor requests",
        source="Source: Apache Flink 1.20.3, CheckpointsCleaner, CheckpointRequestDecider",
        limits=_NO_STORAGE + _FEW,
    )
    transfer_threads: int = count(
        4,
        minimum=1,
        maximum=1_000,
        unit="threads",
        says="that write or read the files of a subtask, or delete those of a checkpoint",
        source="Source: Apache Flink 1.20.3, state.backend.rocksdb.checkpoint.transfer.thread.num",
        limits=_NO_STORAGE + not_in_pipelines("its stages have no state"),
    )
    create_latency_ns: int = duration_ns("0 ms", says="time to create a file")
    tail_ratio: float = ratio(0.0, says="share of requests that are answered late")
    tail_latency_ns: int = duration_ns("0 ms", says="mean of what those take longer, exponential")
    failure_ratio: float = ratio(
        0.0, says="share of files that cannot be written", limits=EVERYWHERE
    )
    inline_threshold_bytes: int = size_bytes(
        "20 KiB",
        says="smaller state travels in the acknowledgement",
        source="Source: Apache Flink 1.20.3, execution.checkpointing.data-inline-threshold",
    )

    @property
    def deletes_take_time(self) -> bool:
        """Whether the storage takes time to delete a checkpoint."""
        return bool(self.list_latency_ns or self.delete_latency_ns)


class Profile(StrEnum):
    """Which machine, storage and harness costs were measured on, or stand for the user's."""

    PLAIN = "plain"
    RIG = "rig"


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What runs the tasks, on buffers. The costs of a core were measured on a quiet small one."""

    LIMITS: ClassVar[Limits] = not_on_records("work takes no processor", noted=True)

    cores: int | None = count(
        None,
        optional=True,
        minimum=1,
        maximum=100_000,
        unit="cores",
        says="processors of all hosts together; absent: as `profile` has it, one per slot",
        source="assumption: task managers have a core for each slot, as is advised",
    )
    cost_factor: float = number(
        1.0,
        minimum=0.01,
        maximum=1000.0,
        says="times the work of a core for messages, barriers and files",
        source=_MACHINE,
    )
