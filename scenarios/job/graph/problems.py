"""What does not fit in the graph of a job: names, edges, places of vertices, lists per subtask."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ckptsim.scenarios import graphs
from ckptsim.scenarios.dialect import duration_text, one_of
from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.job.graph.edges import Partitioner
from ckptsim.scenarios.job.graph.graph import row_names, spelled_out
from ckptsim.scenarios.job.graph.kinds import Recorded, StoppedBy, VertexKind
from ckptsim.scenarios.job.graph.vertex import Vertex


def graph_problems(vertices: Sequence[Vertex]) -> list[Problem]:
    """Return the problems with a graph. The first kind of fault that is found hides others."""
    names = [vertex.name for vertex in vertices]
    found = [
        Problem(f"vertices[{index}].name", f'"{repeated}"', "a name that no other vertex has")
        for index, repeated in graphs.repeated(names)
    ]
    # A vertex by its own name, and by those under which it is repeated.
    by_name = {name: vertex for vertex in vertices for name in row_names(vertex)}
    by_name |= {vertex.name: vertex for vertex in vertices}
    for index, vertex in enumerate(vertices):
        found += [
            Problem(
                f"{_input(index, place)}.upstream",
                f'"{one.upstream}"',
                one_of(one.upstream, [name for name in by_name if name != vertex.name]),
            )
            for place, one in enumerate(vertex.inputs)
            if one.upstream not in by_name
        ]
    if found:
        return found
    circle = graphs.cycle(
        {v.name: [by_name[one.upstream].name for one in v.inputs] for v in vertices}
    )
    if circle:
        return [Problem("vertices", " -> ".join(circle), "a graph without a cycle")]
    once = [vertex.name for vertex in spelled_out(vertices)]
    found += [
        Problem("vertices", f'two vertices called "{once[index]}"', "names that differ when spelt")
        for index, _ in graphs.repeated(once)
    ]
    read = {one.upstream for vertex in vertices for one in vertex.inputs}
    for index, vertex in enumerate(vertices):
        found += _place_problems(f"vertices[{index}]", vertex, is_read=vertex.name in read)
        for place, one in enumerate(vertex.inputs):
            up = by_name[one.upstream].parallelism
            if one.partitioner is Partitioner.FORWARD and up != vertex.parallelism:
                says = f"forward from {up} to {vertex.parallelism} subtasks"
                where = f"{_input(index, place)}.partitioner"
                found.append(Problem(where, says, "equal parallelism on both sides"))
            keyed = one.partitioner is Partitioner.HASH and not by_name[one.upstream].is_source
            if one.keeps_key and not keyed:
                expected = "false, but for records by key (hash) that an operator sends"
                found.append(Problem(f"{_input(index, place)}.keeps_key", "true", expected))
    return found


def _input(vertex: int, place: int) -> str:
    return f"vertices[{vertex}].inputs[{place}]"


def _place_problems(path: str, vertex: Vertex, *, is_read: bool) -> list[Problem]:
    """Return the problems with the place of a vertex in the graph."""
    found = []
    if vertex.is_source == bool(vertex.inputs):
        expected = "no input of a source" if vertex.inputs else "an input of every other vertex"
        found.append(Problem(f"{path}.kind", f'"{vertex.kind.value}"', expected))
    if vertex.kind is not VertexKind.OPERATOR and vertex.repeat > 1:
        found.append(Problem(f"{path}.repeat", str(vertex.repeat), "1, but for an operator"))
    if vertex.kind is VertexKind.SINK and is_read:
        found.append(Problem(f"{path}.kind", '"sink"', "no vertex that reads from a sink"))
    if vertex.two_input and (len(vertex.inputs) != 2 or vertex.repeat > 1):
        found.append(Problem(f"{path}.two_input", "true", "exactly two inputs, and no repetition"))
    if vertex.opens_after_finish and vertex.kind is not VertexKind.SINK:
        expected = "false, but at a sink: only that has transactions"
        found.append(Problem(f"{path}.opens_after_finish", "true", expected))
    if vertex.global_committer and vertex.kind is not VertexKind.SINK:
        expected = "false, but at a sink: only that has files to commit"
        found.append(Problem(f"{path}.global_committer", "true", expected))
    if vertex.acknowledges and not (vertex.is_source and vertex.keeps_position):
        expected = "false, but at a source that remembers its position"
        found.append(Problem(f"{path}.acknowledges", "true", expected))
    found += _enumerated_problems(path, vertex)
    if vertex.kind is not VertexKind.LEGACY:
        keys = ("stopped_by", StoppedBy.CANCEL), ("after_cancel_records", 1)
        found += [
            Problem(f"{path}.{key}", str(getattr(vertex, key)), "none but at a legacy source")
            for key, usual in keys
            if getattr(vertex, key) != usual
        ]
    if vertex.file_records is not None and not vertex.global_committer:
        where, value = f"{path}.file_records", str(vertex.file_records)
        found.append(Problem(where, value, "none without `global_committer`"))
    if vertex.recorded is Recorded.PARTIAL and vertex.parallelism == 1:
        found.append(Problem(f"{path}.recorded", '"partial"', "more than one subtask for that"))
    alike = bool(vertex.inputs) and all(
        one.partitioner is Partitioner.BROADCAST for one in vertex.inputs
    )
    if vertex.broadcast_state and not alike:
        expected = "false, unless every input of the vertex is a broadcast"
        found.append(Problem(f"{path}.broadcast_state", "true", expected))
    found += _list_problems(path, vertex) + _change_problems(path, vertex)
    return found + (
        _operator_keys(path, vertex) if vertex.is_source else _source_keys(path, vertex)
    )


def _enumerated_problems(path: str, vertex: Vertex) -> list[Problem]:
    """Return what a source may not have beside splits that an enumerator assigns."""
    if vertex.splits is None:
        return []
    is_new = vertex.kind is VertexKind.SOURCE
    fits = is_new and vertex.records is not None and vertex.ends_at_ns is None
    plain = not (vertex.records_step or vertex.rate_shares) and vertex.keeps_position
    if fits and plain and vertex.recorded is Recorded.NONE:
        return []
    expected = "none, unless a source has `records`, and nothing that is set per subtask"
    return [Problem(f"{path}.splits", str(vertex.splits), expected)]


def _list_problems(path: str, vertex: Vertex) -> list[Problem]:
    """Return the lists with a value for each subtask that have too few or too many, or no sum."""
    weights = {"rate_shares": vertex.rate_shares}
    weights |= {f"inputs[{place}].shares": one.shares for place, one in enumerate(vertex.inputs)}
    lists = weights | {
        "service_factors": vertex.service_factors,
        "subtask_state": vertex.subtask_state_bytes,
        "task_managers": vertex.task_managers,
    }
    found = [
        Problem(f"{path}.{key}", f"{len(values)} values", f"{vertex.parallelism}, one per subtask")
        for key, values in lists.items()
        if values and len(values) != vertex.parallelism
    ]
    found += [
        Problem(f"{path}.{key}", "nothing but zeros", "a weight above 0")
        for key, values in weights.items()
        if values and not any(values)
    ]
    if vertex.records is not None and any(share == 0 for share in vertex.rate_shares):
        # Such a subtask would emit a record a year, and never come to the end of its records.
        expected = "weights above 0: every subtask of a source with `records` emits some"
        found.append(Problem(f"{path}.rate_shares", "a weight of 0", expected))
    found += [
        Problem(f"{path}.inputs[{place}].shares", f'"{one.partitioner}"', "records by key (hash)")
        for place, one in enumerate(vertex.inputs)
        if one.shares and one.partitioner is not Partitioner.HASH
    ]
    return found


def _change_problems(path: str, vertex: Vertex) -> list[Problem]:
    """Return changes of a rate that is none, or that do not come one after the other."""
    found = []
    if vertex.rate_changes and vertex.is_source and vertex.rate_per_s is None:
        found.append(Problem(f"{path}.rate_changes", "changes", "none without a rate"))
    for index, (before, after) in enumerate(pairwise(vertex.rate_changes)):
        if after.at_ns <= before.at_ns:
            where = f"{path}.rate_changes[{index + 1}].at"
            found.append(
                Problem(
                    where,
                    f"{duration_text(after.at_ns)}",
                    f"more than {duration_text(before.at_ns)}",
                )
            )
    period_ns = vertex.rate_period_ns
    if period_ns is None or not vertex.is_source:
        return found
    if not vertex.rate_changes:
        expected = "nothing without changes of the rate"
        found.append(Problem(f"{path}.rate_period", f"{duration_text(period_ns)}", expected))
    elif period_ns <= vertex.rate_changes[-1].at_ns:
        expected = "more than the instant of its last change"
        found.append(Problem(f"{path}.rate_period", f"{duration_text(period_ns)}", expected))
    return found


def _operator_keys(path: str, vertex: Vertex) -> list[Problem]:
    """Return the keys that a source must not have."""
    if vertex.selectivity == 1.0:
        return []
    expected = "1, but for an operator: a source has a rate"
    return [Problem(f"{path}.selectivity", str(vertex.selectivity), expected)]


def _source_keys(path: str, vertex: Vertex) -> list[Problem]:
    """Return the keys that only a source may have."""
    values = {
        "rate": vertex.rate_per_s,
        "rate_shares": vertex.rate_shares or None,
        "rate_changes": vertex.rate_changes or None,
        "rate_period": vertex.rate_period_ns,
        "hot_ratio": vertex.hot_ratio or None,
        "records": vertex.records,
        "ends_at": vertex.ends_at_ns,
        "startup": vertex.startup_ns or None,
    }
    return [
        Problem(f"{path}.{key}", str(value), "nothing but at a source")
        for key, value in values.items()
        if value is not None
    ]
