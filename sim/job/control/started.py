"""A job that is started from a checkpoint of another one: whether it may be, and with what.

The graph may have changed since: a vertex that the checkpoint says nothing of is new and runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.coordinator.plan import FinishedState, Rejected, check_restore
from ckptsim.scenarios.job import Job, Recorded
from ckptsim.sim.job.control.checkpoint import JobCheckpoint
from ckptsim.sim.job.graph import Graph

if TYPE_CHECKING:
    from ckptsim.sim.kernel import Environment
    from ckptsim.sim.rows import RunResult
    from ckptsim.sim.run_spec import RunSpec

_FIRST = 1  # the number of the checkpoint. The ones of the job follow


def started_from(job: Job) -> JobCheckpoint | Rejected | None:
    """Return what a job starts from. None for one that starts afresh.

    Returns Rejected with the rule and the vertex where what had finished is not closed under
    predecessors.  No state but this is in the checkpoint: what ran had taken in nothing.
    """
    if all(vertex.recorded is Recorded.NONE for vertex in job.vertices):
        return None
    graph = Graph(job)
    states = {vertex.name: FinishedState(vertex.recorded.value) for vertex in job.vertices}
    found = check_restore({name: [state] for name, state in states.items()}, graph.plan_edges)
    if isinstance(found, Rejected):
        return found
    finished: set[int] = set()
    for vertex in job.vertices:
        tasks = graph.tasks_of(vertex.name)
        if vertex.recorded is Recorded.FULL:
            finished.update(tasks)
        elif vertex.recorded is Recorded.PARTIAL:
            finished.add(tasks.start)
    new = FinishedState.NONE
    return JobCheckpoint(
        checkpoint_id=_FIRST,
        savepoint=True,
        tasks={},
        subtasks=graph.subtasks,
        vertices={n: FinishedState.RUNNING if s is new else s for n, s in states.items()},
        finished=frozenset(finished),
        positions={},
        lost_state=frozenset(),
    )


def refused(spec: RunSpec, env: Environment, why: Rejected) -> RunResult:
    """Return the tables of a job that may not start: none of its tasks was ever deployed."""
    env.goals.reach("restore_refused")
    env.trace.record("refused", env.entity("job"), why.rule, why.vertex or "")
    return spec.result(env, outcome="failed", attempts=0, error=f"{why.rule} at {why.vertex}")


def lost_state(graph: Graph, restored: JobCheckpoint | None) -> frozenset[str]:
    """Return the vertices with incomplete state after a restore: some of it had finished.

    Broadcast state is whole as long as one subtask holds it.
    """
    if restored is None:
        return frozenset()
    lost = set(restored.lost_state)
    for vertex in graph.vertices:
        state = restored.vertices.get(vertex.name, FinishedState.RUNNING)
        held = any(one is not None for one in restored.snapshots_of(vertex.name))
        if state is not FinishedState.RUNNING and not (vertex.broadcast_state and held):
            lost.add(vertex.name)
    return frozenset(lost)
