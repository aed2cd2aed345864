"""Outputs of one vertex that differ in the size of their records: in runs, and in recordings."""

from __future__ import annotations

import pytest

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.job import (
    Checkpointing,
    Input,
    Job,
    Mode,
    Plane,
    Profile,
    Vertex,
    VertexKind,
)
from ckptsim.sim.infer.tasks.load import size_on_edge
from ckptsim.sim.recording import SubtaskAnswer, VertexAnswer, VertexInput
from ckptsim.sim.recording.recording import Sample
from ckptsim.sim.world import run_world

MS = 1_000_000


def test_an_edge_has_records_of_its_own_size() -> None:
    """As many records in flight, each ten times as large, are some ten times as many bytes."""
    inputs = {size: Input(upstream="src", record_bytes=size) for size in (100, 1_000)}
    readers = tuple(
        Vertex(name=f"reads{size}", inputs=(one,), service_ns=MS) for size, one in inputs.items()
    )
    job = Job(
        plane=Plane.BUFFERS,
        profile=Profile.RIG,  # on which the readers are just too slow
        vertices=(Vertex(name="src", kind=VertexKind.SOURCE, rate_per_s=990.0), *readers),
        checkpointing=Checkpointing(mode=Mode.UNALIGNED, count=6),
        duration_ns=30_000 * MS,
    )
    result = run_world(Scenario(name="a", link="barriers", says="b", model=job), seed=1)
    sent = {task.task: task.records for task in result.tasks}
    assert sent["reads100"] == pytest.approx(sent["reads1000"], rel=0.02)
    assert not result.violations
    small, large = (
        sum(row.persisted_bytes for row in result.task_checkpoints if row.task == name)
        for name in ("reads100", "reads1000")
    )
    assert large > 5 * small > 0


def vertex(name: str, *, upstream: str | None, bytes_each: int) -> VertexAnswer:
    """Return a recorded vertex that has taken a thousand records of a size."""
    values = {"numRecordsIn": 1_000.0, "numBytesIn": 1_000.0 * bytes_each}
    sample = Sample(at_ms=0, values=values)
    subtask = SubtaskAnswer(index=0, task_manager=None, host=None, attempt=0, samples=(sample,))
    return VertexAnswer(
        id=name,
        name=name,
        parallelism=1,
        max_parallelism=None,
        status=None,
        operators=(name,),
        inputs=() if upstream is None else (VertexInput(upstream=upstream, ship="HASH"),),
        metrics=frozenset(),
        subtasks=(subtask,),
    )


def test_a_recording_shows_outputs_that_differ() -> None:
    """Receivers of one vertex that count other bytes per record have edges of their own size."""
    src = vertex("src", upstream=None, bytes_each=1)
    small, large = (vertex(f"b{n}", upstream="src", bytes_each=n) for n in (200, 900))
    found = size_on_edge((src, small, large), large, src)
    assert found is not None
    assert found.value == 900
    alike = vertex("c", upstream="src", bytes_each=205)
    assert size_on_edge((src, small, alike), alike, src) is None
    assert size_on_edge((src, large), large, src) is None
