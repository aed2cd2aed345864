"""Every field of every plane does something: it changes a run, or it is refused with its place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.scenarios.job.fields import (
    WITNESSES,
)

FOUND: Mapping[str, Mapping[str, list[Any]]] = json.loads(WITNESSES.read_text("utf-8"))
CASES = [(group, path) for group, own in sorted(FOUND.items()) for path in sorted(own)]
# Fields that no digest shows, each with the reason.
UNSEEN: Mapping[str, str] = {
    "job.plane": "it chooses the world",
    "job.engine": "all drivers give the same trace",
    "job.vertices[*].name": "entities of a trace have it, inputs and faults name it",
    "job.vertices[*].inputs[*].upstream": "another one is another graph",
}
