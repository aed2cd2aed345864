"""Small jobs in which one subtask and one phase is the cause by construction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.files import document
from ckptsim.scenarios.links import LINKS

Table = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A job, the duties of it, and the right answer."""

    name: str
    target: int | str
    right: tuple[str | None, int | None, str]
    scenario: Scenario


def source(name: str = "source", **more: Any) -> Table:
    """Return a source of 400 records a second."""
    return {"name": name, "kind": "source", "parallelism": 2, "rate": "400 /s"} | more


def operator(name: str, *upstream: str, **more: Any) -> Table:
    """Return an operator of two subtasks that has time for its records."""
    by = more.pop("by", "hash")
    inputs = [{"upstream": one, "partitioner": by} for one in upstream]
    return {"name": name, "parallelism": 2, "service": "500 us", "inputs": inputs} | more


def buffers(
    name: str,
    target: int | str,
    right: tuple[str | None, int | None, str],
    vertices: list[Table],
    *,
    faults: list[Table] | None = None,
    duration: str = "2 s",
    checkpointing: Table | None = None,
    **tables: Table,
) -> Case:
    """Return a case on buffers."""
    every = {"interval": "500 ms", "first_trigger": "500 ms"} | (checkpointing or {})
    job = {"plane": "buffers", "duration": duration, "vertices": vertices, "checkpointing": every}
    scenario = _read(name, "barriers", job | tables, faults)
    return Case(name=name, target=target, right=right, scenario=scenario)


def records(
    name: str,
    target: int | str,
    right: tuple[str | None, int | None, str],
    vertices: list[Table],
    *,
    faults: list[Table] | None = None,
    checkpointing: Table | None = None,
    **tables: Table,
) -> Case:
    """Return a case on records, which ends after half a second."""
    every = {"interval": "100 ms"} | (checkpointing or {})
    job = {"plane": "records", "vertices": vertices, "checkpointing": every}
    job |= {"ending": {"horizon": "450 ms"}} | tables
    scenario = _read(name, "barrier_protocol", job, faults)
    return Case(name=name, target=target, right=right, scenario=scenario)


def fault(kind: str, vertex: str, subtask: int = 0, **more: Any) -> Table:
    """Return a fault of a subtask."""
    return {"kind": kind, "vertex": vertex, "subtask": subtask} | more


def _read(name: str, link: str, job: Table, faults: list[Table] | None) -> Scenario:
    table: Table = {"name": name.replace(" ", "-"), "link": link, "says": name, "job": job}
    if faults:
        table["faults"] = faults
    return document.read(table, source=name, links=LINKS)


