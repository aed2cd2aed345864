"""How a job comes back from a failure, besides the restart strategy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ckptsim.models.recovery.detection import HeartbeatParameters
from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.fields import choice, count, duration_ns, flag
from ckptsim.scenarios.limits import not_in_pipelines, not_on_records

_HEARTBEAT = "Source: Apache Flink 1.20.3, HeartbeatManagerOptions, heartbeat."
_COURSE = "assumption: off, so that small jobs are hunted in milliseconds"


class FailoverKind(StrEnum):
    """What a failure restarts."""

    REGION = "region"
    FULL = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """How a job comes back from a failure."""

    failover: FailoverKind = choice(
        "region",
        FailoverKind,
        says="what a failure restarts where a failover takes time: the tasks that exchanges join "
        "to one that failed, while others run on; or all",
        source="Source: Apache Flink 1.20.3, jobmanager.execution.failover-strategy",
        limits=not_on_records("a failure restarts all tasks", noted=True)
        + not_in_pipelines("its tasks are joined"),
    )

    timed: bool = flag(
        False,
        says="a failover takes the measured time to report the failure, to cancel and deploy "
        "tasks, to read state and in-flight data, and to request partitions; off: all tasks run "
        "again as soon as the restart delay is over",
        source=_COURSE,
        limits=not_on_records(
            "its costs are few and may be zero, and what a restore takes is one of them"
        ),
    )
    heartbeat_interval_ns: int = duration_ns(
        "10 s",
        minimum="1 ms",
        maximum="1 d",
        says="between two heartbeats that the job manager asks a task manager for",
        source=_HEARTBEAT + "interval",
    )
    heartbeat_timeout_ns: int = duration_ns(
        "50 s",
        minimum=1,
        maximum="1 d",
        says="after its latest heartbeat a task manager counts as lost",
        source=_HEARTBEAT + "timeout",
    )
    heartbeat_rpc_failure_threshold: int | None = count(
        2,
        optional=True,
        minimum=1,
        maximum=1_000_000,
        unit="requests",
        says="requests for a heartbeat in a row that cannot be delivered, after which a task "
        "manager counts as lost; absent: only the time-out counts",
        source=_HEARTBEAT + "rpc-failure-threshold",
    )

    @property
    def heartbeat(self) -> HeartbeatParameters:
        """Return the settings of the core that detects failures."""
        return HeartbeatParameters(
            interval_ns=self.heartbeat_interval_ns,
            timeout_ns=self.heartbeat_timeout_ns,
            rpc_failure_threshold=self.heartbeat_rpc_failure_threshold,
        )

    def problems(self) -> list[Problem]:
        """Return what does not hold between the values."""
        if self.heartbeat_interval_ns < self.heartbeat_timeout_ns:
            return []
        expected = f"more than heartbeat_interval, {duration_text(self.heartbeat_interval_ns)}"
        return [Problem("heartbeat_timeout_ns", duration_text(self.heartbeat_timeout_ns), expected)]
