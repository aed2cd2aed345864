"""The options that are changed, by the table of a document that has the model."""

from __future__ import annotations

from collections.abc import Mapping

from ckptsim.scenarios.generators.rare.changes import Change, one_of, together
from ckptsim.scenarios.generators.rare.jobs import JOB_OPTIONS

_MS = 1_000_000
_BY_ROW = ("flush", "replay", "transaction")

_SYNC: tuple[Change, ...] = (
    one_of("sync.source.checkpoint_ns", 5 * _MS),
    one_of("sync.source.complete_on_every_socket", False, True),
    one_of("sync.source.final_drain", "skip", "wait"),
    one_of("sync.source.keys_on_stdio", True, False),
    one_of("sync.source.open_spread", 0.5),
    # Of two characters they collide in attempt after attempt, until the platform gives up.
    one_of("sync.source.partition_id_characters", 8, 3),
    one_of("sync.source.repeat_states", True, False),
    one_of("sync.destination.upload_bandwidth_bytes_per_s", 100_000),
    together("sync.sockets", {"pipe_bytes": 500}, {"pipe_bytes": 5_000}),
    one_of("sync.platform.count_check", "reject", "report"),
    together(
        "sync.platform", {"empty_attempts": 6}, {"empty_in_a_row": 6}, {"partial_attempts": 6}
    ),
    one_of("sync.streams.*.namespace", "public"),
    together("sync.streams.*", {"state_bytes": 3_000}, {"state_bytes": 64}),
)
_STORE: tuple[Change, ...] = (
    one_of("store.input.partitions", 1, 3),
    one_of("store.input.record_bytes", 10, 1_000),
    *(one_of(f"store.process.{name}_ns", _MS) for name in ("apply", "restart", "reopen", "retry")),
    *(one_of(f"store.costs.{name}_ns", _MS // 10) for name in ("autocommit", "fsync", "remote")),
    *(one_of(f"store.costs.{name}_ns", _MS, 20 * _MS) for name in ("flush", "transaction", "wal")),
    *(
        one_of(f"store.costs.{name}_row_ns", _MS // 10)
        for name in ("flush", "replay", "transaction")
    ),
    one_of("store.costs.flush_bytes_per_s", 100_000),
    together("store.costs", {"remote_ns": 20 * _MS}, {"remote_ns_p99": 500 * _MS}),
    one_of("store.watchdog_ns", 60_000 * _MS),
    one_of("store.rework_records_max", 1_000),
)
_PIPELINE: tuple[Change, ...] = (
    together("pipeline.channels", {"end_of_partition_ns": 3 * _MS}, {"record_buffers": 2}),
    together("pipeline.checkpointing", {"first_trigger_ns": 0}, {"subtasks_per_file": 1}),
    one_of("pipeline.checkpointing.max_queued", 1),
    together("pipeline.checkpointing", {"savepoint_at_ns": 10 * _MS}, {"skip_missed_ticks": True}),
    # Where barriers wait longer in a full channel than a checkpoint may take, all of them expire.
    together("pipeline.checkpointing", {"tolerable_failures": 5, "timeout_ns": 600_000 * _MS}),
    together("pipeline.costs", {"closing_ns": 2 * _MS}, {"restore_ns": 2 * _MS}),
    one_of("pipeline.costs.messages_in_order", False),
    one_of("pipeline.costs.checkpoint_failure_ratio", 0.2),
    one_of("pipeline.machine.cores", 2),
    together("pipeline.machine", {"cost_factor": 2.0}),
    together("pipeline.network", {"debloat": True, "debloat_target_ns": 20 * _MS}),
    together("pipeline.network", {"latency_ns": 3 * _MS}, {"jitter_ns": 0}, {"send_ns": 0}),
    together("pipeline.network", {"max_overdraft_buffers": 0}, {"max_buffers_per_channel": 2}),
    together("pipeline.platform", {"backoff_ns": [_MS]}),
    together("pipeline.platform", {"empty_attempts": 6}, {"empty_in_a_row": 6}),
    one_of("pipeline.platform.partial_attempts", 6),
    one_of("pipeline.release.end_poll_ns", _MS, 5 * _MS),
    one_of("pipeline.release.end_wait_ns", _MS, 5 * _MS),
    one_of("pipeline.release.heartbeat_ns", 5 * _MS),
    one_of("pipeline.release.stall_limit_ns", 1_000 * _MS),
    together("pipeline.release", {"record_ns": _MS // 10}, {"send_spread": 2.0}),
    one_of("pipeline.release.send_tries", 2),
    together("pipeline.sockets", {"bandwidth_bytes_per_s": 100_000}, {"latency_ns": 2 * _MS}),
    one_of("pipeline.sockets.pipe_bytes", 1_000),
    one_of("pipeline.source.complete_on_every_socket", True),
    one_of("pipeline.source.connections", 1),
    one_of("pipeline.source.final_drain", "skip", "wait"),
    together("pipeline.source", {"open_spread": 2.0}, {"record_ns": _MS // 10}),
    # Ids of fewer characters collide by chance; those of syncs may, which then name the hazard.
    one_of("pipeline.source.partition_id_characters", 8, 4),
    one_of("pipeline.source.state_bytes", 20_000),
    together("pipeline.storage", {"create_latency_ns": 2 * _MS}, {"failure_ratio": 0.1}),
    together("pipeline.storage", {"tail_ratio": 0.2, "tail_latency_ns": 20 * _MS}),
    together("pipeline.storage", {"write_bytes_per_s": 5_000_000, "shared_limit": True}),
    one_of("pipeline.store.costs.fsync_ns", 5 * _MS),
    together(
        "pipeline.store.costs", {"flush_row_ns": _MS // 10}, {"transaction_row_ns": _MS // 10}
    ),
    together("pipeline.store.costs", {"remote_ns": 20 * _MS}, {"remote_ns_p99": 100 * _MS}),
    # One flush may have to write a megabyte, and a pipeline takes a second of silence for its end.
    together("pipeline.store.costs", {"wal_ns": 2 * _MS}, {"flush_bytes_per_s": 5_000_000}),
    one_of("pipeline.store.report_ns", 100 * _MS),
    one_of("pipeline.store.retry_ns", _MS),
    one_of("pipeline.store.spread", 0.5),
    one_of("pipeline.stages.*.partitioner", "custom", "shuffle"),
    one_of("pipeline.sink.partitioner", "custom", "shuffle"),
    together("pipeline.streams.*", {"namespace": "public"}, {"state_bytes": 20_000}),
)
OPTIONS: Mapping[str, tuple[Change, ...]] = {
    "job": JOB_OPTIONS,
    "sync": _SYNC,
    "store": _STORE,
    "pipeline": _PIPELINE,
}
