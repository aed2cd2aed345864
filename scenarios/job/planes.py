"""The two data planes of a job, and what of a scenario only one of them can do.

What is a mere cost or size on one plane is left unread on the other.  What would change the course
of a protocol is refused where it cannot act, rather than ignored: the tables below have, per
plane, the values that it can do nothing but.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.job.graph import Vertex


class Plane(StrEnum):
    """What the unit of data is that moves."""

    RECORDS = "records"
    BUFFERS = "buffers"


# Path inside a job -> the one value that the plane can do.
FIXED: Mapping[Plane, Mapping[str, object]] = {
    Plane.RECORDS: {
        "checkpointing.savepoint_at_ns": None,
        "checkpointing.count": None,
        "storage.failure_ratio": 0.0,
    },
    Plane.BUFFERS: {
        "checkpointing.enabled": True,
        "checkpointing.after_finish": True,
        "checkpointing.immediate_final": None,
        "checkpointing.skip_missed_ticks": False,
        "channels.preloaded_records": 0,
        "costs.notification_jitter_ns": 0,
        "costs.notification_loss_ratio": 0.0,
        "costs.checkpoint_failure_ratio": 0.0,
        "ending.protocol": "flink",
        "ending.acknowledgements": True,
        "ending.stop_at_ns": None,
    },
}

# Key of a vertex -> the one value that the plane can do.
FIXED_OF_VERTEX: Mapping[Plane, Mapping[str, object]] = {
    Plane.RECORDS: {"hot_ratio": 0.0, "selectivity": 1.0, "rate_shares": ()},
    Plane.BUFFERS: {
        "chain": 1,
        "keeps_position": True,
        "recorded": "none",
        "union_state": False,
        "broadcast_state": False,
    },
}

# Key of an input -> the one value that the plane can do.
FIXED_OF_INPUT: Mapping[Plane, Mapping[str, object]] = {
    Plane.RECORDS: {"shares": ()},
    Plane.BUFFERS: {},
}


def plane_problems(job: object, vertices: Sequence[Vertex], plane: Plane) -> list[Problem]:
    """Return what a job asks of its plane that the plane cannot do."""
    found = []
    for path, value in FIXED[plane].items():
        there = job
        for key in path.split("."):
            there = getattr(there, key)
        if there != value:
            found.append(_problem(path, there, value, plane))
    for index, vertex in enumerate(vertices):
        found += [
            _problem(f"vertices[{index}].{key}", getattr(vertex, key), value, plane)
            for key, value in FIXED_OF_VERTEX[plane].items()
            if getattr(vertex, key) != value
        ]
    found += [
        _problem(f"vertices[{index}].inputs[{place}].{key}", getattr(one, key), value, plane)
        for index, vertex in enumerate(vertices)
        for place, one in enumerate(vertex.inputs)
        for key, value in FIXED_OF_INPUT[plane].items()
        if getattr(one, key) != value
    ]
    return found


def _problem(path: str, found: object, value: object, plane: Plane) -> Problem:
    return Problem(path, _word(found), f'{_word(value)}, all that plane "{plane}" can do')


def _word(value: object) -> str:
    if value is None or value == ():
        return '"none"'
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
