"""What a durable step costs, and who has to wait for whom. Alone and in a pipeline alike.

A colocated file has one writer: its transactions follow each other.  Flushes and checkpoints of
partitions that have their own files run side by side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import TYPE_CHECKING

from ckptsim.models.store import StepContent
from ckptsim.scenarios.store import RecordDurability, StorePlacement

if TYPE_CHECKING:
    from ckptsim.scenarios.store import StepCosts, StoreModel
    from ckptsim.sim.kernel import Environment

_SECOND_NS = 1_000_000_000
_Z99 = NormalDist().inv_cdf(0.99)


class Costs:
    """The durations of durable steps.

    stream: name of the stream that durations are drawn from. remote: whether checkpoints lie with a
    remote party. spread: sigma of the lognormal distribution of local steps, 0 where each takes
    exactly its cost. stretched: what a duration becomes where something slows the store down.
    """

    def __init__(
        self,
        costs: StepCosts,
        env: Environment,
        *,
        stream: str,
        remote: bool,
        spread: float = 0.0,
        stretched: Callable[[int], int] | None = None,
    ) -> None:
        self._costs = costs
        self._env = env
        self._stream = env.stream(stream)
        self._remote = remote
        self._spread = spread
        self._stretched = stretched
        self._writer_free_ns = 0

    def restarted(self) -> None:
        """Forget who waits for the writer: the process is a new one."""
        self._writer_free_ns = 0

    def end_of_step(
        self, part: StepContent, *, rows: int, size_bytes: int, copy_ns: int = 0
    ) -> int:
        """Return the instant at which a step that begins now is durable.

        copy_ns: to write a dictionary with the checkpoint.
        """
        duration_ns = self._drawn_ns(part, rows, size_bytes) + copy_ns
        if self._stretched is not None:
            duration_ns = self._stretched(duration_ns)
        if part is not StepContent.BOTH:
            return self._env.now + duration_ns
        self._writer_free_ns = max(self._env.now, self._writer_free_ns) + duration_ns
        return self._writer_free_ns

    def _drawn_ns(self, part: StepContent, rows: int, size_bytes: int) -> int:
        if part is StepContent.CHECKPOINT and self._remote:
            return self._stream.lognormal_ns(self._costs.remote_ns, remote_sigma(self._costs))
        median_ns = local_ns(self._costs, part, rows=rows, size_bytes=size_bytes)
        if self._spread and median_ns:
            return self._stream.lognormal_ns(median_ns, self._spread)
        return median_ns


def each_durable(model: StoreModel) -> bool:
    """Return whether each record is durable by itself, so that a sync has nothing to flush."""
    separate = model.placement is not StorePlacement.COLOCATED
    return separate and model.sync.durability is RecordDurability.PER_RECORD


def commit_ns(model: StoreModel) -> int:
    """Return what it takes to make one record durable by itself. 0 where a sync does it."""
    return model.costs.autocommit_ns if each_durable(model) else 0


def local_ns(costs: StepCosts, part: StepContent, *, rows: int, size_bytes: int) -> int:
    """Return what a step costs that is carried out on the machine of the process."""
    match part:
        case StepContent.BOTH:
            return costs.transaction_ns + rows * costs.transaction_row_ns
        case StepContent.DATA:
            moved_ns = size_bytes * _SECOND_NS // costs.flush_bytes_per_s
            return costs.flush_ns + moved_ns + rows * costs.flush_row_ns
        case StepContent.CHECKPOINT:
            return costs.wal_ns + costs.fsync_ns


def remote_sigma(costs: StepCosts) -> float:
    """Return sigma of the lognormal distribution of a remote commit."""
    return math.log(costs.remote_ns_p99 / costs.remote_ns) / _Z99


def remote_mean_ns(costs: StepCosts) -> float:
    """Return the mean of a remote commit."""
    return costs.remote_ns * math.exp(remote_sigma(costs) ** 2 / 2)
