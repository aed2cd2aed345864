"""Which tasks a checkpoint triggers, awaits and notifies once some tasks have finished.

Three decisions of the coordinator, each a pure function over the job's vertices and edges:
`plan_checkpoint` when a checkpoint is triggered, `finalize` when all acknowledgements are in, and
`check_restore` when a job starts from a checkpoint.

Source: FLIP-147. Apache Flink 1.20.3, DefaultCheckpointPlanCalculator, DefaultCheckpointPlan,
VertexFinishedStateChecker. FLINK-40482 (a failed task is not a finished one).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum


class Pattern(Enum):
    """How the subtasks of two vertices are joined. POINTWISE joins equal indices."""

    ALL_TO_ALL = "ALL_TO_ALL"
    POINTWISE = "POINTWISE"


class FinishedState(Enum):
    """What a checkpoint says of an operator: how much of it had finished. NONE is no state."""

    RUNNING = "running"
    PARTIAL = "partial"
    FULL = "full"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Edge:
    """A connection between two vertices, by their names.

    senders: for a pointwise edge between unequal parallelisms, the upstream subtasks of each
    downstream subtask. None joins equal indices.
    """

    upstream: str
    downstream: str
    pattern: Pattern
    senders: tuple[tuple[int, ...], ...] | None = None


def pointwise_senders(receiver: int, upstream: int, downstream: int) -> range:
    """Return the upstream subtasks that a downstream subtask of a pointwise edge reads, evenly.

    upstream, downstream: how many subtasks each side has.
    Source: Apache Flink 1.20.3, VertexInputInfoComputationUtils.
    """
    first = receiver * upstream // downstream
    if upstream < downstream:
        return range(first, first + 1)
    return range(first, (receiver + 1) * upstream // downstream)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vertex:
    """One vertex of the job as the coordinator has it on record.

    finished: indices of FINISHED subtasks.  states: execution states other than RUNNING and
    FINISHED, by index. An absent execution is `None`.  union_state: it uses union list state.
    reported_operators_finished: subtasks that acknowledged after EndOfData.
    finished_on_restore: its acknowledgements say that it was restored as finished.
    """

    name: str
    parallelism: int
    finished: frozenset[int] = frozenset()
    states: Mapping[int, str | None] = field(default_factory=dict)
    union_state: bool = False
    reported_operators_finished: frozenset[int] = frozenset()
    finished_on_restore: bool = False

    @property
    def running(self) -> list[int]:
        """Return the subtasks that have not finished, ascending."""
        return [index for index in range(self.parallelism) if index not in self.finished]

    @property
    def fully_finished(self) -> bool:
        """Return whether every subtask has finished."""
        return len(self.finished) == self.parallelism


Task = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The tasks of one checkpoint. Vertices in the given order, subtasks ascending."""

    trigger: tuple[Task, ...]
    wait_for: tuple[Task, ...]
    commit_to: tuple[Task, ...]
    finished: tuple[Task, ...]
    fully_finished: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rejected:
    """A decision that went against the checkpoint: the rule, and the vertex where one is named."""

    rule: str
    vertex: str | None = None


# Terminal states other than FINISHED. A task that is still canceling has not ended yet.
_ENDED_BADLY = ("FAILED", "CANCELED")


def plan_checkpoint(
    vertices: Sequence[Vertex], edges: Sequence[Edge], *, checkpoints_after_finish: bool = True
) -> Plan | Rejected:
    """Plan a checkpoint from the recorded execution states. Rules are tried in order."""
    some_finished = any(vertex.finished for vertex in vertices)
    no_execution = any(state is None for vertex in vertices for state in vertex.states.values())
    if no_execution or (some_finished and not checkpoints_after_finish):
        return Rejected("not_all_required_tasks_running")
    if any(state in _ENDED_BADLY for vertex in vertices for state in vertex.states.values()):
        return Rejected("failed_or_canceled_task")
    running = tuple((vertex.name, index) for vertex in vertices for index in vertex.running)
    if not running:
        return Rejected("no_task_to_wait_for")
    trigger = tuple(_to_trigger(vertices, edges))
    states = {vertex.name: vertex.states for vertex in vertices}
    if any(index in states[name] for name, index in trigger):
        return Rejected("not_all_required_tasks_running")
    return Plan(
        trigger=trigger,
        wait_for=running,
        commit_to=running,
        finished=tuple((v.name, index) for v in vertices for index in sorted(v.finished)),
        fully_finished=tuple(v.name for v in vertices if v.fully_finished),
    )


