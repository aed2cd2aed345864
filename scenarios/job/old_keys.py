"""Removed keys of scenario files, and their replacements.

A job was written in two ways before: on buffers as `[dataflow]`, on records as `[job]` with edges
of its own.  A file or a plan with such a key is refused with the place of the new one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ckptsim.scenarios.job.names import RENAMED

# Tables that have moved with all their keys. The keys that changed are below.
TABLES: Mapping[str, str] = {
    "dataflow.sources[]": "job.vertices[]",
    "dataflow.operators[]": "job.vertices[]",
    "dataflow.network": "job.network",
    "dataflow.checkpoint": "job.checkpointing",
    "dataflow.storage": "job.storage",
    "dataflow": "job",
}

_RATE = "rate, of all subtasks together: subtasks divided by the interval"

# Keys, and values as KEY=VALUE, without units. The text begins with the path of the new key.
KEYS: Mapping[str, str] = {
    "dataflow": "job",
    "dataflow.sources": 'job.vertices, each source with kind = "source"',
    "dataflow.operators": "job.vertices",
    "dataflow.checkpoint": "job.checkpointing",
    "dataflow.sources[].stop_after": "job.vertices[].ends_at",
    "job.engine=callbacks": "job.engine: auto, or processes to debug",
    "job.engine=stretches": "job.engine: auto",
    "job.edges": "job.vertices[].inputs, an array of { upstream, partitioner } at the receiver",
    "job.edges[].upstream": "job.vertices[].inputs[].upstream",
    "job.edges[].downstream": "job.vertices[].inputs, at the vertex that receives",
    "job.edges[].partitioner": "job.vertices[].inputs[].partitioner",
    "job.vertices[].emit_interval": f"job.vertices[].{_RATE}",
    "job.vertices[].inputs[].partitioner=keyBy": "job.vertices[].inputs[].partitioner: hash",
    "job.vertices[].inputs[].partitioner=keyed": "job.vertices[].inputs[].partitioner: hash",
    "job.checkpointing.alignment_timeout": "job.checkpointing.aligned_timeout",
    "job.costs.restart": "job.restart.delay, of a restart strategy of kind fixed_delay",
    "pipeline.readers.emit_interval": f"pipeline.readers.{_RATE}",
    "pipeline.stages[].partitioner=keyed": "pipeline.stages[].partitioner: hash",
    "pipeline.sink.partitioner=keyed": "pipeline.sink.partitioner: hash",
    "pipeline.checkpointing.alignment_timeout": "pipeline.checkpointing.aligned_timeout",
    "pipeline.costs.restart": "pipeline.platform.backoff, since the platform starts attempts again",
    **{f"violates[]={old}": f"violates: {new}" for old, new in RENAMED.items()},
}

_UNIT = re.compile(r"_(?:ns|bytes|per_s)$")
_INDEX = re.compile(r"\[[0-9*]+\]")


def renamed(path: str) -> str | None:
    """Return the replacement of an old key, or of a value as KEY=VALUE, or None."""
    path = _INDEX.sub("[]", path)
    known = KEYS.get(path) or KEYS.get(_UNIT.sub("", path))
    if known is not None:
        return known
    table = next((old for old in TABLES if path.startswith((f"{old}.", f"{old}["))), None)
    return None if table is None else TABLES[table] + path.removeprefix(table)
