"""Run the vectors of suite `coordinator`: request decider, buffer debloater, failure counting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import requests
from ckptsim.models.coordinator.debloater import BufferDebloater, DebloatParameters
from ckptsim.models.coordinator.failures import PREFLIGHT_REASONS, FailureCounter
from ckptsim.sim.conform.runner import Adapter, Mismatch, Step, Vector, compare_fields, named
from ckptsim.sim.slots import Factory

MS = 1_000_000
MANY = 100


def run(vector: Vector, make: Factory | None) -> Mismatch | None:
    """Compare every value that the vector carries."""
    slot, default, run_kind = named(_KINDS, vector["kind"])
    del slot
    return run_kind(vector, make or default)


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
        mismatch = compare_fields(f"step {number}", step, found)
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
        mismatch = compare_fields(f"step {number} ({step['op']})", step, found)
        if mismatch is not None:
            return mismatch
    return None


def _request(step: Step) -> requests.Request:
    return requests.Request(
        number=step["request"],
        submitted_ns=step["now_ms"] * MS,
        periodic=step["periodic"],
        savepoint=step["request_kind"].endswith("savepoint"),
        forced=step["forced"],
    )


def _decided(decisions: list[requests.Decision], now_ms: int) -> Step:
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
    return compare_fields(vector["reason"], vector, found)


# Kind of a vector -> slot of the part that it is about, our own one, and how it is run.
_KINDS: dict[str, tuple[str, Factory, Callable[[Vector, Factory], Mismatch | None]]] = {
    "debloater": ("debloater", BufferDebloater, _run_debloater),
    "request_decider": ("request_decider", requests.RequestDecider, _run_decider),
    "failure_reason": ("failure_counter", FailureCounter, _run_failure),
}

ADAPTER = Adapter(run=run, slot=lambda vector: _KINDS[vector["kind"]][0])
