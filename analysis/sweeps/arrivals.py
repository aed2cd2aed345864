"""Results of chunks as they arrive at the driver, each when its own task ends.

A job returns when its last task does. One long run would keep back the results of all others.  So
results travel with an accumulator. Its updates reach the driver with the end of each task, and the
job itself returns nothing.
Source: Apache Spark, programming guide, accumulators: for updates inside actions, each task's is
applied once, restarted tasks included.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from pyspark.accumulators import AccumulatorParam

from ckptsim.analysis.sweeps.worker import ChunkResult, SweepRow

if TYPE_CHECKING:
    from pyspark import Accumulator, SparkContext

Results = deque[ChunkResult]


class _Queue(AccumulatorParam[Results]):  # type: ignore[misc]  # PySpark has no types for it
    """Adds by appending, so that the driver's queue stays one object that can be emptied."""

    def zero(self, value: Results) -> Results:
        """Return an empty queue."""
        del value
        return deque()

    def addInPlace(self, value1: Results, value2: Results) -> Results:  # noqa: N802 - Spark's name
        """Append the second queue to the first."""
        value1.extend(value2)
        return value1


class Arrivals:
    """The arrivals that were not taken yet. Threads may ask at the same time."""

    def __init__(self, context: SparkContext) -> None:
        self._queue: Accumulator[Results] = context.accumulator(deque(), _Queue())
        self._ready: list[ChunkResult] = []
        self._keys: set[str] = set()
        self._lock = Lock()
        self._violated = 0

    def sending(self, task: Callable[[Sequence[SweepRow]], ChunkResult]) -> Sender:
        """Return the function that Spark ships: it runs the task and sends its result."""
        return Sender(task, self._queue)

    def take(self) -> list[ChunkResult]:
        """Return the arrivals since the last call, in its order."""
        with self._lock:
            self._receive()
            taken, self._ready = self._ready, []
            return taken

    def violated(self) -> int:
        """Return how many runs of all that have arrived violate what they should not."""
        with self._lock:
            self._receive()
            return self._violated

    def missing(self, rows: Iterable[SweepRow]) -> list[SweepRow]:
        """Return the rows without results."""
        with self._lock:
            self._receive()
            return [row for row in rows if row.run_key not in self._keys]

    def forget(self, rows: Iterable[SweepRow]) -> None:
        """Forget which of these have arrived: no one asks for them any more."""
        with self._lock:
            self._receive()
            self._keys.difference_update(row.run_key for row in rows)

    def add(self, result: ChunkResult) -> None:
        """Put a result in that no task has sent."""
        with self._lock:
            self._ready.append(result)

    def _receive(self) -> None:
        queue = self._queue.value
        while queue:  # Spark's thread appends at the other end
            result = queue.popleft()
            self._ready.append(result)
            self._keys.update(result.run_keys)
            self._violated += result.violated


class Sender:
    """Runs a task on the rows of a chunk and sends the result to the driver."""

    def __init__(
        self, task: Callable[[Sequence[SweepRow]], ChunkResult], queue: Accumulator[Results]
    ) -> None:
        self._task = task
        self._queue = queue

    def __call__(self, rows: Sequence[SweepRow]) -> None:
        """Run the task. Called by Spark, once per chunk."""
        self._queue.add(deque([self._task(rows)]))
