"""Vectors of the suites `coordinator`, `checkpoint_plan` and `rescale`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import requests
from ckptsim.models.coordinator.debloater import BufferDebloater, DebloatParameters
from ckptsim.models.coordinator.failures import PREFLIGHT_REASONS, FailureCounter
from ckptsim.models.coordinator.plan import (
    Edge,
    FinishedState,
    Pattern,
    Plan,
    Rejected,
    Restored,
    Vertex,
    check_restore,
    finalize,
    plan_checkpoint,
)
from ckptsim.models.recovery import key_groups
from ckptsim.models.recovery.in_flight import Exchange, InFlightAssignment
from ckptsim.models.recovery.mapping import (
    DISTRIBUTIONS,
    Distribution,
    Mapper,
    Partitioner,
    inverted,
)
from ckptsim.sim.conform.runner import (
    Adapter,
    Mismatch,
    Step,
    Vector,
    compare,
    compare_fields,
    named,
)
from ckptsim.sim.slots import Factory

MS = 1_000_000
MANY = 100


def _run_part(vector: Vector, make: Factory | None) -> Mismatch | None:
    _slot, default, run_kind = named(_KINDS, vector["kind"])
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

ADAPTER = Adapter(run=_run_part, slot=lambda vector: _KINDS[vector["kind"]][0])


# Execution states of a deployed task. Anything else in a vector means that there is no execution.
# Source: Apache Flink 1.20.3, ExecutionState.
EXECUTION_STATES = (
    "CREATED",
    "SCHEDULED",
    "DEPLOYING",
    "INITIALIZING",
    "RUNNING",
    "RECONCILING",
    "CANCELING",
    "CANCELED",
    "FAILED",
    "FINISHED",
)


def _run_plan(vector: Vector, make: Factory | None) -> Mismatch | None:
    del make
    return compare(str(vector["kind"]), vector["expect"], _decide(vector))


def _decide(vector: Vector) -> dict[str, Any]:
    kind = vector["kind"]
    if kind == "plan":
        config = vector.get("config", {})
        return _plan_as_json(
            plan_checkpoint(
                [_vertex(item) for item in vector["vertices"]],
                _edges(vector),
                checkpoints_after_finish=config.get("checkpoints_after_finish", True),
            )
        )
    if kind == "finalize":
        return _finalized_as_json(finalize([_vertex(item) for item in vector["vertices"]]))
    if kind == "restore":
        states = {
            name: [FinishedState(state) for state in operators]
            for name, operators in vector["operator_states"].items()
        }
        return _restored_as_json(check_restore(states, _edges(vector)))
    raise ValueError(f"kind {kind!r}")


def _vertex(item: dict[str, Any]) -> Vertex:
    given = {int(index): state for index, state in item.get("states", {}).items()}
    states = {
        index: state if state in EXECUTION_STATES else None
        for index, state in given.items()
        if state not in ("RUNNING", "FINISHED")
    }
    finished = {index for index, state in given.items() if state == "FINISHED"}
    return Vertex(
        name=item["id"],
        parallelism=item["parallelism"],
        finished=frozenset(item.get("finished", ())) | finished,
        states=states,
        union_state=item.get("union_state", False),
        reported_operators_finished=frozenset(item.get("reported_operators_finished", ())),
        finished_on_restore=item.get("finished_on_restore", False),
    )


def _edges(vector: Vector) -> list[Edge]:
    return [Edge(up, down, Pattern(pattern)) for up, down, pattern in vector.get("edges", [])]


def _plan_as_json(plan: Plan | Rejected) -> dict[str, Any]:
    if isinstance(plan, Rejected):
        return {"reject": plan.rule}
    return {
        "trigger": [list(task) for task in plan.trigger],
        "wait_for": [list(task) for task in plan.wait_for],
        "commit_to": [list(task) for task in plan.commit_to],
        "finished": [list(task) for task in plan.finished],
        "fully_finished": list(plan.fully_finished),
    }


def _finalized_as_json(states: dict[str, FinishedState] | Rejected) -> dict[str, Any]:
    if isinstance(states, Rejected):
        return {"result": "abort", "vertex": states.vertex, "rule": states.rule}
    return {"result": "complete", "states": {name: s.value for name, s in states.items()}}


def _restored_as_json(restored: Restored | Rejected) -> dict[str, Any]:
    if isinstance(restored, Rejected):
        return {"result": "reject", "vertex": restored.vertex, "rule": restored.rule}
    return {"result": "accept", "skip": list(restored.skip), "run": list(restored.run)}


PLAN = Adapter(run=_run_plan)


Row = dict[str, Any]


def _run_rescale(vector: Vector, make: Factory | None) -> Mismatch | None:
    del make
    found = named(_RESCALES, vector["kind"])(vector)
    return compare_fields("", vector, {key: found[key] for key in found if key in vector})


def _old_subtasks(vector: Vector) -> Row:
    """Ask for the gates that the new subtasks of a job get, after one sender that stays one."""
    mapper, old, new = Mapper(vector["mapper"]), vector["old"], vector["new"]
    distribution = Distribution(upstream=Mapper.ARBITRARY, downstream=mapper)
    exchange = Exchange(distribution=distribution, old=(1, old), new=(1, new))
    assignment = InFlightAssignment()
    gates = [assignment.gate(exchange, subtask) for subtask in range(new)]
    mapping = tuple(gate.old_subtasks for gate in gates)
    return {
        "old_of_new": [list(taken) for taken in mapping],
        "new_of_old": [list(takers) for takers in inverted(mapping, old=old)],
        "ambiguous_old": sorted({one for gate in gates for one in gate.ambiguous}),
        "mapper_may_be_ambiguous": mapper.may_be_ambiguous,
        "identity": all(gate.identity for gate in gates),
    }


def _ranges(vector: Vector) -> Row:
    maximum, parallelism = vector["max_parallelism"], vector["parallelism"]
    ranges = [
        key_groups.key_group_range(index, max_parallelism=maximum, parallelism=parallelism)
        for index in range(parallelism)
    ]
    operators = [
        key_groups.operator_of_key_group(group, max_parallelism=maximum, parallelism=parallelism)
        for group in range(maximum)
    ]
    return {
        "ranges": [[groups.start, groups.stop - 1] for groups in ranges],
        "operator_of_key_group": operators,
    }


def _key_group(vector: Vector) -> Row:
    key = vector["key"]
    java_hash = key if vector["key_type"] == "int" else key_groups.string_hash(key)
    group = key_groups.key_group(java_hash, 128)
    return {
        "java_hash": java_hash,
        "murmur": key_groups.murmur_hash(java_hash),
        "key_group_128": group,
        "key_group_200": key_groups.key_group(java_hash, 200),
        "operator_128_p1_to_p8": [
            key_groups.operator_of_key_group(group, max_parallelism=128, parallelism=parallelism)
            for parallelism in range(1, 9)
        ],
    }


def _partitioner(vector: Vector) -> Row:
    found = DISTRIBUTIONS[Partitioner(vector["partitioner"])]
    downstream = found.downstream
    return {
        "upstream_mapper": found.upstream.value,
        "downstream_mapper": "RuntimeException" if downstream is None else downstream.value,
        "pointwise": found.pointwise,
        "broadcast": found.broadcast,
        "supports_unaligned": found.supports_unaligned,
    }


_RESCALES: dict[str, Callable[[Vector], Row]] = {
    "old_subtasks": _old_subtasks,
    "key_group_ranges": _ranges,
    "key_group": _key_group,
    "default_max_parallelism": lambda vector: {
        "of_parallelism": {
            p: key_groups.default_max_parallelism(int(p)) for p in vector["of_parallelism"]
        }
    },
    "partitioner": _partitioner,
}

RESCALE = Adapter(run=_run_rescale)
