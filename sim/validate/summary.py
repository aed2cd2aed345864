"""Summaries of simulated jobs with the keys and definitions of the measured ones.

Times are in ms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.buffers.kinds import Kind
from ckptsim.sim.job.buffers.tasks import Source
from ckptsim.sim.validate.measured import BYTES, summary_of

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.state import SubtaskSnapshot
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.checkpoint import CheckpointRecord

_MS = 1_000_000

# As the engine's REST server names them. Every other end of a checkpoint is FAILED there.
# Source: Apache Flink 1.20.3, CheckpointStatsStatus.
_REST_STATUS = {"completed": "COMPLETED", "pending": "IN_PROGRESS"}


def durations_ms(world: DataflowWorld) -> list[float]:
    """Return how long each completed checkpoint took, in the order of their triggers."""
    records = world.coordinator.records.values()
    return [(r.duration_ns or 0) / _MS for r in records if r.status == "completed"]


def summary_of_world(world: DataflowWorld, warmup: int) -> dict[str, Any]:
    """Return the summary of a job's completed checkpoints after the first `warmup` ones."""
    records = [r for r in world.coordinator.records.values() if r.status == "completed"][warmup:]
    vertices = {}
    for vertex in world.graph.vertices:
        tasks = world.graph.tasks_of(vertex.name)
        vertices[vertex.name] = [
            [_part(one, *one.parts[number]) for number in tasks if number in one.parts]
            for one in records
        ]
    checkpoints = [
        {
            "trigger_ms": record.triggered_ns / _MS,
            "end_to_end_duration_ms": (record.duration_ns or 0) / _MS,
            **{key: sum(p[key] for own in parts for p in own) for key in BYTES},
        }
        for record, *parts in zip(records, *vertices.values(), strict=True)
    ]
    return summary_of(checkpoints, vertices)


def _part(record: CheckpointRecord, part: SubtaskSnapshot, arrival_ns: int) -> dict[str, float]:
    """Return the part of a subtask in a checkpoint as a measured one is reported."""
    return {
        "end_to_end_ms": (arrival_ns - record.triggered_ns) / _MS,
        "start_delay_ms": part.start_delay_ns / _MS,
        "alignment_ms": part.alignment_ns / _MS,
        "sync_ms": part.sync_ns / _MS,
        "async_ms": part.async_ns / _MS,
        "persisted_bytes": part.persisted_bytes,
        "processed_bytes": part.processed_bytes,
        "checkpointed_bytes": part.state_bytes + part.persisted_bytes,
        "unaligned": part.persisted_bytes > 0,
    }


def finish_of(world: DataflowWorld, running_ms: int) -> dict[str, Any] | None:
    """Return when a bounded job's parts ended, in ms since its submission. None if it has not."""
    ends: dict[str, list[int]] = {}
    last: dict[str, list[int]] = {}
    finished: dict[str, list[int]] = {}
    for vertex in world.graph.vertices:
        name, tasks = vertex.name, world.tasks_of(vertex.name)
        if any(task.finished_ns is None for task in tasks):
            return None
        finished[name] = [running_ms + (task.finished_ns or 0) // _MS for task in tasks]
        times = [running_ms + (task.ending.data_ended_ns or 0) // _MS for task in tasks]
        (ends if isinstance(tasks[0], Source) else last)[name] = times
    end = max(max(times) for times in ends.values())
    last_record = max(max(times) for times in last.values())
    job = max(max(times) for times in finished.values())
    behind = {
        name: [done - out for done, out in zip(finished[name], ends[name], strict=True)]
        for name in ends
    }
    triggers = [(running_ms + r.triggered_ns // _MS, r) for r in world.coordinator.records.values()]
    return {
        "source_end_of_data_ms": ends,
        "last_record_processed_ms": last,
        "vertex_finished_ms": finished,
        "job_finished_ms": job,
        "job_finished_minus_source_end_ms": job - end,
        "job_finished_minus_last_record_ms": job - last_record,
        "last_record_minus_source_end_ms": last_record - end,
        "source_finished_minus_end_ms": behind,
        "checkpoint_interval_ms": world.model.checkpointing.interval_ns // _MS,
        "last_trigger_before_source_end_ms": max(
            (t for t, _ in triggers if t <= end), default=None
        ),
        "checkpoints_triggered_after_source_end": [
            {
                "id": record.checkpoint,
                "trigger_ms": time,
                "duration_ms": None if record.duration_ns is None else record.duration_ns // _MS,
                "status": _REST_STATUS.get(record.status, "FAILED"),
            }
            for time, record in triggers
            if time > end
        ],
    }


class Window:
    """Counts the records that tasks process from some moment to the end of the run."""

    def __init__(self, world: DataflowWorld, start_ns: int) -> None:
        self._world = world
        self._start_ns = 0
        self._before = [0] * len(world.tasks)
        if start_ns > 0:
            entity = world.env.entity("window")
            world.env.call_at(start_ns, Kind.MEASURE, entity, self._open, start_ns)

    def _open(self, start_ns: int) -> None:
        self._start_ns = start_ns
        for task in self._world.tasks:
            task.sync()
            self._before[task.number] = task.processed

    def rates(self) -> dict[str, list[float]]:
        """Return records per second of every subtask. Of the whole run if it ended before."""
        seconds = max(1, self._world.env.now - self._start_ns) / 1e9
        return {
            vertex.name: [
                round((t.processed - self._before[t.number]) / seconds, 2)
                for t in self._world.tasks_of(vertex.name)
            ]
            for vertex in self._world.graph.vertices
        }
