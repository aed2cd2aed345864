"""Random jobs on either data plane, for whatever has to do with barriers."""

from __future__ import annotations

import json
from typing import Any

from ckptsim.scenarios.files import from_json
from ckptsim.scenarios.generators import buffer_jobs, final_checkpoint, uncoordinated
from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.job_environment import add_environment
from ckptsim.scenarios.spec import Scenario

_SLOW_PER_S = 10.0
_KINDS = ("buffers", "records", "crashing", "uncoordinated", "records", "crashing", "records")


def barriers(choices: Choices) -> Scenario:
    """Return a random job with a fault plan; some on buffers fail and are restarted."""
    # Jobs on records are the cheaper ones, and have more happen to them.
    kind = choices.of(_KINDS)
    if kind == "records":
        text = _on_records(choices)
    elif kind == "uncoordinated":
        text = uncoordinated.document(choices)
    elif kind == "crashing":
        text = add_environment(choices, _short(_fed(buffer_jobs.crashing_document(choices))))
    else:
        text = add_environment(choices, _fed(buffer_jobs.document(choices)))
    return from_json(json.dumps({"violates": final_checkpoint.hazards_of(text)} | text))


def barrier_protocol(choices: Choices) -> Scenario:
    """Return a random job on records, some of whose tasks take checkpoints by themselves."""
    coordinated = choices.of(("records", "uncoordinated")) == "records"
    text = _on_records(choices) if coordinated else uncoordinated.document(choices)
    return from_json(json.dumps({"violates": final_checkpoint.hazards_of(text)} | text))


def _on_records(choices: Choices) -> dict[str, Any]:
    text = add_environment(choices, final_checkpoint.document(choices))
    return text | {"link": "barrier_protocol"}


def _fed(text: dict[str, Any]) -> dict[str, Any]:
    """Give a job without exclusive buffers enough floating ones: with few it can stop for good.

    A record that needs more segments than the pool and its overdraft have keeps its thread until
    receivers read, and no barrier is sent inside a record.  Where the receivers wait for a task
    that aligns with this very barrier, all wait for each other, in every checkpoint anew.
    """
    network = text["job"]["network"]
    if network["exclusive_buffers"] == 0:
        network["floating_buffers"] = 8
    return text


def _short(text: dict[str, Any]) -> dict[str, Any]:
    """Let a job be over within a second or two: what is long explores nothing more."""
    job = text["job"]
    job["duration_ns"] = 3_000 * buffer_jobs.MS
    for vertex in job["vertices"]:
        if vertex.get("rate_per_s") == _SLOW_PER_S:
            vertex["records"] = min(vertex["records"], 20)
            vertex["rate_per_s"] = 10 * _SLOW_PER_S
    return text
