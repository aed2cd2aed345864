"""The summaries' tables: their names, their columns, the order of their rows, their version."""

from __future__ import annotations

from collections.abc import Mapping

VERSION = 1  # of names, columns and their meaning: summaries of another version are stale
POINT = ("scenario", "parameters")
WAITS = ("wait_records_ns", "wait_upload_ns", "wait_predecessor_ns", "wait_send_ns")
BARRIERS = ("start_delay_ns", "alignment_ns", "sync_ns", "async_ns")
TASK_MEANS = (
    *("records_per_s", "busy_ratio", "backpressured_ratio", "idle_ratio"),
    *("input_queue_buffers_mean", "output_queue_buffers_mean"),
)
PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
OUTCOMES = ("completed", "failed", "stalled", "error")
UNFINISHED = ("failed", "aborted", "expired", "pending")
EXAMPLES = 3  # of a property that runs of a point broke
OUTLIERS = 10
STEPS = 10_000  # of a point's distribution: up to here all, of more every second, third, ...


def _of(kind: str, *names: str) -> dict[str, str]:
    return dict.fromkeys(names, kind)


_POINT = {"point": "int"}  # its position in `points.parquet`
_RUN = {"seed": "bigint", "ties": "string"}
_METRIC = {"metric": "string"}
_TIMES = ("triggered_ns", "elapsed_ns")

# Table -> column -> type in Spark's words.
SUMMARIES: Mapping[str, Mapping[str, str]] = {
    "outcomes": {
        **_POINT,
        **_of("bigint", "runs", *OUTCOMES, "violations", "runs_violated", "attempts"),
        "tie_policies": "int",
    },
    "latency": {
        **_POINT,
        **_of("bigint", "n", "completed", *UNFINISHED),
        **_of("double", "probability", "completed_ns"),
        "latency_ns": "bigint",
    },
    "distribution": {**_POINT, **_of("bigint", "n", "unfinished", "latency_ns"), "below": "double"},
    "phases": {
        **_POINT,
        "phase": "string",
        **_of("bigint", "n", "total_ns", "duration_ns"),
        "share": "double",
    },
    "first_barriers": {**_POINT, "n": "bigint", **_of("double", "low_ns", "median_ns", "high_ns")},
    "tasks": {**_POINT, "task": "string", "subtasks": "bigint", **_of("double", *TASK_MEANS)},
    "estimates": {
        "kind": "string",
        **_POINT,
        **_METRIC,
        **_of("bigint", "n", "unpaired"),
        **_of("double", "mean", "low", "high"),
    },
    "violations": {
        **_POINT,
        "property": "string",
        **_of("bigint", "runs", "of"),
        "rank": "int",
        **_RUN,
        "at_ns": "bigint",
        **_of("string", "says", "story", "replay"),
    },
    "errors": {**_POINT, "error": "string", **_of("bigint", "runs", "seed"), "replay": "string"},
    "outliers": {
        **_POINT,
        **_RUN,
        **_of("string", "run_key", "scope"),
        **_of("bigint", "checkpoint_id", "attempt"),
        **_of("string", "status", "reason"),
        **_of("bigint", *_TIMES),
        "replay": "string",
    },
    "goals": {"goal": "string", **_of("bigint", "runs", "runs_reached", "reached")},
    "replications": {**_METRIC, **_POINT, "seed": "bigint", "value": "double"},
    "metrics": {**_METRIC, **_POINT, **_RUN, "run_key": "string", "value": "double"},
}

# Table -> expressions by which its rows are put in order.
ORDER: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("outcomes", "first_barriers"), ("point",)),
    "latency": ("point", "probability"),
    "distribution": ("point", "latency_ns"),
    "phases": ("point", "phase"),
    "tasks": ("point", "task"),
    "estimates": ("kind", "point", "metric"),
    "violations": ("point", "property", "rank"),
    "errors": ("point", "error"),
    "outliers": ("-elapsed_ns", "run_key"),
    "goals": ("goal",),
    "replications": ("metric", "point", "seed"),
    "metrics": ("metric", "point", "seed", "ties", "run_key"),
}
