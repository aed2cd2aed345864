"""Vectors of suite `checkpoint_plan`: plan, finalize and restore with finished tasks."""

from __future__ import annotations

from typing import Any

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
from ckptsim.sim.conform.runner import Adapter, Mismatch, Vector, compare
from ckptsim.sim.slots import Factory

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


def run(vector: Vector, make: Factory | None) -> Mismatch | None:
    """Decide and compare the decision with the expected one."""
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


ADAPTER = Adapter(run=run)
