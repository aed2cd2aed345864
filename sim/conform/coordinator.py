"""Run the vectors of suite `coordinator`: request decider, buffer debloater, failure counting."""

from __future__ import annotations

from typing import Any

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import requests
from ckptsim.models.coordinator.debloater import BufferDebloater, DebloatParameters
from ckptsim.models.coordinator.failures import PREFLIGHT_REASONS, FailureCounter
from ckptsim.sim.conform.runner import Adapter, Mismatch, Vector
from ckptsim.sim.slots import Factory

MS = 1_000_000
MANY = 100
Row = dict[str, Any]


def run(vector: Vector, make: Factory | None) -> Mismatch | None:
    """Compare every value that the vector carries."""
    match vector["kind"]:
        case "debloater":
            return _run_debloater(vector, make or BufferDebloater)
        case "request_decider":
            return _run_decider(vector, make or requests.RequestDecider)
        case "failure_reason":
            return _run_failure(vector, make or FailureCounter)
        case other:
            raise ValueError(f"unknown kind {other!r}")


def _slot(vector: Vector) -> str | None:
    """Name the part of the coordinator."""
    return {
        "debloater": "debloater",
        "request_decider": "request_decider",
        "failure_reason": "failure_counter",
    }.get(vector["kind"])


def _run_debloater(vector: Vector, make: Factory) -> Mismatch | None:
    debloater: BufferDebloater = make(
        DebloatParameters(
            target_ms=vector["target_ms"],
            max_bytes=vector["max"],
            min_bytes=vector["min"],
            threshold_percent=vector["threshold_pct"],
            samples=vector["samples"],
        )
    )
    for number, step in enumerate(vector["steps"]):
        announced = debloater.update(step["throughput_bytes_per_s"], step["buffers_in_use"])
        found = {
            "announce": announced,
            "last_buffer_size": debloater.announced_bytes,
            "estimated_consume_ms": debloater.consume_ms,
        }
        mismatch = _compare(f"step {number}", step, found)
        if mismatch is not None:
            return mismatch
    return None


def _run_decider(vector: Vector, make: Factory) -> Mismatch | None:
    decider: requests.RequestDecider = make(
        max_concurrent=vector["max_concurrent"],
        min_pause_ns=vector["min_pause_ms"] * MS,
        max_queued=vector["max_queued"],
    )
    for number, step in enumerate(vector["steps"]):
        situation = requests.Situation(
            now_ns=step["now_ms"] * MS,
            triggering=step["is_triggering"],
            pending=step["pending_before"],
            last_completion_ns=step["last_completion_ms"] * MS,
        )
        if step["op"] == "submit":
            decisions = decider.submit(_request(step), situation)
        else:
            decisions = decider.choose(situation)
        found = _decided(decisions, step["now_ms"]) | {"queued_after": len(decider.queued)}
        mismatch = _compare(f"step {number} ({step['op']})", step, found)
        if mismatch is not None:
            return mismatch
    return None


def _request(step: Row) -> requests.Request:
    return requests.Request(
        number=step["request"],
        submitted_ns=step["now_ms"] * MS,
        periodic=step["periodic"],
        savepoint=step["request_kind"].endswith("savepoint"),
        forced=step["forced"],
    )


def _decided(decisions: list[requests.Decision], now_ms: int) -> Row:
    execute: int | None = None
    effects: list[list[Any]] = []
    for decision in decisions:
        match decision:
            case requests.Execute():
                execute = decision.request.number
            case requests.Drop():
                effects.append(["dropped", decision.request.number, decision.reason.value])
            case requests.Reschedule():
                effects.append(["reschedule", now_ms, decision.delay_ns // MS])
    return {"execute": execute, "effects": effects}


def _run_failure(vector: Vector, make: Factory) -> Mismatch | None:
    reason = FailureReason(vector["reason"])
    two_ids: FailureCounter = make(MANY)
    two_ids.failed(reason, 1)
    once = two_ids.count
    two_ids.failed(reason, 1)
    again = two_ids.count
    two_ids.failed(reason, 2)
    after_two = two_ids.count
    two_ids.succeeded(3)
    found = {
        "preflight": reason in PREFLIGHT_REASONS,
        "counts_as_failure": once == 1,
        "same_id_counted_twice": again == 2,
        "counter_after_two_ids": after_two,
        "counter_after_success": two_ids.count,
    }
    return _compare(vector["reason"], vector, found)


def _compare(where: str, expected: Row, found: Row) -> Mismatch | None:
    for key, value in found.items():
        if expected.get(key) != value:
            return Mismatch(f"{where}, {key}", repr(expected.get(key)), repr(value))
    return None


ADAPTER = Adapter(run=run, slot=_slot)
