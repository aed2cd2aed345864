"""Random jobs on records without barriers, with crashes."""

from __future__ import annotations

from ckptsim.scenarios.generators.choices import Choices, drawn, fitted
from ckptsim.scenarios.generators.faults import expected, with_faults
from ckptsim.scenarios.generators.jobs import FAULTS_MAX, MS, US, graph
from ckptsim.scenarios.spec import Scenario

_OF_ITS_TASKS = {
    "sender_records": (20, 2, 60),
    "receiver_records": (2, 8),
    "record_buffers": (1, 3, 2),
    "latency_ns": (0, 3 * MS),
}
_OF_ITS_MESSAGES = {
    "rpc_ns": (0, 500 * US, 2 * MS),
    "snapshot_sync_ns": (0, 300 * US),
    "snapshot_async_ns": (0, 2 * MS),
    "snapshot_jitter_ns": (0, 8 * MS),
    "log_message_ns": (0, 20 * US),
    "carry_index_ns": (0, 10 * US),
}


def uncoordinated(choices: Choices) -> Scenario:
    """Return a random job on records without barriers, with crashes.

    A right job breaks nothing, and always ends.
    """
    interval_ns = choices.of((10, 3, 25)) * MS
    vertices = graph(choices, on_buffers=False, sinks=False)
    for vertex in vertices:
        vertex.pop("ends_at_ns", None)
    text = {
        "vertices": vertices,
        "channels": drawn(choices, _OF_ITS_TASKS),
        "checkpointing": {
            "protocol": choices.of(("uncoordinated", "communication_induced")),
            "interval_ns": interval_ns,
            "message_logs": choices.of((True, True, False)),
        },
        "costs": drawn(choices, _OF_ITS_MESSAGES),
        "storage": {"failure_ratio": choices.of((0.0, 0.0, 0.3))},
        "restart": {"kind": "fixed_delay", "delay_ns": choices.of((5 * MS, 0))},
    }
    scenario = fitted(
        {
            "name": "random_job",
            "link": "barrier_protocol",
            "says": "a random job without barriers",
            "job": text,
            "faults": [],
        }
    )
    times = expected(scenario, step_ns=interval_ns, steps=6)
    # Of many jobs a task fails again before all have stored a checkpoint since.
    return with_faults(
        choices, scenario, times, most=FAULTS_MAX, kinds=("crash_task", "fail_snapshot")
    )
