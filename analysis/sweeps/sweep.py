"""Sweeps on Spark: one world per row, results saved as they arrive.

A sweep's rows are known before it starts. Runs in the store are skipped, and resuming needs no
more.  The rows that a run leaves depend on nothing but the run: not on partitions, workers or
order.  Results travel to the driver as Arrow and are written there, so a cluster needs no file
system that its nodes share.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from ckptsim.analysis.spark.session import cancel_jobs
from ckptsim.analysis.summaries import refresh
from ckptsim.analysis.sweeps.chunks import WAVE_S, Costs, in_order_of_replication, pack
from ckptsim.analysis.sweeps.worker import ChunkResult, SweepRow, died, run_chunk
from ckptsim.analysis.tables.store import POINTS, SweepStore
from ckptsim.sim.limits import UNLIMITED, Limits

if TYPE_CHECKING:
    from pyspark import Accumulator, SparkContext
    from pyspark.sql import SparkSession

WORLD = "ckptsim.sim.world:run_world"
WAVES_UNDER_WAY = 2  # the second fills the cores while the last tasks of the first end
CHUNKS_PER_CORE = 4
POLL_S = 0.2
SAVE_S = WAVE_S  # arrivals are saved after this time at the latest, whatever runs longer
FIRST_SAVE_S = 2.0  # and in the beginning earlier: the time between two saves doubles up to that


class Progress(Protocol):
    """Learns the progress of a sweep."""

    def __call__(self, *, done: int, total: int) -> None:
        """Take the number of runs done in this call of the sweep, and of all that it has to do."""


Violated = Callable[[int], None]
"""Takes the number of runs of this call that violate what their scenario does not expect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSummary:
    """What one call of a sweep did: runs skipped because they were there, runs done, seconds.

    wall_s: of the runs, without their aggregation.
    """

    skipped: int
    done: int
    wall_s: float
    worker_s: float


def run_sweep(
    session: SparkSession,
    rows: Sequence[SweepRow],
    store: SweepStore,
    *,
    world: str = WORLD,
    partitions: int | None = None,
    limits: Limits = UNLIMITED,
    progress: Progress | None = None,
    violated: Violated | None = None,
) -> SweepSummary:
    """Run every row that is not in the store and save the results.

    At the end the rows of a sweep with written points are aggregated.
    partitions: tasks per Spark job. Four per core when not given.  limits: of each run. A run that
    raises becomes a row of outcome "error". So does one with a dying worker. Raises UserError when
    another process writes into the store.
    """
    began = time.perf_counter()
    unique = {row.run_key: row for row in reversed(rows)}
    with store.writing():
        there = store.run_keys()
        wanted = [row for key, row in reversed(unique.items()) if key not in there]
        context = session.sparkContext
        sweep = _Sweep(context, store, world=world, partitions=partitions, limits=limits)
        sweep.run(in_order_of_replication(wanted), progress or _silent, violated)
        wall_s = time.perf_counter() - began
        if (store.directory / POINTS).is_file():
            refresh(session, store)
    return SweepSummary(
        skipped=len(unique) - len(wanted), done=len(wanted), wall_s=wall_s, worker_s=sweep.worker_s
    )


def _silent(*, done: int, total: int) -> None:
    """Take the progress and say nothing."""


class _Sweep:
    """The waves of one call: cuts them, runs them in Spark, saves what they return."""

    def __init__(
        self,
        context: SparkContext,
        store: SweepStore,
        *,
        world: str,
        partitions: int | None,
        limits: Limits,
    ) -> None:
        from ckptsim.analysis.sweeps.arrivals import Arrivals

        self._context = context
        self._store = store
        self._partitions = partitions
        self._cores = context.defaultParallelism
        self._stopped = False
        self._costs = Costs()
        self._finished = context.accumulator(0)
        self._task = chunk_task(world, self._finished, limits)
        self._arrivals = Arrivals(context)
        self._began_s = self._saved_s = time.monotonic()
        self.worker_s = 0.0

    def run(
        self, rows: list[SweepRow], progress: Progress, violated: Violated | None = None
    ) -> None:
        """Keep some waves under way until all rows are done.

        This thread never talks to Java meanwhile, so that it can be interrupted at any instant.
        """
        left = rows
        size = 0
        under_way: set[Future[list[SweepRow]]] = set()
        with ThreadPoolExecutor(WAVES_UNDER_WAY) as threads:
            try:
                while left or under_way:
                    while left and len(under_way) < WAVES_UNDER_WAY:
                        size = self._costs.wave_size(
                            chunks=self._chunks(), cores=self._cores, last=size
                        )
                        wave, left = left[:size], left[size:]
                        under_way.add(threads.submit(self._run_wave, wave))
                    finished, under_way = wait(under_way, POLL_S, return_when=FIRST_COMPLETED)
                    if violated is not None:
                        violated(self._arrivals.violated())
                    progress(done=min(self._finished.value, len(rows)), total=len(rows))
                    for future in finished:
                        left = future.result() + left  # raises what its wave has raised
                    if finished or self._has_to_save():
                        self._save()
            except BaseException as error:
                self._stopped = True
                cancel_jobs(self._context)
                if isinstance(error, KeyboardInterrupt):
                    self._save()
                raise
        progress(done=len(rows), total=len(rows))

    def _has_to_save(self) -> bool:
        patience_s = min(SAVE_S, max(FIRST_SAVE_S, self._saved_s - self._began_s))
        return time.monotonic() - self._saved_s > patience_s

    def _chunks(self) -> int:
        return self._partitions or CHUNKS_PER_CORE * self._cores

    def _run_wave(self, rows: list[SweepRow]) -> list[SweepRow]:
        """Run one wave as a Spark job and return the rows that its chunks have handed back.

        When a worker dies the wave is halved, down to the run that kills.
        """
        from py4j.protocol import Py4JJavaError

        self._cores = self._context.defaultParallelism  # the one of a cluster may still grow
        chunks = pack(rows, self._costs, chunks=self._chunks(), cores=self._cores)
        handed_back: list[SweepRow] = []
        try:
            shipped = self._context.parallelize(chunks, len(chunks))
            shipped.foreach(self._arrivals.sending(self._task))
        except Py4JJavaError as error:
            reason = str(error.java_exception.getMessage())
            if self._stopped:
                raise
            left = self._arrivals.missing(rows)
            if len(left) == 1:
                self._arrivals.add(died(left[0], f"its worker died: {reason}"))
            else:
                half = len(left) // 2
                for part in (left[:half], left[half:]):
                    if part:
                        handed_back += self._run_wave(part)
        else:
            handed_back = self._arrivals.missing(rows)
        self._arrivals.forget(rows)
        return handed_back

    def _save(self) -> None:
        """Save the arrivals."""
        self._saved_s = time.monotonic()
        results = self._arrivals.take()
        if results:
            self._store.commit([result.tables for result in results])
        for result in results:
            self._costs.learn(result.seconds)
            self.worker_s += sum(seconds for _, seconds in result.seconds)


def chunk_task(
    world: str, finished: Accumulator[int], limits: Limits = UNLIMITED
) -> Callable[[Sequence[SweepRow]], ChunkResult]:
    """Return what a worker does: a name, a counter and limits, nothing else is captured."""
    return partial(run_chunk, world, each=partial(finished.add, 1), limits=limits, budget_s=WAVE_S)
