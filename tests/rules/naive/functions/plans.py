"""Naive second versions of what plans a checkpoint: every task is looked at.

Source: Apache Flink 1.20.3, DefaultCheckpointPlanCalculator, DefaultCheckpointPlan,
VertexFinishedStateChecker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ckptsim.models.coordinator import plan
from ckptsim.sim.rules.answers import Pick

# Plans ----------------------------------------------------------------------------------------


def _senders(receiver: int, up: int, down: int) -> list[int]:
    """Look at every pair: the receiver reads who starts in its share, or whose share it is in."""
    if up < down:
        return [sender for sender in range(up) if sender == receiver * up // down]
    return [s for s in range(up) if receiver * up // down <= s < (receiver + 1) * up // down]


def _core_senders(receiver: int, up: int, down: int) -> list[int]:
    return list(plan.pointwise_senders(receiver, up, down))


def _planned(
    vertices: Sequence[plan.Vertex], edges: Sequence[plan.Edge], *, after_finish: bool
) -> Any:
    states = [s for vertex in vertices for s in vertex.states.values()]
    finished = [(v.name, at) for v in vertices for at in range(v.parallelism) if at in v.finished]
    running = [
        (v.name, at) for v in vertices for at in range(v.parallelism) if at not in v.finished
    ]
    if None in states or (finished and not after_finish):
        return plan.Rejected("not_all_required_tasks_running")
    if "FAILED" in states or "CANCELED" in states:
        return plan.Rejected("failed_or_canceled_task")
    if not running:
        return plan.Rejected("no_task_to_wait_for")
    fed = [task for task in running if any(_feeds(edge, task, running) for edge in edges)]
    trigger = [task for task in running if task not in fed]
    by_name = {vertex.name: vertex for vertex in vertices}
    if any(at in by_name[name].states for name, at in trigger):
        return plan.Rejected("not_all_required_tasks_running")
    whole = [v.name for v in vertices if not any(name == v.name for name, _ in running)]
    return plan.Plan(
        trigger=tuple(trigger),
        wait_for=tuple(running),
        commit_to=tuple(running),
        finished=tuple(finished),
        fully_finished=tuple(whole),
    )


def _feeds(edge: plan.Edge, task: plan.Task, running: Sequence[plan.Task]) -> bool:
    name, at = task
    if edge.downstream != name:
        return False
    senders = [one for upstream, one in running if upstream == edge.upstream]
    if edge.pattern is plan.Pattern.ALL_TO_ALL:
        return bool(senders)
    return any(one in (edge.senders[at] if edge.senders else (at,)) for one in senders)


def _core_planned(
    vertices: Sequence[plan.Vertex], edges: Sequence[plan.Edge], *, after_finish: bool
) -> Any:
    return plan.plan_checkpoint(vertices, edges, checkpoints_after_finish=after_finish)


def _finalized(vertices: Sequence[plan.Vertex]) -> Any:
    unions = [v for v in vertices if v.union_state and not v.finished_on_restore]
    for vertex in unions:
        if 0 < len(vertex.finished) < vertex.parallelism:
            return plan.Rejected("union_state_partly_finished", vertex.name)
    for vertex in unions:
        told = len(vertex.reported_operators_finished)
        if not vertex.finished and told not in (0, vertex.parallelism):
            return plan.Rejected("union_state_partly_finished_operators", vertex.name)
    found = {}
    for vertex in vertices:
        count = vertex.parallelism if vertex.finished_on_restore else len(vertex.finished)
        some = plan.FinishedState.PARTIAL if count else plan.FinishedState.RUNNING
        found[vertex.name] = plan.FinishedState.FULL if count == vertex.parallelism else some
    return found


def _restorable(
    operators: Mapping[str, Sequence[plan.FinishedState]], edges: Sequence[plan.Edge]
) -> Any:
    full, partial = plan.FinishedState.FULL, plan.FinishedState.PARTIAL
    for name, states in operators.items():
        kinds = {_as_running(state) for state in states}
        if len(kinds) > 1:
            return plan.Rejected("mixed_operator_state", name)
        inputs = [edge for edge in edges if edge.downstream == name]
        above = {edge.upstream: _as_one(operators[edge.upstream]) for edge in inputs}
        if kinds == {full} and set(above.values()) - {full}:
            return plan.Rejected("full_needs_full_predecessors", name)
        for upstream in above if kinds == {partial} else ():
            every = any(
                e.upstream == upstream and e.pattern is plan.Pattern.ALL_TO_ALL for e in inputs
            )
            if every and above[upstream] is not full:
                return plan.Rejected("partial_all_to_all_needs_full", name)
            if not every and above[upstream] not in (full, partial):
                return plan.Rejected("partial_pointwise_needs_partial_or_full", name)
    skip = sorted(name for name, states in operators.items() if _as_one(states) is full)
    return plan.Restored(tuple(skip), tuple(sorted(set(operators) - set(skip))))


def _as_running(state: plan.FinishedState) -> plan.FinishedState:
    return plan.FinishedState.RUNNING if state is plan.FinishedState.NONE else state


def _as_one(states: Sequence[plan.FinishedState]) -> plan.FinishedState | None:
    kinds = {_as_running(state) for state in states} or {plan.FinishedState.RUNNING}
    return kinds.pop() if len(kinds) == 1 else None


# What is drawn -----


def _draw_vertices(pick: Pick) -> list[plan.Vertex]:
    found = []
    sizes = [pick.integer(1, 4) for _ in range(pick.integer(1, 3))]
    if pick.one_in(2):  # a reader of some senders alone has several of them then
        sizes.sort(reverse=True)
    for name, size in zip("abc", sizes, strict=False):
        every = frozenset(range(size))
        some = frozenset(at for at in range(size) if pick.one_in(2))
        finished = pick.of((frozenset(), some, some, every))
        left = sorted(every - finished)
        odd = {pick.of(left): pick.of((None, "FAILED", "CANCELED", "DEPLOYING"))} if left else {}
        told = frozenset(at for at in range(size) if pick.one_in(2))
        found.append(
            plan.Vertex(
                name=name,
                parallelism=size,
                finished=finished,
                states=odd if pick.one_in(8) else {},
                union_state=pick.one_in(3),
                reported_operators_finished=pick.of((frozenset(), told, every)),
                finished_on_restore=pick.one_in(4),
            )
        )
    return found


def _draw_edges(pick: Pick, sizes: Mapping[str, int]) -> list[plan.Edge]:
    names, edges = list(sizes), []
    pairs = list(pairwise(names))
    if len(names) > 2 and pick.one_in(2):  # the last reads two
        pairs.append((names[0], names[-1]))
    for up, down in pairs:
        pattern = pick.of(tuple(plan.Pattern))
        senders = tuple(tuple(_senders(at, sizes[up], sizes[down])) for at in range(sizes[down]))
        spread = senders if pattern is plan.Pattern.POINTWISE and not pick.one_in(4) else None
        edges.append(plan.Edge(up, down, pattern, spread))
    return edges


def _draw_plan(pick: Pick) -> Sequence[Any]:
    vertices = _draw_vertices(pick)
    edges = _draw_edges(pick, {vertex.name: vertex.parallelism for vertex in vertices})
    return vertices, edges, {"after_finish": not pick.one_in(4)}


def _draw_restore(pick: Pick) -> Sequence[Any]:
    def chain() -> list[plan.FinishedState]:
        one = pick.of(tuple(plan.FinishedState))
        odd = [pick.of(tuple(plan.FinishedState))] if pick.one_in(4) else []
        return [one] * pick.integer(0, 2) + odd

    names = "abc"[: pick.of((1, 2, 3, 3))]
    if pick.one_in(2):  # what has not run is refused before anything else is looked at
        ran = [one for one in plan.FinishedState if one is not plan.FinishedState.NONE]
        operators = {name: [pick.of(ran)] for name in names}
    else:
        operators = {name: chain() for name in names}
    return operators, _draw_edges(pick, dict.fromkeys(operators, 2))


CORES: Mapping[str, Callable[..., Any]] = {
    "pointwise_senders": _core_senders,
    "plan_checkpoint": _core_planned,
    "finalize": plan.finalize,
    "check_restore": plan.check_restore,
}
NAIVE: Mapping[str, Callable[..., Any]] = {
    "pointwise_senders": _senders,
    "plan_checkpoint": _planned,
    "finalize": _finalized,
    "check_restore": _restorable,
}
DRAWS: Mapping[str, Callable[[Pick], Sequence[Any]]] = {
    "pointwise_senders": lambda p: (
        (0, p.integer(1, 7), p.integer(1, 7)) if p.one_in(3) else (p.integer(0, 2), 5, 3)
    ),
    "plan_checkpoint": _draw_plan,
    "finalize": lambda pick: (_draw_vertices(pick),),
    "check_restore": _draw_restore,
}
