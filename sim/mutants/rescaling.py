"""Mutants of what a restore at another parallelism does with in-flight data.

Each lacks one rule: one that a published issue brought in, or one that FLIP-76 argues for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ckptsim.models.barriers.barrier import Barrier
from ckptsim.models.recovery import (
    ConnectionDescriptor,
    Exchange,
    GateAssignment,
    InFlightAssignment,
    RecoveredInput,
    recovered_input,
)
from ckptsim.models.recovery.recovered_input import GatePhase, VirtualChannel
from ckptsim.sim.mutants.mutant import by_name, of_slot


class OneMapperForAllGates(InFlightAssignment):
    """Assigns in-flight data to all gates of a task by the mappers of its first (FLINK-22686)."""

    def gates(
        self, exchanges: Sequence[Exchange], *, subtask: int, stateful: bool
    ) -> list[GateAssignment]:
        """Take the first edge's distribution for all."""
        first = exchanges[0].distribution
        alike = [replace(exchange, distribution=first) for exchange in exchanges]
        return super().gates(alike, subtask=subtask, stateful=stateful)


class SkipsStatelessVertices(InFlightAssignment):
    """Assigns nothing to a vertex without operator state (FLINK-31963)."""

    def gates(
        self, exchanges: Sequence[Exchange], *, subtask: int, stateful: bool
    ) -> list[GateAssignment]:
        """Take all edges of a stateless vertex for empty."""
        if not stateful:
            exchanges = [replace(exchange, in_flight=False) for exchange in exchanges]
        return super().gates(exchanges, subtask=subtask, stateful=stateful)


class AsksEveryMapper(InFlightAssignment):
    """Asks for the mappers of an edge that has no in-flight data, too (FLINK-38267)."""

    def gate(self, exchange: Exchange, subtask: int) -> GateAssignment:
        """Take every edge for one with data, where any of its ends is rescaled."""
        moved = exchange.old != exchange.new
        return super().gate(replace(exchange, in_flight=exchange.in_flight or moved), subtask)


class PermutesSubtasks(InFlightAssignment):
    """Gives in-flight data to the next subtask: indices are taken for arbitrary."""

    def gate(self, exchange: Exchange, subtask: int) -> GateAssignment:
        """Answer for the next subtask."""
        return super().gate(exchange, (subtask + 1) % exchange.new[1])


class OneDeserializerPerChannel(RecoveredInput):
    """Joins the parts of records per new channel, whatever old channels they come from."""

    def __init__(
        self, assignment: GateAssignment, channels: int, *, accepts: Callable[[int], bool]
    ) -> None:
        super().__init__(assignment, channels, accepts=accepts)
        for virtual in self._virtual:
            ours = list(virtual.values())
            for one in ours:
                one.deserializer = ours[0].deserializer


class OneDeserializerPerGate(RecoveredInput):
    """Joins the parts of records per gate, whatever channels they come from."""

    def __init__(
        self, assignment: GateAssignment, channels: int, *, accepts: Callable[[int], bool]
    ) -> None:
        super().__init__(assignment, channels, accepts=accepts)
        everyone = [one for virtual in self._virtual for one in virtual.values()]
        everyone += [one for one in self._selected if one is not None]
        for one in everyone:
            one.deserializer = everyone[0].deserializer


class KeepsEveryCopy(RecoveredInput):
    """Keeps the records of an old subtask in every subtask that takes it over."""

    def __init__(
        self, assignment: GateAssignment, channels: int, *, accepts: Callable[[int], bool]
    ) -> None:
        super().__init__(assignment, channels, accepts=lambda _record: True)
        del accepts


class ForwardsAnyWatermark(RecoveredInput):
    """Passes the watermark of any old channel on for the whole channel."""

    def step(
        self, event: recovered_input.RecoveredInputEvent
    ) -> list[recovered_input.RecoveredInputEffect]:
        """Wait for no one."""
        if isinstance(event, recovered_input.WatermarkTaken):
            return [recovered_input.ForwardWatermark(event.channel, event.timestamp)]
        return super().step(event)


class ForwardsAnyStatus(RecoveredInput):
    """Passes the status of any old channel on for the whole channel (FLINK-40517)."""

    def _status(self, channel: int, *, idle: bool) -> list[recovered_input.RecoveredInputEffect]:
        return [recovered_input.ForwardStatus(channel, idle)]


class ConvertsWhenRead(RecoveredInput):
    """Replaces recovered channels that were read and are empty, one by one (FLINK-38544)."""

    def __init__(
        self, assignment: GateAssignment, channels: int, *, accepts: Callable[[int], bool]
    ) -> None:
        super().__init__(assignment, channels, accepts=accepts)
        self._was_read: dict[int, None] = {}

    def step(
        self, event: recovered_input.RecoveredInputEvent
    ) -> list[recovered_input.RecoveredInputEffect]:
        """Take a queue that is empty for one that has ended once its state was read."""
        match event:
            case recovered_input.StateRead(channel):
                self._was_read[channel] = None
            case recovered_input.QueueEmpty(channel) if (
                channel in self._open and channel in self._was_read
            ):
                return super().step(recovered_input.InputStateEnded(channel))
            case recovered_input.InputStateEnded(channel) if (
                channel not in self._open or self.phase is not GatePhase.READING
            ):
                return []
        return super().step(event)


class PersistsWhileRecovering(RecoveredInput):
    """Lets a checkpoint persist the input while old channels are distinguished by descriptors."""

    @property
    def may_persist(self) -> bool:
        """Allow it always."""
        return True


class DropsMarkers(RecoveredInput):
    """Loses the marker after the data of old senders."""

    def step(
        self, event: recovered_input.RecoveredInputEvent
    ) -> list[recovered_input.RecoveredInputEffect]:
        """Do nothing at a marker."""
        return [] if isinstance(event, recovered_input.OutputStateEnded) else super().step(event)


class IgnoresDescriptors(RecoveredInput):
    """Takes all data for the one of the first old channel of a channel."""

    def _select(self, channel: int, descriptor: ConnectionDescriptor) -> None:
        del descriptor
        self._selected[channel] = next(iter(self._virtual[channel].values()), VirtualChannel())


def overtakes_on_any_edge(barrier: Barrier, *, supports_unaligned: bool) -> Barrier:
    """Let barriers overtake on pointwise and broadcast edges (FLINK-21945, FLINK-22815)."""
    del supports_unaligned
    return barrier


MUTANTS = by_name(
    *of_slot(
        "assignment",
        OneMapperForAllGates,
        SkipsStatelessVertices,
        AsksEveryMapper,
        PermutesSubtasks,
    ),
    *of_slot(
        "recovered_input",
        OneDeserializerPerChannel,
        OneDeserializerPerGate,
        KeepsEveryCopy,
        ForwardsAnyWatermark,
        ForwardsAnyStatus,
        ConvertsWhenRead,
        PersistsWhileRecovering,
        DropsMarkers,
        IgnoresDescriptors,
    ),
    *of_slot("edge", overtakes_on_any_edge),
)
