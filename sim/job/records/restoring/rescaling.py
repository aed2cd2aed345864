"""A restore at another parallelism: in-flight records of old channels go into new ones.

What the checkpoint holds is read by old pairs of subtasks; the assignment core says which new
channel takes which pairs, and each new channel gets what had been at receivers and, in its sender's
queue, what had been at senders with the blocking marker behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ckptsim.models.barriers import EndOfChannelState
from ckptsim.models.core import ProtocolError
from ckptsim.models.recovery import (
    Exchange,
    GateAssignment,
    InFlightAssignment,
    recovered_data,
)
from ckptsim.scenarios.job import Partitioner
from ckptsim.sim.job.graph import Graph
from ckptsim.sim.job.parallelism import distribution_of, with_parallelism
from ckptsim.sim.job.records.keys import owner_of
from ckptsim.sim.job.records.restoring.held import HeldInFlight
from ckptsim.sim.job.records.restoring.recovered_gate import RecoveredGate

if TYPE_CHECKING:
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.graph import ChannelSpec
    from ckptsim.sim.job.records.attempt import Attempt
    from ckptsim.sim.job.records.state import Item
    from ckptsim.sim.job.records.tasks import Task

Pairs = Mapping[tuple[int, int], Sequence["Item"]]
"""Records in flight by old pair (upstream subtask, downstream subtask)."""


class Rescaling:
    """Gives the channels of an attempt what a checkpoint of another parallelism holds."""

    def __init__(self, attempt: Attempt, restored: JobCheckpoint) -> None:
        self._attempt = attempt
        self._restored = restored
        counts = {name: len(numbers) for name, numbers in restored.subtasks.items()}
        self._old = Graph(with_parallelism(attempt.job, counts))
        self._held_in_flight = HeldInFlight(attempt.job, restored.tasks, self._is_still_there)
        self._core = attempt.cores.assignment()
        self._input, self._output = self._held()

    def fill(self) -> None:
        """Fill all channels, and let their receivers take over gate by gate."""
        for task in self._attempt.tasks:
            if task.inputs:
                self._fill_gates(task)

    def _fill_gates(self, task: Task) -> None:
        edges = [gate.channels[0].spec.edge for gate in task.gates]
        for gate, edge, assignment in zip(
            task.gates, edges, self._assigned(task, edges), strict=True
        ):
            core = self._attempt.cores.recovered_input(
                assignment, len(gate.channels), accepts=keeper(task, edge)
            )
            gate.recovered = RecoveredGate(task, gate.channels, core)
            for channel in gate.channels:
                upstream = self._attempt.graph.tasks[channel.spec.upstream].subtask
                received = recovered_data(assignment, upstream, self._input[edge])
                sent = recovered_data(assignment, upstream, self._output[edge])
                channel.recover(received, [*sent, EndOfChannelState()])

    def _assigned(self, task: Task, edges: list[int]) -> list[GateAssignment]:
        """Ask what the gates of a task take over; nothing where the core refuses."""
        snapshots = self._restored.snapshots_of(task.spec.vertex.name)
        stateful = any(one is not None and one.state for one in snapshots)
        exchanges = [self._exchange(edge) for edge in edges]
        try:
            return self._core.gates(exchanges, subtask=task.subtask, stateful=stateful)
        except ProtocolError as error:
            self._attempt.violate("in_flight_data_is_assigned", f"{task.name}: {error}")
            nothing = [replace(exchange, in_flight=False) for exchange in exchanges]
            return InFlightAssignment().gates(nothing, subtask=task.subtask, stateful=stateful)

    def _exchange(self, edge: int) -> Exchange:
        new, old = self._attempt.graph, self._old
        ends = new.edges[edge].upstream, new.edges[edge].downstream
        return Exchange(
            distribution=distribution_of(new.edges[edge].partitioner),
            old=(old.vertex(ends[0]).parallelism, old.vertex(ends[1]).parallelism),
            new=(new.vertex(ends[0]).parallelism, new.vertex(ends[1]).parallelism),
            in_flight=bool(self._input[edge] or self._output[edge]),
        )

    def _held(self) -> tuple[list[Pairs], list[Pairs]]:
        """Return input state and output state by edge and old pair, without what is empty."""
        received: list[dict[tuple[int, int], Sequence[Item]]] = [{} for _ in self._old.edges]
        sent: list[dict[tuple[int, int], Sequence[Item]]] = [{} for _ in self._old.edges]
        held = self._held_in_flight
        for channel in self._old.channels:
            pair = self._pair(channel)
            if kept := held.at_receiver(channel):
                received[channel.edge][pair] = kept
            if kept := held.at_sender(channel):
                sent[channel.edge][pair] = kept
        return list(received), list(sent)

    def _pair(self, channel: ChannelSpec) -> tuple[int, int]:
        tasks = self._old.tasks
        return tasks[channel.upstream].subtask, tasks[channel.downstream].subtask

    def _is_still_there(self, channel: ChannelSpec) -> bool:
        """Say whether there is a channel between subtasks of the same indices as before."""
        new, edge, (sender, receiver) = self._attempt.graph, channel.edge, self._pair(channel)
        ends = new.edges[edge].upstream, new.edges[edge].downstream
        return (
            sender < new.vertex(ends[0]).parallelism and receiver < new.vertex(ends[1]).parallelism
        )


def keeper(task: Task, edge: int) -> Callable[[int], bool]:
    """Return what says whether today's partitioner sends a record over an edge to a task."""
    graph = task.attempt.graph
    keyed = graph.edges[edge]
    if keyed.partitioner is not Partitioner.HASH:
        return lambda _record: True
    return lambda record: owner_of(graph, keyed, record) == task.subtask
