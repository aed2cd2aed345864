"""What the durable steps of a store cost: one table, used wherever a checkpoint is kept.

A scenario has it as `[store.costs]`, a pipeline as `[pipeline.store.costs]`.  `ckptsim
measure-store` writes it for a machine, and `--costs FILE` puts it into whatever is run.
"""

from __future__ import annotations

from dataclasses import dataclass

from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.fields import duration_ns, rate_bytes_per_s
from ckptsim.scenarios.limits import not_in_pipelines

_MEASURED = (
    "Source: measured with duckdb 1.5.6 and SQLite on a 2-core machine; `ckptsim measure-store`"
)
_ROCKSDB = "assumption: order of magnitude of RocksDB; measure-store has DuckDB instead"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCosts:
    """What each durable step costs."""

    SOURCE = _ROCKSDB

    autocommit_ns: int = duration_ns(
        "1.2 ms",
        says="to make one record durable by itself",
        source=_MEASURED,
        limits=not_in_pipelines("records are durable with their transaction"),
    )
    transaction_ns: int = duration_ns(
        "5 ms", says="one transaction with rows and checkpoint", source=_MEASURED
    )
    transaction_row_ns: int = duration_ns(
        "700 ns", says="each row of it, as one set-based statement", source=_MEASURED
    )
    flush_ns: int = duration_ns("20 ms", says="one flush of the data alone")
    flush_bytes_per_s: int = rate_bytes_per_s("200 MB/s", says="bandwidth of a flush")
    flush_row_ns: int = duration_ns(0, says="each row of a flush")
    wal_ns: int = duration_ns("100 us", says="to put a checkpoint alone into its write-ahead log")
    fsync_ns: int = duration_ns(
        "200 us",
        says="to sync that log to the disk",
        source="Source: measured, median of fsync after a small append on a 2-core machine",
    )
    remote_ns: int = duration_ns(
        "5 ms", minimum=1, says="median of a remote offset commit", source="assumption"
    )
    remote_ns_p99: int = duration_ns(
        "50 ms", minimum=1, says="99th percentile of a remote offset commit", source="assumption"
    )
    replay_row_ns: int = duration_ns(
        "10 us",
        says="to put one row of the mirror back",
        source="assumption",
        limits=not_in_pipelines("it keeps no mirror"),
    )

    def problems(self) -> list[Problem]:
        """Compare the percentiles of the remote commit."""
        if self.remote_ns <= self.remote_ns_p99:
            return []
        found = duration_text(self.remote_ns_p99)
        return [Problem("remote_p99", found, "at least the median `remote`")]
