"""Who carries out the runs of a round: this process, or several of this machine.

Others may do it as well: whoever returns what `carried_out` returns, in the order of the plan.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

from ckptsim.sim.kernel import Streams
from ckptsim.sim.search.explore.evenly import evenly
from ckptsim.sim.search.explore.run import Explored, Explorer

Plan = Sequence[tuple[int, tuple[int, ...]]]
"""The runs of a round: the number of each, and the choices that it begins with."""

CarryOut = Callable[[Plan], Iterator[Explored]]
"""Takes a round in hand and returns its runs in order; it may be asked for the next one before."""


def carried_out(explorer: Explorer, seed: int, plan: Plan) -> Iterator[Explored]:
    """Carry out runs one by one, here."""
    streams = Streams(seed)
    for number, given in plan:
        # A place that a changed list lacks gets any value: what kind of scenario it is, is there.
        more = streams.stream("choices", number).integer if given else evenly(seed, number)
        yield explorer.run(number, given, more)


def carried_out_apart(explorer: Explorer, seed: int, plan: Plan) -> list[Explored]:
    """Carry out a part of a round in a worker."""
    return list(carried_out(explorer, seed, plan))


def parts(plan: Plan, count: int) -> list[Plan]:
    """Return a plan in that many parts of neighbouring runs, or fewer."""
    size = -(-len(plan) // count)
    return [plan[begin : begin + size] for begin in range(0, len(plan), size or 1)]


@contextmanager
def workers_of(explorer: Explorer, seed: int, jobs: int) -> Iterator[CarryOut]:
    """Offer who carries out rounds with that many processes, which end with the block."""
    if jobs == 1:
        yield lambda plan: carried_out(explorer, seed, plan)
        return
    # Fresh interpreters, which end at once and quietly at an interrupt from the keyboard.
    quiet = (signal.SIGINT, signal.SIG_DFL)
    pool = ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=signal.signal, initargs=quiet
    )
    try:
        yield lambda plan: _results(
            [pool.submit(carried_out_apart, explorer, seed, part) for part in parts(plan, 2 * jobs)]
        )
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _results(waiting: Sequence[Future[list[Explored]]]) -> Iterator[Explored]:
    for each in waiting:
        yield from each.result()
