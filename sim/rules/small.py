"""The rules of what is small: the end of data, a failure of a stop, edges, assigned gates.

Source: Apache Flink, FLINK-28386 and FLINK-26783; CheckpointOptions; TaskStateAssignment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ckptsim.models.barriers import Barrier, OptionKind
from ckptsim.models.coordinator import Recovery
from ckptsim.models.recovery.in_flight import Exchange
from ckptsim.models.recovery.mapping import DISTRIBUTIONS, GateAssignment
from ckptsim.sim.rules.answers import Pick
from ckptsim.sim.rules.functions.recovery import assigned
from ckptsim.sim.rules.naive import Naive


class EndOfDataRules(Naive):
    """A checkpoint is wanted when the last of all tasks has reported, once per attempt."""

    def __init__(self, tasks: int, *, enabled: bool) -> None:
        self._tasks = tasks
        self._enabled = enabled
        self._reports: list[int] = []

    def take(self, event: Any) -> Sequence[Any]:
        """Note a report, or that tasks were deployed anew."""
        if event[0] == "reset":
            self._reports = []
            return [None]
        fresh = event[1] not in self._reports
        self._reports.append(event[1])
        return [self._enabled and fresh and len(set(self._reports)) == self._tasks]

    def stray(self, pick: Pick) -> Any:
        """Return a report, seldom a deployment."""
        report = ("reported", pick.integer(0, self._tasks - 1))
        return ("reset",) if pick.one_in(8) else report


class AfterFailureRules(Naive):
    """A job whose stop is complete fails for good; any other one restarts."""

    def take(self, event: Any) -> Sequence[Any]:
        """Return what a failure leads to."""
        return [Recovery.FAIL if event[1]["stop_completed"] else Recovery.RESTART]

    def stray(self, pick: Pick) -> Any:
        """Return a failure around a stop."""
        return ("", {"stop_completed": pick.one_in(2)})


class EdgeRules(Naive):
    """An edge that keeps its order takes no barrier that overtakes, or may come to."""

    def take(self, event: Any) -> Sequence[Any]:
        """Return the barrier that travels."""
        barrier, supports = event[1], event[2]["supports_unaligned"]
        overtakes = barrier.kind in (OptionKind.UNALIGNED, OptionKind.TIMEOUTABLE)
        kind = OptionKind.FORCED_ALIGNED if overtakes and not supports else barrier.kind
        return [Barrier(barrier.checkpoint, barrier.timestamp_ns, kind, barrier.timeout_ns)]

    def stray(self, pick: Pick) -> Any:
        """Return a barrier and an edge."""
        kind = pick.of(tuple(OptionKind))
        timeout_ns = 5 if kind is OptionKind.TIMEOUTABLE else None
        return ("", Barrier(1, 2, kind, timeout_ns), {"supports_unaligned": pick.one_in(2)})


class AssignmentRules(Naive):
    """Each gate of a subtask takes over what the mappers of its own edge say, if anything."""

    def take(self, event: Any) -> Sequence[Any]:
        """Return what every gate takes over."""
        _, exchanges, options = event
        return [[self._gate(exchange, options["subtask"]) for exchange in exchanges]]

    def _gate(self, exchange: Exchange, subtask: int) -> GateAssignment:
        if not exchange.in_flight:
            nothing = tuple(() for _ in range(exchange.new[0]))
            return GateAssignment(
                old_subtasks=(), old_channels=nothing, identity=True, ambiguous=()
            )
        own, up, identity, shared, _ = assigned(
            exchange.distribution, subtask, exchange.old, exchange.new
        )
        return GateAssignment(
            old_subtasks=own, old_channels=up, identity=identity, ambiguous=shared
        )

    def stray(self, pick: Pick) -> Any:
        """Return the exchanges of a vertex, and a subtask of it."""
        down = (pick.integer(1, 4), pick.integer(1, 4))
        exchanges = [self._exchange(pick, down) for _ in range(pick.integer(1, 2))]
        options = {"subtask": pick.integer(0, down[1] - 1), "stateful": pick.one_in(2)}
        return ("gates", exchanges, options)

    def _exchange(self, pick: Pick, down: tuple[int, int]) -> Exchange:
        distribution = pick.of(list(DISTRIBUTIONS.values()))
        return Exchange(
            distribution=distribution,
            old=(pick.integer(1, 4), down[0]),
            new=(pick.integer(1, 4), down[1]),
            in_flight=distribution.supports_unaligned and not pick.one_in(4),
        )
