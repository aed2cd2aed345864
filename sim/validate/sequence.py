"""One measured run checkpoint by checkpoint: as measured, as predicted, and with known pauses.

The pauses of a measured run are what no model can foresee: how long after one checkpoint's end the
next was triggered, and how long the trigger took to the sources.  Told those, and nothing about any
duration, the model says what durations follow from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ckptsim.sim.job.buffers.constants import MECHANISMS, RIG, Constants
from ckptsim.sim.job.buffers.timers import Pauses
from ckptsim.sim.job.buffers.world import DataflowWorld
from ckptsim.sim.kernel import Environment, fence
from ckptsim.sim.validate.measured import MeasuredRun, correlation, middle
from ckptsim.sim.validate.predict import durations_ms, model_for

_MS = 1_000_000


class KnownPauses(Pauses):
    """The pauses of a measured job in ms, by checkpoint, without what the model takes."""

    def __init__(self, run: MeasuredRun, env: Environment, constants: Constants) -> None:
        super().__init__(env, constants)
        usual_ns = constants.rpc_ns + constants.message_cost_ns
        self._behind = {
            number: max(0, gap * _MS - constants.complete_ns)
            for number, gap in gaps_ms(run).items()
        }
        self._before = {
            number: max(0, delay * _MS - usual_ns)
            for number, delay in source_delays_ms(run).items()
        }

    def behind_ns(self, checkpoint: int) -> int:
        """Return the measured pause after a checkpoint, none where none was measured."""
        return self._behind.get(checkpoint, 0)

    def before_sources_ns(self, checkpoint: int) -> int:
        """Return by how much the measured trigger came late to the sources."""
        return self._before.get(checkpoint, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSequence:
    """Durations in ms of the completed checkpoints of one run, in order.

    least, predicted, most: over the seeds. told: their middle when the model knows the pauses.
    pauses: what it was told of each checkpoint, from the end of the one before to the first barrier
    at a source.
    """

    run_id: str
    measured: tuple[float, ...]
    least: tuple[float, ...]
    predicted: tuple[float, ...]
    most: tuple[float, ...]
    told: tuple[float, ...]
    pauses: tuple[int, ...]

    @property
    def correlations(self) -> tuple[float, float]:
        """How predicted, and told, durations after the first go with measured ones."""
        return (
            correlation(self.predicted[1:], self.measured[1:]),
            correlation(self.told[1:], self.measured[1:]),
        )


def sequence_of(run: MeasuredRun, *, seeds: int) -> CheckpointSequence:
    """Simulate a run's first job with several seeds, without and with the measured pauses."""
    free = [_durations(run, seed, told=False) for seed in range(1, seeds + 1)]
    told = [_durations(run, seed, told=True) for seed in range(1, seeds + 1)]
    measured = [float(c["end_to_end_duration_ms"]) for c in _completed(run)]
    count = min(len(measured), *(len(found) for found in (*free, *told)))
    columns = list(zip(*(found[:count] for found in free), strict=True))
    numbers = [int(c["id"]) for c in _completed(run)]
    gaps, delays = gaps_ms(run), source_delays_ms(run)
    return CheckpointSequence(
        run_id=run.run_id,
        measured=tuple(measured[:count]),
        least=tuple(min(column) for column in columns),
        predicted=tuple(middle(column) for column in columns),
        most=tuple(max(column) for column in columns),
        told=tuple(middle([found[:count] for found in told])),
        pauses=tuple(
            gaps.get(before, 0) + delays.get(number, 0)
            for before, number in pairwise([0, *numbers[:count]])
        ),
    )


def gaps_ms(run: MeasuredRun) -> dict[int, int]:
    """Return the time from a checkpoint's end to the next trigger where that was an overdue one."""
    found = {}
    interval = run.config["checkpoint"]["interval_ms"]
    for before, after in pairwise(_completed(run)):
        overdue = before["end_to_end_duration_ms"] >= interval and after["id"] == before["id"] + 1
        gap = after["trigger_ms"] - before["trigger_ms"] - before["end_to_end_duration_ms"]
        if overdue and gap >= 0:
            found[int(before["id"])] = int(gap)
    return found


def source_delays_ms(run: MeasuredRun) -> dict[int, int]:
    """Return when the last source saw each trigger. Sources have no alignment and no queue."""
    found = {}
    sources = [source["name"] for source in run.config["sources"]]
    for checkpoint in _completed(run):
        vertices: Mapping[str, Any] = checkpoint.get("vertices") or {}
        delays = [
            max(int(part.get("start_delay_ms", 0)) for part in vertices[name])
            for name in sources
            if vertices.get(name)
        ]
        if delays:
            found[int(checkpoint["id"])] = max(delays)
    return found


def _completed(run: MeasuredRun) -> list[Mapping[str, Any]]:
    return [
        c
        for c in run.jobs[0].checkpoints
        if c["status"] == "COMPLETED" and c.get("end_to_end_duration_ms") is not None
    ]


def _durations(run: MeasuredRun, seed: int, *, told: bool) -> list[float]:
    env = Environment(seed)
    pauses = KnownPauses(run, env, RIG) if told else None
    model = model_for(run, run.jobs[0])
    with fence():
        world = DataflowWorld(env, model, RIG, MECHANISMS, pauses=pauses)
        world.run()
    return durations_ms(world)
