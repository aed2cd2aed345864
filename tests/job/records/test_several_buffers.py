"""Barriers that find several buffers of a producer queued."""

from __future__ import annotations

from ckptsim.models.barriers.barrier import Barrier
from ckptsim.models.barriers.channels.network import PersistOutput
from ckptsim.models.barriers.channels.subpartition import Subpartition
from ckptsim.sim.search import explore
from ckptsim.sim.search.explore import Corpus, Explorer, Exploring


class KeepsOneBuffer(Subpartition):
    """Persists the first of the buffers that a barrier overtakes, and none of the others."""

    def add_barrier(self, barrier: Barrier) -> bool:
        """Leave the buffers after the first one out."""
        added = super().add_barrier(barrier)
        last = self._outbox[-1] if self._outbox else None
        if isinstance(last, PersistOutput) and last.subpartition == self.index:
            self._outbox[-1] = PersistOutput(self.index, last.checkpoint, last.buffers[:1])
        return added


def test_a_producer_that_keeps_one_of_several_buffers_is_found() -> None:
    """Drawn jobs have barriers overtake several buffers of one subpartition."""
    explorer = Explorer(link="barrier_protocol", cores={"output_subpartition": KeepsOneBuffer})
    report = explore.explore(explorer, Exploring(runs=40), Corpus())
    broken = {row.property for found in report.violating for row in found.trial.violations}
    assert broken & {"consistent_cut"}