def finalize(vertices: Sequence[Vertex]) -> dict[str, FinishedState] | Rejected:
    """Decide what a checkpoint records of each vertex, or why it cannot complete.

    Union list state is redistributed whole, so a vertex that uses it must end in one checkpoint:
    first no vertex may have finished in part, then none may have reported finished operators in
    part.  A vertex restored as finished is full without further check.  Broadcast state and list
    state that is split are no ground to give a checkpoint up: the former is whole in every subtask
    that runs, and of the latter a finished subtask has nothing left to restore.

    Source: Apache Flink 1.20.3, DefaultCheckpointPlan.fulfillFinishedTaskStatus, which looks for
    state of mode UNION alone.
    """
    checked = [v for v in vertices if v.union_state and not v.finished_on_restore]
    for vertex in checked:
        if vertex.finished and not vertex.fully_finished:
            return Rejected("union_state_partly_finished", vertex.name)
    for vertex in checked:
        reported = len(vertex.reported_operators_finished)
        if not vertex.finished and 0 < reported < vertex.parallelism:
            return Rejected("union_state_partly_finished_operators", vertex.name)
    return {vertex.name: _recorded(vertex) for vertex in vertices}


@dataclass(frozen=True, slots=True)
class Restored:
    """Which vertices are deployed as finished and which run, by name, sorted."""

    skip: tuple[str, ...]
    run: tuple[str, ...]


def check_restore(
    operator_states: Mapping[str, Sequence[FinishedState]], edges: Sequence[Edge]
) -> Restored | Rejected:
    """Check that what had finished is closed under predecessors, vertex by vertex in order.

    operator_states: per vertex the state of each operator of its chain.  An operator without state
    counts as running.
    """
    states: dict[str, FinishedState] = {}
    for name, operators in operator_states.items():
        kinds = {_effective(state) for state in operators}
        states[name] = _effective(operators[0]) if operators else FinishedState.RUNNING
        if len(kinds) > 1:
            states[name] = FinishedState.NONE  # mixed: refused when this vertex is reached
    for name, state in states.items():
        rule = _restore_rule(name, state, states, edges)
        if rule is not None:
            return Rejected(rule, name)
    skip = sorted(name for name, state in states.items() if state is FinishedState.FULL)
    return Restored(tuple(skip), tuple(sorted(name for name in states if name not in skip)))


def _to_trigger(vertices: Sequence[Vertex], edges: Sequence[Edge]) -> list[Task]:
    """Return the running tasks without a running predecessor."""
    by_name = {vertex.name: vertex for vertex in vertices}
    chosen: list[Task] = []
    for vertex in vertices:
        inputs = [edge for edge in edges if edge.downstream == vertex.name]
        for index in vertex.running:
            fed = any(_feeds(by_name[edge.upstream], edge, index) for edge in inputs)
            if not fed:
                chosen.append((vertex.name, index))
    return chosen


def _feeds(upstream: Vertex, edge: Edge, index: int) -> bool:
    """Return whether a running subtask of `upstream` is connected to the subtask `index`."""
    if edge.pattern is Pattern.ALL_TO_ALL:
        return not upstream.fully_finished
    senders = (index,) if edge.senders is None else edge.senders[index]
    return any(s < upstream.parallelism and s not in upstream.finished for s in senders)


def _recorded(vertex: Vertex) -> FinishedState:
    if vertex.finished_on_restore or vertex.fully_finished:
        return FinishedState.FULL
    return FinishedState.PARTIAL if vertex.finished else FinishedState.RUNNING


def _effective(state: FinishedState) -> FinishedState:
    return FinishedState.RUNNING if state is FinishedState.NONE else state


def _restore_rule(
    name: str, state: FinishedState, states: Mapping[str, FinishedState], edges: Sequence[Edge]
) -> str | None:
    """Return the rule that a vertex breaks, or None."""
    if state is FinishedState.NONE:
        return "mixed_operator_state"
    inputs = [edge for edge in edges if edge.downstream == name]
    if state is FinishedState.FULL:
        full = all(states[edge.upstream] is FinishedState.FULL for edge in inputs)
        return None if full else "full_needs_full_predecessors"
    if state is not FinishedState.PARTIAL:
        return None
    all_to_all = {edge.upstream for edge in inputs if edge.pattern is Pattern.ALL_TO_ALL}
    for upstream in dict.fromkeys(edge.upstream for edge in inputs):
        if upstream in all_to_all:
            if states[upstream] is not FinishedState.FULL:
                return "partial_all_to_all_needs_full"
        elif states[upstream] not in (FinishedState.PARTIAL, FinishedState.FULL):
            return "partial_pointwise_needs_partial_or_full"
    return None
