"""Where the links with a job differ in a default: by path, as `ckptsim explain` prints it.

A default of the tables themselves is Flink's own where Flink has one.  The links that hunt
protocols have small jobs of a few milliseconds, with hunts that continue when checkpoints fail.
"""

from __future__ import annotations

from collections.abc import Mapping

from ckptsim.scenarios.job.graph import Partitioner
from ckptsim.scenarios.job.graph.planes import Plane
from ckptsim.scenarios.job.restart import FixedDelay, NoRestart

_MS = 1_000_000
_CHECKPOINTING: Mapping[str, object] = {
    "aligned_timeout_ns": 5 * _MS,
    "interval_ns": 20 * _MS,
    "tolerable_failures": 1_000,
}

# Of the links that predict.
BUFFERS: Mapping[str, object] = {"plane": Plane.BUFFERS, "restart": NoRestart()}

# Of the links that hunt.
RECORDS: Mapping[str, object] = {
    "vertices[].inputs[].partitioner": Partitioner.HASH,
    **{f"checkpointing.{key}": value for key, value in _CHECKPOINTING.items()},
    "restart": FixedDelay(delay_ns=10 * _MS),
    "restart(fixed_delay).delay_ns": 10 * _MS,
}

# Of the job in a composed pipeline.
COMPOSED: Mapping[str, object] = {
    **{f"checkpointing.{key}": value for key, value in _CHECKPOINTING.items()},
    "checkpointing.interval_ns": 10 * _MS,
}
