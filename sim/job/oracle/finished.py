"""What checkpoints say of finished tasks and operators: a flag that is set stays set.

A job goes back only where it restarts, and then to what the restored checkpoint says.  Of a vertex
that had finished in part all subtasks run again, so single tasks are followed within an attempt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.coordinator.plan import FinishedState

if TYPE_CHECKING:
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.oracle.view import Violate

_NAME = "finished_flags_stay"


class FinishedFlags:
    """What complete checkpoints of one job have recorded as finished, since its latest restart."""

    def __init__(self, violate: Violate) -> None:
        self._violate = violate
        self._recorded: dict[int, tuple[frozenset[int], frozenset[str]]] = {}  # by checkpoint

    def restored(self, checkpoint: JobCheckpoint | None) -> None:
        """Begin anew from what a restored checkpoint has; None for the beginning of the job."""
        self._recorded.clear()
        if checkpoint is not None:
            full = _full(checkpoint)
            self._recorded[checkpoint.checkpoint_id] = frozenset(), full

    def completed(self, checkpoint: JobCheckpoint) -> None:
        """Check a complete checkpoint against those before and behind it, by their numbers.

        A savepoint may complete late, so what is behind it may be known already.
        """
        number = checkpoint.checkpoint_id
        flags = checkpoint.finished, _full(checkpoint)
        before = max((one for one in self._recorded if one < number), default=None)
        behind = min((one for one in self._recorded if one > number), default=None)
        self._recorded[number] = flags
        if before is not None:
            self._compare(before, number)
        if behind is not None:
            self._compare(number, behind)

    def _compare(self, older: int, newer: int) -> None:
        (tasks, vertices), (later_tasks, later_vertices) = (
            self._recorded[older],
            self._recorded[newer],
        )
        says = f"is finished in checkpoint {older} and not in {newer}"
        for task in sorted(tasks - later_tasks):
            self._violate(_NAME, f"task {task} {says}", newer)
        for vertex in sorted(vertices - later_vertices):
            self._violate(_NAME, f"{vertex} {says}", newer)


def _full(checkpoint: JobCheckpoint) -> frozenset[str]:
    states = checkpoint.vertices.items()
    return frozenset(name for name, state in states if state is FinishedState.FULL)
