"""A send that fails while the sync waits for its end: it is tried again before the time is over."""

from __future__ import annotations

from ckptsim.models.ordering import Effect, OrderingCore, OrderingParameters, SendFailed
from ckptsim.models.ordering.core import Parts
from ckptsim.models.ordering.release.releaser import EndOfSync, Releaser
from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.search import explore
from ckptsim.sim.search.explore import Corpus, Explorer, Exploring
from ckptsim.sim.world import run_world


class TakesTheWaitForTheEnd(Releaser):
    """Takes a send that fails during the wait for one of the last pass."""

    def fail(self, event: SendFailed) -> list[Effect]:
        """Give the verdict, whatever the timer says."""
        if self._ending is EndOfSync.WAITING:
            self._ending = EndOfSync.LAST
            self._again = False
        return super().fail(event)


def faulty(parameters: OrderingParameters) -> OrderingCore:
    """Return a core that fails the sync at the first send that fails during the wait."""
    return OrderingCore(parameters, Parts(releaser=TakesTheWaitForTheEnd))


def test_a_send_that_fails_during_the_wait_is_tried_again() -> None:
    """Our core completes the sync in the first attempt, whatever the seed."""
    for seed in range(5):
        result = run_world(by_name("send_fails_at_end"), seed=seed, ties="random")
        assert result.goals["send_failed_at_end"] == 2
        assert (result.run.outcome, result.run.attempts) == ("completed", 1)
        assert result.violations == []


def test_a_core_that_takes_the_wait_for_the_end_shows() -> None:
    """It ends the sync early, which the scenario and drawn syncs show."""
    result = run_world(by_name("send_fails_at_end"), seed=0, cores={"ordering": faulty})
    assert result.violations
    explorer = Explorer(link="ordering", cores={"ordering": faulty})
    assert explore.explore(explorer, Exploring(runs=150), Corpus()).violating
