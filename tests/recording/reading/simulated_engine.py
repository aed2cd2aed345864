"""A recording of a simulated job, as the engine's REST server would show it.

Times and counters come from the running world, names and shapes from the engine. So the content
offerred can be compared with the known facts of the job.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ckptsim.scenarios.job import Job, Mode, Partitioner
from ckptsim.sim.job.buffers import DataflowWorld
from ckptsim.sim.job.buffers.kinds import Kind, State
from ckptsim.sim.job.buffers.output import Selectivity
from ckptsim.sim.kernel import Environment

_MS = 1_000_000
JOB = "f" * 32
_BEGAN_MS = 1_700_000_000_000


def vertex_id(index: int) -> str:
    """Return the id of a vertex."""
    return f"{index:032x}"


class Recorder:
    """Runs a job and keeps what a server would answer."""

    def __init__(self, model: Job, *, samples_ms: tuple[int, ...], seed: int = 7) -> None:
        self._model = model
        self._world = DataflowWorld(Environment(seed), model)
        self._answers: list[tuple[str, int, Any]] = []
        self._ids = {vertex.name: vertex_id(i) for i, vertex in enumerate(model.vertices)}
        self._fixed()
        entity = self._world.env.entity("recorder")
        for at in samples_ms:
            self._world.env.call_at(at * _MS, Kind.MEASURE, entity, self._sample, at)
        self._world.run()
        self._checkpoints(samples_ms[-1] + 10)

    def write(self, folder: Path) -> Path:
        """Write the recording into a folder and return it."""
        folder.mkdir(parents=True)
        entries = []
        for number, (path, at_ms, body) in enumerate(self._answers):
            (folder / f"{number:04d}.json").write_text(json.dumps(body))
            at = _BEGAN_MS + at_ms
            entries.append({"file": f"{number:04d}.json", "path": path, "at_ms": at})
        (folder / "index.json").write_text(json.dumps({"answers": entries}))
        return folder

    def _add(self, path: str, body: Any, at_ms: int = 0) -> None:
        self._answers.append((path, at_ms, body))

    def _fixed(self) -> None:
        model, network = self._model, self._model.network
        options = {
            "taskmanager.memory.segment-size": f"{network.segment_bytes}",
            "taskmanager.network.memory.buffers-per-channel": f"{network.exclusive_buffers}",
            "taskmanager.network.memory.floating-buffers-per-gate": f"{network.floating_buffers}",
            "execution.buffer-timeout.interval": f"{network.buffer_timeout_ns // _MS} ms",
        }
        self._add("/config", {"flink-version": "2.0.0"})
        pairs = [{"key": key, "value": value} for key, value in options.items()]
        self._add("/jobmanager/config", pairs)
        managers = sorted({t.spec.task_manager for t in self._world.tasks})
        hardware = {"cpuCores": model.machine.cores or 2}
        listed = [{"id": f"tm-{number}", "hardware": hardware} for number in managers]
        self._add("/taskmanagers", {"taskmanagers": listed})
        vertices = [
            {"id": self._ids[v.name], "name": _title(v), "parallelism": v.parallelism}
            | {"maxParallelism": 40 * v.parallelism}  # key groups that go round evenly
            for v in model.vertices
        ]
        about = {"jid": JOB, "name": "simulated", "state": "RUNNING", "job-type": "STREAMING"}
        self._add(f"/jobs/{JOB}", about | {"vertices": vertices})
        nodes = [
            {
                "id": self._ids[v.name],
                "parallelism": v.parallelism,
                "description": f"{_title(v)}<br/>",
                "inputs": [
                    {"id": self._ids[one.upstream], "ship_strategy": one.partitioner.value.upper()}
                    for one in v.inputs
                ],
            }
            for v in model.vertices
        ]
        self._add(f"/jobs/{JOB}/plan", {"plan": {"type": "STREAMING", "nodes": nodes[::-1]}})
        checkpointing = model.checkpointing
        answer = {
            "mode": "exactly_once",
            "interval": checkpointing.interval_ns // _MS,
            "unaligned_checkpoints": checkpointing.mode is not Mode.ALIGNED,
            "aligned_checkpoint_timeout": checkpointing.aligned_timeout_ns // _MS,
            "max_concurrent": 1,
        }
        self._add(f"/jobs/{JOB}/checkpoints/config", answer)
        for v in model.vertices:
            self._vertex(v)

    def _vertex(self, vertex: Any) -> None:
        path = f"/jobs/{JOB}/vertices/{self._ids[vertex.name]}"
        tasks = self._world.tasks_of(vertex.name)
        subtasks = [
            {"subtask": t.subtask, "attempt": 0, "taskmanager-id": f"tm-{t.spec.task_manager}"}
            for t in tasks
        ]
        self._add(path, {"id": self._ids[vertex.name], "subtasks": subtasks})
        metrics = [f"{t.subtask}.numRecordsIn" for t in tasks]
        if vertex.two_input:
            metrics += [f"{t.subtask}.{vertex.name}.currentInput2Watermark" for t in tasks]
        self._add(f"{path}/metrics", [{"id": name} for name in metrics])

    def _sample(self, at_ms: int) -> None:
        for vertex in self._model.vertices:
            found: list[dict[str, str]] = []
            for task in self._world.tasks_of(vertex.name):
                task.sync()
                task.enter(task.state)
                found += _metrics(task, vertex, self._model)
            path = f"/jobs/{JOB}/vertices/{self._ids[vertex.name]}/metrics?get=all"
            self._add(path, found, at_ms)

    def _checkpoints(self, at_ms: int) -> None:
        records = [r for r in self._world.coordinator.records.values() if r.status == "completed"]
        history = []
        for record in records:
            parts = [part for part, _ in record.parts.values()]
            history.append(
                {
                    "id": record.checkpoint,
                    "status": "COMPLETED",
                    "is_savepoint": False,
                    "trigger_timestamp": _BEGAN_MS + record.triggered_ns // _MS,
                    "end_to_end_duration": (record.duration_ns or 0) // _MS,
                    "checkpointed_size": sum(p.state_bytes + p.persisted_bytes for p in parts),
                    "processed_data": sum(p.processed_bytes for p in parts),
                    "persisted_data": sum(p.persisted_bytes for p in parts),
                }
            )
        self._add(f"/jobs/{JOB}/checkpoints", {"history": history[::-1]}, at_ms)
        for record in records[-8:]:
            for vertex in self._model.vertices:
                path = f"/jobs/{JOB}/checkpoints/details/{record.checkpoint}/subtasks/"
                entries = [
                    _part(task, *record.parts[task.number], record)
                    for task in self._world.tasks_of(vertex.name)
                    if task.number in record.parts
                ]
                self._add(path + self._ids[vertex.name], {"subtasks": entries}, at_ms)


def _title(vertex: Any) -> str:
    return f"Source: {vertex.name}" if vertex.is_source else vertex.name


def _metrics(task: Any, vertex: Any, model: Job) -> list[dict[str, str]]:
    """Return the metrics of a subtask. Time that is neither busy nor back-pressured is idle."""
    busy = task.time_in[State.BUSY]
    pressed = task.time_in[State.BLOCKED] + task.time_in[State.STUCK]
    emitted = Selectivity(vertex.selectivity).emitted(task.processed)
    outputs = sum(
        vertex_.parallelism if one.partitioner is Partitioner.BROADCAST else 1
        for vertex_ in model.vertices
        for one in vertex_.inputs
        if one.upstream == vertex.name
    )
    size = vertex.record_bytes or model.network.record_bytes
    values = {
        "accumulateBusyTimeMs": busy / _MS,
        "accumulateBackPressuredTimeMs": pressed // _MS,
        "accumulateIdleTimeMs": (task.env.now - busy - pressed) // _MS,
        "numRecordsIn": 0 if vertex.is_source else task.processed,
        "numRecordsOut": emitted if outputs else 0,
        "numBytesOut": emitted * size if outputs else 0,
    }
    return [{"id": f"{task.subtask}.{key}", "value": str(v)} for key, v in values.items()]


def _part(task: Any, part: Any, arrival_ns: int, record: Any) -> dict[str, Any]:
    acknowledged = part.acknowledged_ns - part.snapshot_ns - part.sync_ns
    return {
        "index": task.subtask,
        "status": "completed",
        "end_to_end_duration": (arrival_ns - record.triggered_ns) // _MS,
        "checkpointed_size": part.state_bytes + part.persisted_bytes,
        "checkpoint": {"sync": part.sync_ns // _MS, "async": acknowledged // _MS},
        "alignment": {
            "duration": part.alignment_ns // _MS,
            "processed": part.processed_bytes,
            "persisted": part.persisted_bytes,
        },
        "start_delay": part.start_delay_ns // _MS,
        "unaligned_checkpoint": part.persisted_bytes > 0,
        "aborted": False,
    }
