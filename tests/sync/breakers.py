"""Cores and hosts that break one promise each, to show that each property can fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from ckptsim.models import ordering
from ckptsim.models.ordering.release import Ledger
from ckptsim.sim.rows import RunResult
from ckptsim.sim.sync.attempt import Attempt
from ckptsim.sim.sync.oracle.records import RecordChecks
from ckptsim.sim.sync.socket import Socket
from ckptsim.sim.sync.source.rounds import Resources
from ckptsim.sim.sync.world import Platform
from ckptsim.sim.world import run_world
from tests.sync.support import changed, library

Factory = Callable[[ordering.OrderingParameters], ordering.OrderingDoor]


class SendsTwice(ordering.OrderingCore):
    """Sends its first state again after it was returned."""

    _first: ordering.SendState | None = None

    def step(self, event: ordering.Event) -> list[ordering.Effect]:
        """Answer the first return with the same send."""
        again, self._first = self._first, None
        if isinstance(event, ordering.StateSent) and again is not None:
            super().step(event)
            return [again]
        effects = super().step(event)
        self._first = next((e for e in effects if isinstance(e, ordering.SendState)), None)
        return effects


class SendsUnknown(ordering.OrderingCore):
    """Sends states under indexes that the source never used."""

    def step(self, event: ordering.Event) -> list[ordering.Effect]:
        """Shift the index of every send."""
        return [
            replace(e, key=replace(e.key, index=e.key.index + 100))
            if isinstance(e, ordering.SendState)
            else e
            for e in super().step(event)
        ]


class ForgetsFailedSend(ordering.OrderingCore):
    """Says after a failed send that it holds one state less."""

    _lost = 0

    def step(self, event: ordering.Event) -> list[ordering.Effect]:
        """Count failed sends."""
        self._lost += isinstance(event, ordering.SendFailed)
        return super().step(event)

    def pending_count(self) -> int:
        """Return too few."""
        return super().pending_count() - self._lost


class EndsEarly(ordering.OrderingCore):
    """Ends its streams when the first channel closes."""

    def step(self, event: ordering.Event) -> list[ordering.Effect]:
        """Add the end of all streams to the first end of a channel."""
        effects = super().step(event)
        if isinstance(event, ordering.ChannelClosed):
            streams = self.parameters.streams
            return [*effects, *(ordering.EndStream(stream=s, records_read=0) for s in streams)]
        return effects


class FailsWithoutReason(ordering.OrderingCore):
    """Fails the sync without saying the content of the way."""

    def step(self, event: ordering.Event) -> list[ordering.Effect]:
        """Fail instead of completing."""
        empty = ordering.FailSync(kind=ordering.Refusal.UNFLUSHED_STATES)
        return [empty if isinstance(e, ordering.CompleteSync) else e for e in super().step(event)]


class CompletesAnyway(ordering.OrderingCore):
    """Completes the sync as soon as it is asked to finish."""

    def step(self, event: ordering.Event) -> list[ordering.Effect]:
        """Complete at once."""
        effects = super().step(event)
        if isinstance(event, ordering.FinishRequested):
            return [ordering.CompleteSync()]
        return [e for e in effects if not isinstance(e, ordering.SetFinishTimer)]


class HoardingLedger(Ledger):
    """Never folds the counters of a released id."""

    def _fold(self, identity: str) -> None:
        del identity


def hoards(parameters: ordering.OrderingParameters) -> ordering.OrderingDoor:
    """Make a core that keeps all its counters."""
    return ordering.OrderingCore(parameters, ordering.Parts(ledger=HoardingLedger))


def with_core(scenario: str, factory: Factory, seed: int = 0) -> RunResult:
    """Run a library scenario on another core."""
    return run_world(library(scenario), seed=seed, cores={"ordering": factory})


def report_twice(monkeypatch: pytest.MonkeyPatch) -> RunResult:
    """Run with a host that enters every durable report twice."""
    once = RecordChecks.on_report

    def twice(self: RecordChecks, *arguments: object) -> None:
        once(self, *arguments)  # type: ignore[arg-type]
        once(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(RecordChecks, "on_report", twice)
    return run_world(library("quickstart"), seed=0)


def share_sockets(monkeypatch: pytest.MonkeyPatch) -> RunResult:
    """Run with a source that hands out sockets in use."""

    def take(self: Resources) -> Socket:
        return self._free[0]

    monkeypatch.setattr(Resources, "_take", take)
    return run_world(library("reference"), seed=0)


def open_connections(monkeypatch: pytest.MonkeyPatch) -> RunResult:
    """Run with a source that does not count its connections."""
    scenario = changed(library("quickstart"), "source.connections", 1)
    right = Resources._take

    def take(self: Resources) -> Socket | None:
        self._connections += 1
        return right(self)

    monkeypatch.setattr(Resources, "_take", take)
    return run_world(scenario, seed=0)


def forgetful_platform(monkeypatch: pytest.MonkeyPatch) -> RunResult:
    """Run with a platform that forgets every state it was given."""
    right = Platform.take

    def take(self: Platform, attempt: Attempt, effect: ordering.SendState) -> bool:
        kept = right(self, attempt, effect)
        self.resume = [None] * len(self.resume)
        return kept

    monkeypatch.setattr(Platform, "take", take)
    return run_world(library("reference"), seed=0)


def must_complete(monkeypatch: pytest.MonkeyPatch) -> RunResult:
    """Run a sync that can never complete and is said to."""
    del monkeypatch
    scenario = changed(library("b10_levels_disjoint"), "outcome", "completed")
    return next(
        result
        for result in (run_world(scenario, seed=seed) for seed in range(20))
        if result.run.outcome == "failed"
    )
