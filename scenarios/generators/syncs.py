"""Random syncs, and random checkpoint stores of sound design, each with fault plans.

Every fault of a plan fails at most one attempt, and a plan has fewer than the platform forgives.
Or the sync may end either way, and its platform forgives fewer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from ckptsim.scenarios.generators.choices import Choices, drawn, fitted
from ckptsim.scenarios.generators.faults import expected, with_faults
from ckptsim.scenarios.generators.hazards import with_hazards
from ckptsim.scenarios.spec import Scenario
from ckptsim.scenarios.store import RecordDurability, StorePlacement
from ckptsim.scenarios.sync import FailSend, Medium, StateKind, SyncModel

_MS = 1_000_000
_NAMES = ("users", "orders", "items")
# In all, where two of them already end an attempt: two attempts, and what a third begins with.
_FAILED_SENDS_MAX = 5
# With heartbeats of 5 ms ten minutes, which is what the platform gives, would take seconds.
_STALL_LIMIT_NS = 10_000 * _MS
# The fifth failed attempt without data in a row would be the platform's last.
FAULTS_MAX = 4
# Each one other than the one before, so that one shows how many attempts in a row had no data.
_BACKOFF_NS = [2 * _MS, 5 * _MS, 11 * _MS, 23 * _MS]
_SOURCE = {
    "checkpoint_lock": ("locked", "unlocked"),
    "checkpoint_ns": (_MS, 4 * _MS, 20 * _MS),
    "generate_ns": ("none", "none", "none", _MS // 2, 3 * _MS),
    "round_readers": (1, 2, 3, 4),
    "connections": (1, 2, 3, 4),
    "open_ns": (0, _MS // 2, 2 * _MS, 4 * _MS),
    "record_ns": (10_000, 1_000, 100_000),
    "packet_records": (4, 5, 10, 30),
    "reader_limit_ns": ("none", "none", 3 * _MS),
    "log_partition_records": (5, 20, 40),
    "state_bytes": (1_024, 64, 16_384),
}
_SOCKETS = {
    "bandwidth_bytes_per_s": (20_000_000, 1_000_000),
    "latency_ns": (0, _MS // 2, 3 * _MS),
    "pipe_bytes": (65_536, 4_096, 500),
}
_DESTINATION = {
    "record_ns": (4_000, 0, 50_000),
    "batch_records": (5, 20, 80),
    "batch_delay_ns": (50 * _MS, 2 * _MS),
    "upload_ns": (0, 2 * _MS, 20 * _MS),
    "upload_spread": (0.5, 0.0, 1.5),
    "uploads_at_once": (1, 2, 4),
    "complete_ns": (0, 4 * _MS, 40 * _MS),
    "state_memory_bytes": (1 << 20, 4_096),
    "memory_policy": ("overflow", "overflow", "block"),
    "heartbeat_ns": (60_000 * _MS, "none", 5 * _MS),
    "send_ns": (0, _MS // 2, 4 * _MS, 20 * _MS),
    "send_spread": (0.3, 0.0),
    # So many that no fault fails more than one attempt by itself.
    "send_tries": (5, 3, 2),
    "upload_tries": (3, 2),
    "end_wait_ns": (60_000 * _MS, 10 * _MS, _MS),
    "end_poll_ns": (1_000 * _MS, 3 * _MS),
    "stall_limit_ns": (_STALL_LIMIT_NS,),
}
_LEVELS = {"levels": ("complete", "persisted", "both"), "rejects_at": ("persisted", "complete")}
# How soon the platform gives up.  Mostly it does not before the faults have stopped.
_LIMITS: tuple[dict[str, Any], ...] = (
    *({}, {}, {}, {}),
    *({"empty_in_a_row": 2}, {"empty_attempts": 2}, {"partial_attempts": 1}),
    *({"partial_attempts": 2}, {"empty_in_a_row": 1, "empty_attempts": 3}),
)


def ordering(choices: Choices) -> Scenario:
    """Return a random sync with a fault plan."""
    kind = choices.of(tuple(StateKind)).value
    sync: dict[str, Any] = {
        "medium": choices.of(tuple(Medium)).value,
        "state_kind": kind,
        "streams": [_stream(choices, name) for name in _NAMES[: choices.integer(1, 3)]],
        "source": drawn(choices, _SOURCE) if choices.flag() else {},
        "sockets": drawn(choices, _SOCKETS) if choices.flag() else {},
        "destination": drawn(choices, _DESTINATION) if choices.flag() else {},
        "platform": {},
    }
    sync["source"]["log_records"] = 0 if kind == "stream" else choices.integer(0, 80)
    sync["sockets"]["count"] = choices.integer(1, 4)
    sync["destination"] |= drawn(choices, _LEVELS)
    theme = choices.integer(0, 9)
    if theme < len(_THEMES):
        _THEMES[theme](choices, sync)
    scenario = fitted(
        {
            "name": "generated",
            "link": "ordering",
            "says": "a workload and fault plan that was generated",
            "sync": sync,
        }
    )
    kinds = ("crash_at", "crash_point") if theme == 0 else None
    times = expected(scenario, step_ns=6 * _MS, steps=6)
    scenario = with_faults(choices, scenario, times, most=FAULTS_MAX, kinds=kinds)
    return with_hazards(_completing(scenario))


def _stream(choices: Choices, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "records": choices.integer(0, 90),
        "partition_records": choices.integer(5, 60),
        "record_bytes": choices.of((100, 10, 2_000)),
        "reject_every": choices.of((0, 0, 2, 7, 1)),
    }


def _completing(scenario: Scenario) -> Scenario:
    model = cast("SyncModel", scenario.model)
    failed = [fault.sends for fault in scenario.faults if isinstance(fault, FailSend)]
    destination = model.destination
    if failed:
        # A send that failed is repeated at the next heartbeat.
        destination = replace(destination, stall_limit_ns=_STALL_LIMIT_NS)
    if sum(failed) > _FAILED_SENDS_MAX:
        # Or more attempts in a row fail without data than the platform lets pass.
        destination = replace(destination, send_tries=5)
    return replace(scenario, model=replace(model, destination=destination))


def _fails_in_turn(choices: Choices, sync: dict[str, Any]) -> None:
    """Have attempts fail soon after each other, and some platforms give up sooner."""
    limits = choices.of(_LIMITS)
    sync["platform"] = {"backoff_ns": _BACKOFF_NS} | limits
    if limits:
        sync["outcome"] = "any"


def _is_short_of_memory(choices: Choices, sync: dict[str, Any]) -> None:
    """Have states of several sizes wait for memory, so that one that leaves makes room for some."""
    for stream in sync["streams"]:
        stream["state_bytes"] = choices.of((900, 3_800, 1_500))
        stream["partition_records"] = choices.integer(5, 15)
    sync["destination"] |= {"state_memory_bytes": 4_096, "memory_policy": "block"}
    sync["destination"]["send_ns"] = choices.of((4, 10)) * _MS
    sync["sockets"]["count"] = max(sync["sockets"]["count"], choices.of((3, 2)))


def _only_sends(choices: Choices, sync: dict[str, Any]) -> None:
    """Have attempts only send, slowly, for longer than the platform bears with silence."""
    sync["destination"] |= {
        "send_ns": choices.of((10, 5)) * _MS,
        "send_spread": choices.of((0.3, 0.0)),
        "stall_limit_ns": choices.of((80, 160)) * _MS,
    }
    sync["sockets"]["count"] = max(2, sync["sockets"]["count"])
    for stream in sync["streams"]:
        stream |= {"records": max(40, stream["records"]), "partition_records": 5}
        stream["record_bytes"] = 10
    sync["outcome"] = "any"


def _reads_abreast(choices: Choices, sync: dict[str, Any]) -> None:
    """Have several readers of a round read at once, so that others end after one that fails."""
    sync["source"] |= {"round_readers": choices.integer(3, 4), "connections": 3}
    sync["source"]["packet_records"] = choices.integer(4, 5)
    sync["sockets"]["count"] = max(3, sync["sockets"]["count"])
    for stream in sync["streams"]:
        stream["records"] = max(60, stream["records"])
        stream["partition_records"] = min(20, stream["partition_records"])


def _generates(choices: Choices, sync: dict[str, Any]) -> None:
    """Generate partitions while others are read, some later than those before them have ended."""
    sync["source"]["generate_ns"] = choices.of((_MS // 2, _MS, 3 * _MS, 6 * _MS))
    sync["source"] |= {"connections": 4, "open_ns": 2 * _MS, "open_spread": choices.of((1.0, 0.3))}
    sync["sockets"]["count"] = max(3, sync["sockets"]["count"])
    for stream in sync["streams"]:
        stream["records"] = max(60, stream["records"])
        stream["partition_records"] = min(20, stream["partition_records"])


_THEMES = (_fails_in_turn, _is_short_of_memory, _only_sends, _reads_abreast, _generates)


_STORE_FAULTS_MAX = 5
_WEEK_NS = 7 * 24 * 3600 * 1_000 * _MS
_INPUT = {
    "push_records": (30, 200),
    "stream_records": (1, 250),
    "rate_per_s": (200.0, 1_000.0, 30_000.0),
    "keys": (7, 1, 1_000),
    "producers": (0, 2, 1, 3),
    "segment_records": (20, 1, 7, 100),
}
_RICHER = {
    "versions": (1, 2, 3),
    "version_gap_ns": (300 * _MS, 20 * _MS, 100 * _MS, 1_000 * _MS, 2_000 * _MS),
    "view": (False, True),
    "deletes_every": (0, 2, 7),
    "switch_every": (0, 1, 50),
    "compressed": (False, True),
    "seek_position": (0, 0, 20, 30),
    "remote_ahead": ("none", 7, 40, -20),
}
_SYNC = {
    "sync_bytes": (3_000, 500, 0),
    "sync_interval_ns": (0, 20 * _MS),
    "durability": tuple(one.value for one in RecordDurability),
    "deferred_write": (False, True),
    "identity": (False, True),
    "built_in": (False, True),
    "offset_expiry_ns": (_WEEK_NS, _WEEK_NS, 1_200 * _MS),
}
# An old owner writes late, and a crash shows what it has changed.  Records in flight meet a switch.
_SWITCHES = ("switch_source",)
# Records come one by one for longer than a second, while one partition is switched to and fro.
_OF_ONE_PARTITION = {"partitions": 1, "versions": 1, "rate_per_s": 200.0, "stream_records": 250}
_STORE_THEMES = (None, None, None, None, ("takeover", "crash_at"), _SWITCHES)


def checkpoint_store(choices: Choices) -> Scenario:
    """Return a random store with a fault plan."""
    placement = choices.of(tuple(StorePlacement))
    given = drawn(choices, _INPUT) | {"partitions": 2}
    if choices.flag():
        given |= drawn(choices, _RICHER)
    sync: dict[str, Any] = drawn(choices, _SYNC)
    sync["mirror"] = choices.flag() and placement is not StorePlacement.COLOCATED
    if sync["mirror"] and not given.get("deletes_every") and choices.flag():
        sync["hooked"] = False  # the mirror puts unflushed rows back, and no deletes
    if sync["durability"] != RecordDurability.PER_RECORD:
        sync["ingest_while_syncing"] = choices.flag()
    kinds = choices.of(_STORE_THEMES)
    if kinds == _SWITCHES:
        given |= _OF_ONE_PARTITION | {"remote_ahead": choices.of((40, 7, -20))}
    scenario = fitted(
        {
            "name": "generated",
            "link": "checkpoint_store",
            "says": "a store and fault plan that was generated",
            "store": {"placement": placement.value, "input": given, "sync": sync},
        }
    )
    times = expected(scenario, step_ns=70 * _MS, steps=30)
    least = 0 if kinds is None else 3
    return with_hazards(
        with_faults(choices, scenario, times, most=_STORE_FAULTS_MAX, least=least, kinds=kinds)
    )
