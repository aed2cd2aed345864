"""Which vertices of a job had another parallelism, in any of its attempts so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Job
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint


class Rescales:
    """What has been rescaled of one job.

    any: whether something was; any_before: whether something was before this attempt.
    vertices: those of them that have inputs, and all behind these, as the keys.
    """

    def __init__(self) -> None:
        self.any = self.any_before = False
        self.vertices: dict[str, None] = {}

    def begun(self, job: Job, restored: JobCheckpoint | None) -> None:
        """Note what differs between an attempt's vertices and those of what it restores."""
        self.any_before = self.any
        if restored is None:
            return
        before = {name: len(numbers) for name, numbers in restored.subtasks.items()}
        self.any |= before != {vertex.name: vertex.parallelism for vertex in job.vertices}
        readers = [vertex for vertex in job.vertices if vertex.inputs]
        found = [one.name for one in readers if before.get(one.name) != one.parallelism]
        for name in found:  # grows while it is looked through
            behind = [one.name for one in readers if name in {put.upstream for put in one.inputs}]
            found += [one for one in behind if one not in found]
        self.vertices |= dict.fromkeys(found)