STATE = {"state": "4 MB"}
CASES = [
    buffers(
        "slow subtask", 2, ("map", 1, "start_delay"),
        [source(), operator("map", "source", service_factors=[1.0, 14.0]),
         operator("sink", "map", parallelism=1, service="50 us")],
    ),
    buffers(
        "skewed key", 2, ("agg", 0, "start_delay"),
        [source(hot_ratio=0.9, rate="1600 /s"), operator("agg", "source", service="900 us")],
    ),
    buffers(
        "slow upload of one", 2, ("agg", 1, "async"),
        [source(), operator("agg", "source", subtask_state_bytes=["30 KiB", "3 MB"])],
        storage={"write": "10 MB/s"},
    ),
    buffers(
        "late file of one", 3, ("agg", 0, "async"),
        [source(), operator("agg", "source", **STATE)],
        faults=[fault("slow_file", "agg", checkpoint=3, delay="300 ms")],
    ),
    buffers(
        "long synchronous part", 2, ("copy", 0, "sync"),
        [source(), operator("copy", "source", parallelism=1, snapshot_sync="200 ms", **STATE)],
    ),
    buffers(
        "back-pressure from a sink three hops away", 2, ("sink", 0, "start_delay"),
        [source(parallelism=1, rate="3000 /s"),
         *(operator(name, up, parallelism=1, service="50 us", by="rebalance")
           for name, up in (("a", "source"), ("b", "a"), ("c", "b"))),
         operator("sink", "c", parallelism=1, service="1 ms", by="rebalance")],
        network={"segment": "4 KiB"},
    ),
    buffers(
        "trigger delayed by the checkpoint before", 2, ("agg", 0, "trigger_delay"),
        [source(), operator("agg", "source", **STATE)],
        faults=[fault("slow_file", "agg", checkpoint=1, delay="900 ms")],
    ),
    buffers(
        "trigger delayed by the minimum pause", 2, (None, None, "trigger_delay"),
        [source(), operator("agg", "source")],
        checkpointing={"min_pause": "900 ms"},
    ),
    buffers(
        "idle input beside a full one", 2, ("join", 0, "alignment"),
        [source("busy", parallelism=1, rate="2000 /s"), source("idle", parallelism=1, rate="1 /s"),
         operator("join", "busy", "idle", parallelism=1, service="1 ms")],
    ),
    buffers(
        "paused garbage collector", 2, ("agg", 1, "start_delay"),
        [source(), operator("agg", "source")],
        faults=[fault("stall_task", "agg", 1, at="950 ms", lasts="400 ms")],
    ),
    buffers(
        "paused source", 2, ("source", 1, "start_delay"),
        [source(), operator("agg", "source")],
        faults=[fault("stall_task", "source", 1, at="950 ms", lasts="400 ms")],
    ),
    buffers(
        "trigger that comes late to a source", 2, ("source", 0, "trigger_delay"),
        [source(), operator("agg", "source")],
        faults=[fault("delay_trigger", "source", checkpoint=2, delay="300 ms")],
    ),
    buffers(
        "late acknowledgement", 2, ("agg", 1, "acknowledge"),
        [source(), operator("agg", "source")],
        faults=[fault("delay_acknowledgement", "agg", 1, checkpoint=2, delay="300 ms")],
    ),
    buffers(
        "large in-flight data", 2, ("agg", 0, "async"),
        [source(rate="3000 /s"), operator("agg", "source", parallelism=1, service="1 ms")],
        checkpointing={"mode": "unaligned"},
        storage={"write": "1 MB/s"},
    ),
    buffers(
        "expiring uploads", "expired", ("agg", 1, "async"),
        [source(), operator("agg", "source", subtask_state_bytes=["30 KiB", "9 MB"])],
        storage={"write": "10 MB/s"},
        checkpointing={"timeout": "300 ms", "tolerable_failures": 9},
    ),
    buffers(
        "slow storage reads", "recovery 1", ("agg", 0, "restore"),
        [source(), operator("agg", "source", subtask_state_bytes=["20 MB", "30 KiB"])],
        storage={"read": "10 MB/s"}, recovery={"timed": True},
        restart={"kind": "fixed_delay", "delay": "50 ms"}, duration="5 s",
        faults=[fault("crash_task", "agg", 1, at="800 ms")],
    ),
    buffers(
        "storage that is slow for a time", "recovery 1", ("agg", 0, "restore"),
        [source(rate="200 /s"), operator("agg", "source", subtask_state_bytes=["9 MB", "4 MB"])],
        storage={"write": "200 MB/s", "read": "40 MB/s"}, recovery={"timed": True},
        restart={"kind": "fixed_delay", "delay": "100 ms"}, duration="14 s",
        faults=[fault("crash_task", "agg", 1, at="800 ms"),
                {"kind": "slow_storage", "at": "700 ms", "lasts": "8 s", "factor": 20.0}],
    ),
    buffers(
        "heartbeats", "recovery 1", ("agg", 1, "detection"),
        [source(), operator("agg", "source")],
        recovery={"timed": True, "heartbeat_interval": "500 ms", "heartbeat_timeout": "4 s"},
        restart={"kind": "fixed_delay", "delay": "50 ms"}, duration="9 s",
        faults=[fault("crash_task_manager", "agg", 1, at="800 ms", symptom="silent")],
    ),
    buffers(
        "restart delay", "recovery 1", (None, None, "restart_delay"),
        [source(), operator("agg", "source")],
        recovery={"timed": True}, restart={"kind": "fixed_delay", "delay": "2 s"}, duration="5 s",
        faults=[fault("crash_task", "agg", 1, at="800 ms")],
    ),
    buffers(
        "scheduling", "recovery 1", (None, None, "scheduling"),
        [source(rate="20 /s"), operator("agg", "source")], profile="rig",
        recovery={"timed": True}, restart={"kind": "fixed_delay", "delay": "0 s"}, duration="3 s",
        faults=[fault("crash_task", "agg", 1, at="800 ms")],
    ),
    buffers(
        "catching up", "recovery 1", ("agg", 0, "catch_up"),
        [source(rate="900 /s"), operator("agg", "source", parallelism=1, service="1 ms")],
        recovery={"timed": True}, restart={"kind": "fixed_delay", "delay": "50 ms"},
        duration="6 s",
        faults=[fault("crash_task", "agg", 0, at="800 ms")],
    ),
    buffers(
        "savepoint that no sink commits", 2, ("agg", 0, "async"),
        [source(), operator("agg", "source", parallelism=1, state="6 MB"),
         operator("sink", "agg", kind="sink", service="50 us")],
        storage={"write": "20 MB/s"}, checkpointing={"savepoint_at": "900 ms"},
    ),
    buffers(
        "slow branch before a join", 2, ("geo", 0, "start_delay"),
        [source(rate="3000 /s"), operator("geo", "source", parallelism=1),
         operator("cheap", "source", service="10 us"), operator("join", "geo", "cheap")],
    ),
    buffers(
        "paused sink that keeps back what comes before it", 2, ("sink", 0, "start_delay"),
        [source(rate="3000 /s"), operator("a", "source", service="10 us"),
         operator("b", "a", service="10 us"), operator("sink", "b", kind="sink", service="10 us")],
        faults=[fault("stall_task", "sink", 0, at="900 ms", lasts="1 s")],
        network={"segment": "4 KiB"},
    ),
    buffers(
        "state that only a lost task manager reads", "recovery 1", ("agg", 1, "restore"),
        [source(), operator("agg", "source", subtask_state_bytes=["21 MB", "20 MB"])],
        storage={"read": "200 kB/s"}, recovery={"timed": True},
        state={"backend": "rocksdb", "local_recovery": True},
        restart={"kind": "fixed_delay", "delay": "50 ms"}, duration="2 min",
        faults=[fault("crash_task_manager", "agg", 1, at="800 ms")],
    ),
    records(
        "slow subtask on records", 2, ("map", 0, "start_delay"),
        [source(rate="2000 /s"), operator("map", "source", service="900 us",
                                          slow_subtask_factor=6.0),
         operator("sink", "map", kind="sink", service="10 us")],
    ),
    records(
        "paused subtask that others share a file with", 2, ("map", 1, "start_delay"),
        [source(rate="1000 /s"), operator("map", "source", service="100 us"),
         operator("sink", "map", kind="sink", service="100 us")],
        checkpointing={"mode": "unaligned"},
        faults=[fault("stall_task", "map", 1, at="195 ms", lasts="70 ms")],
    ),
    records(
        "commit that blocks", 2, (None, None, "commit"),
        [source(), operator("sink", "source", kind="sink", service="10 us")],
        costs={"completion": "60 ms"},
    ),
    records(
        "commit that comes late to one sink", 2, ("sink", 1, "commit"),
        [source(), operator("sink", "source", kind="sink", service="10 us")],
        faults=[fault("delay_notification", "sink", 1, checkpoint=2, delay="70 ms")],
    ),
    records(
        "files that come late to a global committer", 2, ("sink", 1, "commit"),
        [source(),
         operator("sink", "source", kind="sink", service="10 us", global_committer=True)],
        faults=[fault("delay_precommit", "sink", 1, checkpoint=2, delay="70 ms")],
    ),
    records(
        "snapshot that fails", 2, ("agg", 1, "async"),
        [source(), operator("agg", "source")],
        costs={"snapshot_async": "20 ms"}, checkpointing={"tolerable_failures": 5},
        faults=[fault("fail_snapshot", "agg", 1, checkpoint=2)],
    ),
    records(
        "lost trigger", "expired", ("source", 1, "trigger_delay"),
        [source(), operator("agg", "source")],
        checkpointing={"timeout": "80 ms", "tolerable_failures": 5},
        faults=[fault("lose_trigger", "source", 1, checkpoint=2)],
    ),
    records(
        "lost acknowledgement", "expired", ("agg", 0, "acknowledge"),
        [source(), operator("agg", "source")],
        checkpointing={"timeout": "80 ms", "tolerable_failures": 5},
        faults=[fault("lose_acknowledgement", "agg", 0, checkpoint=2)],
    ),
    records(
        "source that is not ready", "failed", ("source", 0, "trigger_delay"),
        [source(), operator("agg", "source")],
        checkpointing={"tolerable_failures": 5},
        faults=[fault("refuse_trigger", "source", 0, checkpoint=2)],
    ),
]  # fmt: skip
