"""How many bytes each task's state has in a checkpoint.

A source writes where its readers are.  An operator behind a keyed edge writes its key groups even
when they are empty: a head, and a few bytes for each group.  Other operators have no state of their
own.

Source: measured sizes of checkpoints of Apache Flink 1.20.3 with the hash-map state backend and one
value per key; KeyGroupRangeAssignment (number of key groups and their ranges).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ckptsim.scenarios.job import Partitioner

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Job, Vertex

SOURCE_BYTES = 234
"""Found: every acknowledgement of a source carries this much."""

EMPTY_HEAD_BYTES = 764
EMPTY_GROUP_BYTES = 16
"""Found: 2812, 1788 and 1276 bytes at parallelism 1, 2 and 4, so 764 and 16 for each of 128/p."""

HEAD_BYTES = 3112
GROUP_BYTES = 24
"""The same with a state registered: 6184 and 4648 bytes on top of the state at parallelism 1, 2."""

_LEAST_GROUPS = 128
_MOST_GROUPS = 32_768


def state_sizes(model: Job) -> dict[str, list[int]]:
    """Return bytes of state per subtask of every vertex."""
    return {vertex.name: _sizes(vertex) for vertex in model.vertices}


def _sizes(vertex: Vertex) -> list[int]:
    if vertex.subtask_state_bytes:
        return list(vertex.subtask_state_bytes)
    if vertex.is_source:
        return [SOURCE_BYTES] * vertex.parallelism
    own = vertex.state_bytes // vertex.parallelism
    return [own + _overhead(vertex, groups) for groups in key_groups(vertex.parallelism)]


def key_groups(parallelism: int) -> list[int]:
    """Return how many key groups each subtask has, unless the job says otherwise."""
    most = 1 << (parallelism + parallelism // 2 - 1).bit_length()
    most = min(max(most, _LEAST_GROUPS), _MOST_GROUPS)
    starts = [(index * most + parallelism - 1) // parallelism for index in range(parallelism + 1)]
    return [after - start for start, after in pairwise(starts)]


def _overhead(operator: Vertex, groups: int) -> int:
    if all(edge.partitioner is not Partitioner.HASH for edge in operator.inputs):
        return 0
    if not operator.state_bytes:
        return EMPTY_HEAD_BYTES + EMPTY_GROUP_BYTES * groups
    return HEAD_BYTES + GROUP_BYTES * groups
