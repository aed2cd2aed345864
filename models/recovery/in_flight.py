"""Which in-flight data of old channels goes into which new channel, when the parallelism changes.

A channel is a pair of an upstream and a downstream subtask.  A new channel takes the data of every
pair of an old subtask that its receiver takes over and an old channel that its sender takes over:
what waited at the receivers (input state) and what waited at the senders (output state) alike.
Before the data of each pair is a descriptor that names it, so that the receiver can keep their
bytes apart.  An exchange in which nothing moves needs no descriptors.

Promised: with mappers that are not ambiguous each piece of data goes to one new channel. With
ambiguous ones to every taker, which filters them.

Source: Apache Flink 1.20.3, TaskStateAssignment, StateAssignmentOperation.reDistributeInput- and
ResultSubpartitionStates, SubtaskConnectionDescriptor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ckptsim.models.barriers.barrier import NetworkEvent
from ckptsim.models.recovery.mapping import Distribution, GateAssignment, assign_gate

Data = TypeVar("Data")

Pair = tuple[int, int]
"""An upstream and a downstream subtask."""


@dataclass(frozen=True, slots=True)
class ConnectionDescriptor(NetworkEvent):
    """Says which old channel the data that follow come from: subtask downstream, channel up."""

    subtask: int
    channel: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One edge of a job before and after. Parallelisms are (upstream, downstream).

    in_flight: whether the checkpoint holds data of it.
    """

    distribution: Distribution
    old: Pair
    new: Pair
    in_flight: bool = True


class InFlightAssignment:
    """Assigns in-flight data to the input gates of new subtasks."""

    __slots__ = ()

    def gates(
        self, exchanges: Sequence[Exchange], *, subtask: int, stateful: bool
    ) -> list[GateAssignment]:
        """Return what each gate of a subtask takes over. An exchange per gate, in their order.

        stateful: whether the checkpoint holds operator state of the vertex.  It does not matter:
        in-flight data has to be assigned all the same (FLINK-31963).
        Raises ProtocolError for in-flight data of an edge that cannot be redistributed.
        """
        del stateful
        return [self.gate(exchange, subtask) for exchange in exchanges]

    def gate(self, exchange: Exchange, subtask: int) -> GateAssignment:
        """Return what one gate takes over. Each gate by the mappers of its own edge (FLINK-22686).

        The mappers of an edge without in-flight data are not asked: a pointwise edge has none, and
        would refuse (FLINK-38267).
        """
        if not exchange.in_flight:
            nothing = ((),) * exchange.new[0]
            return GateAssignment(
                old_subtasks=(), old_channels=nothing, identity=True, ambiguous=()
            )
        return assign_gate(
            exchange.distribution,
            subtask=subtask,
            old_parallelism=exchange.old,
            new_parallelism=exchange.new,
        )


def whole_channels(
    gate: GateAssignment,
    channel: int,
    received: Mapping[Pair, Sequence[Data]],
    sent: Mapping[Pair, Sequence[Data]],
) -> Iterator[ConnectionDescriptor | Data]:
    """Yield what a new channel gets, one old channel after the other: of each both ends at once.

    So no two old channels have an unfinished record at the same time.
    """
    for subtask, upstream in gate.virtual_channels(channel):
        pair = (upstream, subtask)
        data = (*received.get(pair, ()), *sent.get(pair, ()))
        if data and not gate.identity:
            yield ConnectionDescriptor(subtask, upstream)
        yield from data


def recovered_data(
    gate: GateAssignment, channel: int, held: Mapping[Pair, Sequence[Data]]
) -> Iterator[ConnectionDescriptor | Data]:
    """Yield what a new channel gets of what old ones held, each pair's after its descriptor.

    held: input state or output state, by old pair (upstream, downstream).
    """
    for subtask, upstream in gate.virtual_channels(channel):
        data = held.get((upstream, subtask), ())
        if data and not gate.identity:
            yield ConnectionDescriptor(subtask, upstream)
        yield from data
