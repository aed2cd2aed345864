"""What a job cannot have where its tasks take checkpoints without barriers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.job.channel_state import SubtaskIndices
from ckptsim.scenarios.job.graph import Recorded, Vertex, VertexKind

if TYPE_CHECKING:
    from ckptsim.scenarios.job.checkpointing import Checkpointing
    from ckptsim.scenarios.job.ending import Ending


def uncoordinated_problems(
    checkpointing: Checkpointing,
    ending: Ending,
    vertices: Sequence[Vertex],
    *,
    preloaded_records: int,
    has_watermarks: bool,
    subtask_indices: SubtaskIndices,
) -> list[Problem]:
    """Return what does not go with checkpoints that no coordinator triggers. None where one does.

    No one asks all tasks for one checkpoint, so there are no savepoints, no stop with one, and no
    notification by which a sink could commit.
    """
    if not checkpointing.enabled or checkpointing.coordinated:
        return []
    whose = f'with checkpointing.protocol "{checkpointing.protocol}"'
    found = [
        Problem(path, f"{value}", f"nothing {whose}: no checkpoint is of the whole job")
        for path, value in (
            ("checkpointing.savepoint_at", checkpointing.savepoint_at_ns),
            ("checkpointing.count", checkpointing.count),
            ("ending.stop_at", ending.stop_at_ns),
        )
        if value is not None
    ]
    if has_watermarks:
        expected = f"nothing {whose}: what is sent again would have to be what was sent"
        found.append(Problem("event_time.watermark_interval", "a watermark", expected))
    if preloaded_records and not checkpointing.message_logs:
        expected = "0 without message logs, from which a backlog would be restored"
        found.append(Problem("channels.preloaded_records", str(preloaded_records), expected))
    if subtask_indices is not SubtaskIndices.KEPT:
        expected = f'"kept" {whose}: tasks come back from checkpoints of their own, at their place'
        found.append(Problem("channel_state.subtask_indices", f'"{subtask_indices}"', expected))
    return [*found, *_vertex_problems(vertices, whose)]


def _vertex_problems(vertices: Sequence[Vertex], whose: str) -> Iterator[Problem]:
    for index, vertex in enumerate(vertices):
        path = f"vertices[{index}]"
        if vertex.kind is VertexKind.SINK:
            expected = f'"operator" {whose}: no notification says when to commit'
            yield Problem(f"{path}.kind", '"sink"', expected)
        if vertex.is_endless:
            expected = f"an end {whose}: a stop needs a savepoint"
            yield Problem(f"{path}.records", "no end", expected)
        if vertex.recorded is not Recorded.NONE:
            expected = f'"none" {whose}: no checkpoint records finished tasks'
            yield Problem(f"{path}.recorded", f'"{vertex.recorded}"', expected)
