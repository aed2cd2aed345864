"""One attempt of a pipeline: source, sockets, destination, and the job within the destination."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.sim.sync.attempt import Attempt as SyncAttempt
from ckptsim.sim.sync.destination import Destination

if TYPE_CHECKING:
    from ckptsim.sim.composed.destination.destination import PipelineDestination
    from ckptsim.sim.composed.world import PipelineWorld


class PipelineAttempt(SyncAttempt):
    """An attempt; whatever fails in it, source, job or send, ends all of it.

    storage: the job within the destination, from its latest completed checkpoint.
    """

    world: PipelineWorld
    storage: PipelineDestination

    def make_destination(self) -> Destination:
        """Make the destination, and in it the job."""
        self.world.ledger.attempt_begins(self)
        self.storage = self.world.cores.destination(self)
        return Destination(self, self.storage.join)

    def begin(self) -> None:
        """Start source and destination, then the job."""
        super().begin()
        self.storage.job.control.begin()
