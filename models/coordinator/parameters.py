"""Settings of the checkpoint coordinator, with Flink's defaults."""

from __future__ import annotations

from dataclasses import dataclass

from ckptsim.models.barriers.barrier import OptionKind, select_kind
from ckptsim.models.coordinator.requests import MAX_QUEUED_REQUESTS
from ckptsim.models.core import ProtocolError

MILLISECOND_NS = 1_000_000
TEN_MINUTES_NS = 600_000 * MILLISECOND_NS


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorParameters:
    """How checkpoints are triggered, bounded and kept.

    interval_ns: None triggers nothing periodically. min_pause_ns: at least this long from a
    completion to the next periodic trigger. tolerable_failures: failed checkpoints in a row that
    the job survives. None for any number. retained: completed checkpoints that are kept.
    alignment_timeout_ns: after which an unaligned-enabled checkpoint stops waiting. 0 and None give
    plainly unaligned ones. max_queued: requests that may wait for their turn.
    collapse_ticks: a tick that finds a periodic request waiting adds no second one.
    Source: trigger times measured on Apache Flink 1.20.3 with checkpoints longer than their
    interval.

    awaits_cleaning: the host answers DiscardCheckpoint with Cleaned. Then too much cleaning at once
    holds the next checkpoint up.

    Raises ProtocolError for settings that Flink refuses. Source: Apache Flink 1.20.3,
    CheckpointCoordinatorConfiguration and ExecutionCheckpointingOptions.
    """

    interval_ns: int | None = None
    timeout_ns: int = TEN_MINUTES_NS
    min_pause_ns: int = 0
    max_concurrent: int = 1
    tolerable_failures: int | None = 0
    retained: int = 1
    exactly_once: bool = True
    unaligned: bool = False
    alignment_timeout_ns: int | None = 0
    max_queued: int = MAX_QUEUED_REQUESTS
    collapse_ticks: bool = True
    awaits_cleaning: bool = False

    def __post_init__(self) -> None:
        problem = self._problem()
        if problem is not None:
            raise ProtocolError("bad_parameters", state=problem)

    @property
    def effective_interval_ns(self) -> int | None:
        """The time between two ticks: the interval, but no less than the minimum pause."""
        if self.interval_ns is None:
            return None
        return max(self.interval_ns, self.min_pause_ns)

    @property
    def first_delay_bounds_ns(self) -> tuple[int, int]:
        """Between what the first tick is drawn uniformly, both ends included."""
        return self.min_pause_ns, self.effective_interval_ns or self.min_pause_ns

    def kind_of(self, *, savepoint: bool) -> OptionKind:
        """Return the option kind that a new checkpoint gets."""
        return select_kind(
            exactly_once=self.exactly_once,
            savepoint=savepoint,
            unaligned_enabled=self.unaligned,
            timeout_ns=self.alignment_timeout_ns,
        )

    def _problem(self) -> str | None:
        if self.unaligned and not self.exactly_once:
            return "unaligned checkpoints need exactly-once mode"
        if self.unaligned and self.max_concurrent != 1:
            return "unaligned checkpoints need one checkpoint at a time"
        if self.max_concurrent < 1 or self.retained < 1:
            return "at least one checkpoint must be allowed to run, and one to be kept"
        if self.max_queued < 1:
            return "at least one request must be allowed to wait"
        return None
