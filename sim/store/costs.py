"""What a durable step costs, and who has to wait for whom.

A colocated file has one writer: its transactions follow each other.  Flushes and checkpoints of
partitions that have their own files run side by side.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

from models.store import Part
from scenarios.store import StoreModel, StorePlacement

if TYPE_CHECKING:
    from sim.kernel import Environment

_SECOND_NS = 1_000_000_000
_Z99 = NormalDist().inv_cdf(0.99)


class Costs:
    """Draws the durations of durable steps; the only random ones are those of the remote side."""

    def __init__(self, model: StoreModel, env: Environment) -> None:
        self._model = model
        self._env = env
        self._remote = env.stream("remote commit")
        costs = model.costs
        self._sigma = math.log(costs.remote_ns_p99 / costs.remote_ns) / _Z99
        self._writer_free_ns = 0

    def restarted(self) -> None:
        """Forget who waits for the writer: the process is a new one."""
        self._writer_free_ns = 0

    def end_of_step(self, part: Part, *, rows: int, size_bytes: int) -> int:
        """Return the instant at which a step that begins now is durable."""
        now, costs = self._env.now, self._model.costs
        match part:
            case Part.BOTH:
                begin = max(now, self._writer_free_ns)
                self._writer_free_ns = (
                    begin + costs.transaction_ns + rows * costs.transaction_row_ns
                )
                return self._writer_free_ns
            case Part.DATA:
                moved_ns = size_bytes * _SECOND_NS // costs.flush_bytes_per_s
                return now + costs.flush_ns + moved_ns + rows * costs.flush_row_ns
            case Part.CHECKPOINT:
                if self._model.placement is StorePlacement.CONSUMER_GROUP_BLOB:
                    return now + self._remote.lognormal_ns(costs.remote_ns, self._sigma)
                return now + costs.checkpoint_ns
