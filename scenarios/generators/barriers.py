"""Random jobs on either data plane, for whatever has to do with barriers."""

from __future__ import annotations

import json
from typing import Any

from ckptsim.scenarios.files import from_json
from ckptsim.scenarios.generators import buffer_jobs, final_checkpoint, in_flight, uncoordinated
from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.job_environment import add_environment
from ckptsim.scenarios.spec import Scenario

_KINDS = (
    *("buffers", "records", "crashing", "uncoordinated"),
    *("in_flight", "crashing", "in_flight", "in_flight"),
)


def barriers(choices: Choices) -> Scenario:
    """Return a random job with a fault plan; some on buffers fail and are restarted."""
    # Jobs on records are the cheaper ones, small ones most of all, and have more happen to them.
    kind = choices.of(_KINDS)
    if kind == "records":
        text = _on_records(choices)
    elif kind == "uncoordinated":
        text = uncoordinated.document(choices)
    elif kind == "in_flight":
        text = in_flight.document(choices)
    elif kind == "crashing":
        text = add_environment(choices, buffer_jobs.short(buffer_jobs.crashing_document(choices)))
    else:
        text = add_environment(choices, buffer_jobs.short(buffer_jobs.document(choices)))
    return from_json(json.dumps({"violates": final_checkpoint.hazards_of(text)} | text))


def barrier_protocol(choices: Choices) -> Scenario:
    """Return a random job on records, some of whose tasks take checkpoints by themselves."""
    draw = choices.of((_on_records, uncoordinated.document, in_flight.document))
    text = draw(choices)
    return from_json(json.dumps({"violates": final_checkpoint.hazards_of(text)} | text))


def _on_records(choices: Choices) -> dict[str, Any]:
    text = add_environment(choices, final_checkpoint.document(choices))
    return text | {"link": "barrier_protocol"}
