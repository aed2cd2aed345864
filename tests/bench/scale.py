"""How cost and memory grow with a job, and what thinning it saves: `python -m tests.bench scale`.

Takes minutes, so `make bench` leaves it out.  `python -m tests.bench.scale FILE.svg` draws it too.

In the exact job each of p subtasks is joined to all p of the next vertex.  In a thinned one there
are p / n subtasks and n channels between two of them. So each task has its p channels, the same
records a second over each, and its own pools and gates.  The processors are divided by n as well,
for all tasks share them.  So a task does what it did before, and what many tasks do together is not
the same: the last of few to acknowledge is earlier than the last of many.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from math import log
from statistics import fmean
from time import process_time
from unittest.mock import patch

from ckptsim.scenarios.job import Edge, Job, Machine, Mode
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.restoring import rescales
from ckptsim.sim.job.graph import ChannelSpec, Graph, OutputSpec
from ckptsim.sim.job.tables import job_rows
from ckptsim.sim.kernel import Environment
from tests.bench import Figure
from tests.bench.chains import SECOND, chain
from tests.bench.scale_point import scale_point

# Subtasks of each vertex, and operators after the source.
SIZES = (
    *((16, 1), (32, 1), (64, 1), (128, 1), (256, 1), (512, 1)),
    *((16, 7), (32, 7), (64, 7), (128, 7)),
    *((128, 2), (128, 3)),
)
COSTS = {
    "set_up_s": "set-up, s of CPU",
    "per_second_s": "a simulated second, s of CPU",
    "per_checkpoint_s": "an unaligned checkpoint, s of CPU",
    "bytes_per_channel": "memory, bytes per channel",
}
THINNED = 64
Point = dict[str, float]


def measure() -> list[Figure]:
    """Measure every size, fit how costs grow, and thin one job."""
    return [*figures_of([scale_point(*size) for size in SIZES]), *_thinning()]


def figures_of(points: list[Point]) -> list[Figure]:
    """Return the figures of points, and the exponents over p of the longest and shortest chain."""
    figures = []
    for point in points:
        size = f"p = {point['parallelism']}, {point['vertices']} vertices"
        says = (
            f"set-up {point['set_up_s']:.2f} s, a checkpoint {point['per_checkpoint_s']:.2f} s, "
            f"{point['channels']} channels of {point['bytes_per_channel']:.0f} bytes"
        )
        figures.append(
            Figure(
                name=size, value=point["per_second_s"], unit="s of CPU per simulated s", says=says
            )
        )
    for vertices in (2, 8):
        chain = [one for one in points if one["vertices"] == vertices and one["parallelism"] >= 64]
        figures += [
            Figure(
                name=f"exponent of p, {vertices} vertices, {cost}",
                value=exponent(chain, cost),
                says="least squares of logarithms, p = 64 and more",
            )
            for cost in list(COSTS)[:3]
        ]
    return figures


def exponent(points: list[Point], cost: str) -> float:
    """Return the power of p with which a cost grows, by least squares of the logarithms."""
    x = [log(point["parallelism"]) for point in points]
    y = [log(max(1e-6, point[cost])) for point in points]
    spread = sum((one - fmean(x)) ** 2 for one in x)
    return sum((one - fmean(x)) * other for one, other in zip(x, y, strict=True)) / spread


def _thinning() -> list[Figure]:
    figures = []
    for loaded in (True, False):
        for mode in (Mode.UNALIGNED, Mode.ALIGNED):
            exact = thinned(THINNED, 1, loaded=loaded, mode=mode)
            for by in (2, 4, 8, 16):
                found = thinned(THINNED, by, loaded=loaded, mode=mode)
                load = "80 % loaded" if loaded else "unlimited"
                figures.append(
                    Figure(
                        name=f"thinned by {by}, p = {THINNED}, {load}, {mode}",
                        value=found.duration_ms,
                        unit="ms a checkpoint",
                        says=found.against(exact)
                        + f"; exact: {exact.duration_ms:.0f} ms, {exact.checkpoints} checkpoints",
                    )
                )
    return figures


def draw(points: list[Point], path: str) -> None:
    """Draw the four costs over p, a line per number of vertices."""
    from matplotlib.figure import Figure as Drawing  # noqa: PLC0415 - only to draw

    drawing = Drawing(figsize=(8.4, 5.6), layout="constrained")
    for axes, (cost, says) in zip(drawing.subplots(2, 2).flat, COSTS.items(), strict=True):
        for vertices in (2, 8):
            chain = [one for one in points if one["vertices"] == vertices]
            x = [point["parallelism"] for point in chain]
            y = [point[cost] for point in chain]
            axes.plot(x, y, marker="o", label=f"{vertices} vertices")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log" if cost != "bytes_per_channel" else "linear")
        axes.set_xticks(x_ticks := [16, 32, 64, 128, 256, 512], labels=map(str, x_ticks))
        axes.set_title(says, fontsize=10, loc="left")
        axes.grid(visible=True, alpha=0.3)
        axes.set_xlabel("subtasks of each vertex")
    drawing.axes[1].axhline(1.0, color="grey", linestyle=":")
    drawing.axes[1].text(16, 0.9, "as fast as real time", color="grey", fontsize=8, va="top")
    drawing.axes[3].set_ylim(bottom=0)
    drawing.axes[0].legend(frameon=False)
    drawing.savefig(path)


def main(path: str) -> None:
    """Measure every size, print the figures and draw them."""
    points = [scale_point(*size) for size in SIZES]
    for figure in figures_of(points):
        print(figure)
    draw(points, path)


if __name__ == "__main__":
    main(sys.argv[1])


OPERATORS = 3
SIMULATED_S = 12
TASKS_PER_CORE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinned:
    """What a job, thinned or not, says. Bytes and records are the ones of the whole job.

    cpu_s: set-up included. duration_ms, persisted_bytes: means over its complete checkpoints.
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
    """Run a job of so many subtasks a vertex with one of `by` of them. 1 is the exact job."""
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
