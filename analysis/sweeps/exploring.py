"""Rounds of an exploration on Spark: one job per round, some runs in each of its tasks.

What a round's runs return is the same in any worker, so that reports do not depend on partitions.
Which round comes when is the explorer's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from ckptsim.analysis.spark.session import cancel_jobs
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.search.explore import Explored, Explorer
from ckptsim.sim.search.explore.explore import AHEAD, CarryOut, Plan, carried_out_apart, parts

if TYPE_CHECKING:
    from pyspark import SparkContext

_TASKS_PER_CORE = 2


@contextmanager
def rounds_on_spark(
    context: SparkContext, explorer: Explorer, seed: int, *, partitions: int | None = None
) -> Iterator[CarryOut]:
    """Offer who carries out rounds on the executors. What still runs at the end is cancelled.

    partitions: tasks per round. Two per core when not given, and never more than runs. Raises
    UserError, from a round, when the executors cannot carry it out.
    """
    task = partial(carried_out_apart, explorer, seed)
    # Threads talk to Java, and this one never, so that it can be interrupted at any instant.
    with ThreadPoolExecutor(AHEAD) as threads:
        try:
            yield lambda plan: _results(threads.submit(_run, context, task, plan, partitions))
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            cancel_jobs(context)


def _results(job: Future[list[list[Explored]]]) -> Iterator[Explored]:
    for part in job.result():
        yield from part


def _run(
    context: SparkContext,
    task: Callable[[Plan], list[Explored]],
    plan: Plan,
    partitions: int | None,
) -> list[list[Explored]]:
    """Run the parts of a plan as tasks of one job. Return what each gives, in their order."""
    from py4j.protocol import Py4JJavaError

    count = partitions or _TASKS_PER_CORE * context.defaultParallelism
    divided = parts(plan, count)
    try:
        found: list[list[Explored]] = context.parallelize(divided, len(divided)).map(task).collect()
    except Py4JJavaError as error:
        reason = str(error.java_exception.getMessage())
        raise UserError(f"--master: exploring failed in a worker: {reason}") from error
    return found
