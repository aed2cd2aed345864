"""How far a job can be thinned: fewer subtasks, each with as many channels as before.

In the exact job each of p subtasks is joined to all p of the next vertex.  In a thinned one there
are p / n subtasks and n channels between two of them, so each task has its p channels, with the
same records a second over each, and its own pools and gates.  The processors are divided by n as
well, for all tasks share them.  So a task does what it did before, and what many tasks do together
is not the same: the last of few to acknowledge is earlier than the last of many.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean
from time import process_time
from unittest.mock import patch

from ckptsim.scenarios.job import Edge, Job, Machine, Mode
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.restoring import rescales
from ckptsim.sim.job.graph import ChannelSpec, Graph, OutputSpec
from ckptsim.sim.job.tables import job_rows
from ckptsim.sim.kernel import Environment
from tests.bench.chains import SECOND, chain

OPERATORS = 3
SIMULATED_S = 12
TASKS_PER_CORE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinned:
    """What a job, thinned or not, says; bytes and records are those of the whole job.

    cpu_s: set-up included; duration_ms, persisted_bytes: means over its complete checkpoints.
    """

    cpu_s: float
    checkpoints: int
    duration_ms: float
    persisted_bytes: float
    records: float

    def against(self, exact: Thinned) -> str:
        """Return how far this is from the exact job."""
        bytes_ = ""
        if exact.persisted_bytes:
            bytes_ = f", bytes {self.persisted_bytes / exact.persisted_bytes - 1:+.1%}"
        return (
            f"{exact.cpu_s / self.cpu_s:.1f} times as fast; duration "
            f"{self.duration_ms / exact.duration_ms - 1:+.1%}{bytes_}, "
            f"records {self.records / exact.records - 1:+.2%}"
        )


class ThinnedGraph(Graph):
    """A graph with several channels between two subtasks of an exchange of all with all."""

    channels_each = 1

    def _add_edge(self, number: int, edge: Edge) -> None:
        first, each = len(self.all_outputs), self.channels_each
        super()._add_edge(number, edge)
        for task in self.tasks_of(edge.downstream):
            self.gate_channels[task][-1] *= each
        for place in range(first, len(self.all_outputs)):
            output = self.all_outputs[place]
            sender, mine = output.upstream, list(output.channels)
            for index in output.channels * (each - 1):
                one = self.channels[index]
                inputs = self.inputs[one.downstream]
                spec = ChannelSpec(
                    *(len(self.channels), number, sender, one.downstream),
                    *(len(mine), len(inputs), one.gate),
                )
                self.channels.append(spec)
                inputs.append(spec.index)
                mine.append(spec.index)
            self.all_outputs[place] = OutputSpec(
                edge, sender, tuple(mine), output.supports_unaligned
            )
            self.outputs[sender][-1] = self.all_outputs[place]


def thinned(parallelism: int, by: int, *, loaded: bool, mode: Mode) -> Thinned:
    """Run a job of so many subtasks a vertex with one of `by` of them; 1 is the exact job."""
    model = chain(parallelism // by, OPERATORS, loaded=loaded, mode=mode)
    model = replace(
        model,
        checkpointing=replace(model.checkpointing, interval_ns=2 * SECOND),
        duration_ns=SIMULATED_S * SECOND,
        machine=Machine(cores=(OPERATORS + 1) * parallelism // by // TASKS_PER_CORE),
    )
    started = process_time()
    world = world_of(model, by)
    world.run()
    spent = process_time() - started
    checkpoints, _, tasks = job_rows("", world)
    complete = [one for one in checkpoints if one.status == "completed"]
    return Thinned(
        cpu_s=spent,
        checkpoints=len(complete),
        duration_ms=fmean(one.duration_ns or 0 for one in complete) / 1e6 if complete else 0.0,
        persisted_bytes=by * fmean(one.persisted_bytes for one in complete) if complete else 0.0,
        records=by * sum(one.records for one in tasks),
    )


def world_of(model: Job, by: int) -> DataflowWorld:
    """Return the world of a job with so many channels between two subtasks."""
    graph = type("Graph", (ThinnedGraph,), {"channels_each": by})
    with patch.object(rescales, "Graph", graph):
        return DataflowWorld(Environment(1), model)
