"""A restore at another parallelism: in-flight records of old channels go into new ones.

What the checkpoint holds is read by old pairs of subtasks. The assignment core maps pairs to new
channels. Each new channel gets the data of receivers and, in its sender's queue, the data of
senders with the blocking marker after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ckptsim.models import recovery
from ckptsim.models.barriers import EndOfChannelState
from ckptsim.models.core import ProtocolError
from ckptsim.models.recovery.persistence import OrderedEdges as OrderedRule
from ckptsim.models.recovery.persistence import RescalingScope, distribution_of, may_rescale
from ckptsim.scenarios.job import Job, Partitioner, Recovered
from ckptsim.sim.job.graph import Graph
from ckptsim.sim.job.parallelism import CLASSES, with_parallelism
from ckptsim.sim.job.records.keys import follows_source, keyed_above, owner_of
from ckptsim.sim.job.records.restoring.held import HeldInFlight, reads_of
from ckptsim.sim.job.records.restoring.recovered_gate import RecoveredGate
from ckptsim.sim.job.records.state import SOURCE_SPAN

if TYPE_CHECKING:
    from ckptsim.sim.job.channel_state_reads import ChannelStateReads
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.graph import ChannelSpec
    from ckptsim.sim.job.records.attempt import Attempt
    from ckptsim.sim.job.records.channel import Channel
    from ckptsim.sim.job.records.state import Item
    from ckptsim.sim.job.records.tasks import Task

Pairs = Mapping[tuple[int, int], Sequence["Item"]]
"""Records in flight by old pair (upstream subtask, downstream subtask)."""


class Rescaling:
    """Gives the channels of an attempt what a checkpoint of another parallelism holds.

    reads: of channel-state files.
    """

    def __init__(self, attempt: Attempt, restored: JobCheckpoint) -> None:
        self._attempt = attempt
        self._restored = restored
        self._table = attempt.job.channel_state
        counts = {name: len(numbers) for name, numbers in restored.subtasks.items()}
        self._old = Graph(with_parallelism(attempt.job, counts))
        self._held_in_flight = HeldInFlight(attempt.job, restored.tasks, self._is_still_there)
        self._core = attempt.cores.assignment()
        self._input, self._output = self._held()
        self._channel_of = {(one.edge, *self._pair(one)): one for one in self._old.channels}
        self.reads: ChannelStateReads = reads_of(self._old, restored.tasks)

    def fill(self) -> None:
        """Fill all channels, and let their receivers take over gate by gate."""
        for task in self._attempt.tasks:
            if task.inputs:
                self._fill_gates(task)

    def _fill_gates(self, task: Task) -> None:
        edges = [gate.channels[0].spec.edge for gate in task.gates]
        for gate, edge, whole in zip(task.gates, edges, self._assigned(task, edges), strict=True):
            assignment = self._of_channels(whole, gate.channels, edge)
            core = self._attempt.cores.recovered_input(
                assignment, len(gate.channels), accepts=keeper(task, edge)
            )
            gate.recovered = RecoveredGate(task, gate.channels, core)
            for place, channel in enumerate(gate.channels):
                self._fill(channel, place, assignment)

    def _of_channels(
        self, assignment: recovery.GateAssignment, channels: Sequence[Channel], edge: int
    ) -> recovery.GateAssignment:
        """Return an assignment for the channels of a gate: a pointwise edge has some of all.

        On a rescale edge the pairs with a channel change with the parallelism. So the new senders
        of a receiver share out the data of all old ones.
        """
        exchange = self._exchange(edge)
        made = self._attempt.graph.edges[edge].partitioner
        if made is Partitioner.RESCALE and exchange.in_flight and exchange.old != exchange.new:
            olds = range(exchange.old[0])
            shared = tuple(tuple(olds[place :: len(channels)]) for place in range(len(channels)))
            return replace(assignment, old_channels=shared, identity=False)
        tasks = self._attempt.graph.tasks
        upstream = [tasks[channel.spec.upstream].subtask for channel in channels]
        old_channels = tuple(assignment.old_channels[subtask] for subtask in upstream)
        return replace(assignment, old_channels=old_channels)

    def _fill(self, channel: Channel, place: int, assignment: recovery.GateAssignment) -> None:
        """Fill both ends of a channel, or its receiver with all. place: in the gate."""
        edge, pairs = channel.spec.edge, assignment.virtual_channels(place)
        channel.account.takes_over(len(pairs))
        for subtask, old in pairs:
            one = self._channel_of.get((edge, old, subtask))
            if one is not None:
                ends = channel.spec.upstream, channel.spec.downstream
                self.reads.put_back(one.index, sender=ends[0], receiver=ends[1])
        held = self._input[edge], self._output[edge]
        if self._table.recovered is Recovered.ATOMIC:
            channel.recover(recovery.whole_channels(assignment, place, *held), ())
            return
        received, sent = (recovery.recovered_data(assignment, place, one) for one in held)
        if self._table.on_one_side:
            channel.recover([*received, *sent], ())
        else:
            channel.recover(received, [*sent, EndOfChannelState()])

    def _assigned(self, task: Task, edges: list[int]) -> list[recovery.GateAssignment]:
        """Ask what the gates of a task take over. Nothing where the core refuses."""
        snapshots = self._restored.snapshots_of(task.spec.vertex.name)
        stateful = any(one is not None and one.state for one in snapshots)
        exchanges = [self._exchange(edge) for edge in edges]
        side = self._table.on_one_side
        try:
            found = self._core.gates(exchanges, subtask=task.subtask, stateful=stateful)
            return [replace(gate, on_one_side=side) for gate in found]
        except ProtocolError as error:
            self._attempt.violate("records_come_out_whole", f"{task.name}: {error}")
            nothing = [replace(exchange, in_flight=False) for exchange in exchanges]
            found = recovery.InFlightAssignment().gates(
                nothing, subtask=task.subtask, stateful=stateful
            )
            return [replace(gate, on_one_side=side) for gate in found]

    def _exchange(self, edge: int) -> recovery.Exchange:
        in_flight = bool(self._input[edge] or self._output[edge])
        return exchange_of(self._attempt.graph, self._old, edge, in_flight=in_flight)

    def _held(self) -> tuple[list[Pairs], list[Pairs]]:
        """Return input state and output state by edge and old pair, without empty ones."""
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
        """Return whether there is a channel between subtasks of the same indices as before."""
        new, edge, (sender, receiver) = self._attempt.graph, channel.edge, self._pair(channel)
        ends = new.edges[edge].upstream, new.edges[edge].downstream
        return (
            sender < new.vertex(ends[0]).parallelism and receiver < new.vertex(ends[1]).parallelism
        )


def exchange_of(new: Graph, old: Graph, edge: int, *, in_flight: bool) -> recovery.Exchange:
    """Return an edge before and after a rescale."""
    made = new.edges[edge]
    ends = made.upstream, made.downstream
    before = old.vertex(ends[0]).parallelism, old.vertex(ends[1]).parallelism
    after = new.vertex(ends[0]).parallelism, new.vertex(ends[1]).parallelism
    distribution = distribution_of(
        CLASSES[made.partitioner],
        OrderedRule(new.job.channel_state.ordered_edges.value),
        has_units=keyed_above(new, made.downstream) is not None
        or follows_source(new, made.downstream),
        moves=before != after,
    )
    return recovery.Exchange(distribution=distribution, old=before, new=after, in_flight=in_flight)


def can_rescale(job: Job, latest: JobCheckpoint, wanted: Mapping[str, int]) -> bool:
    """Return whether a job may be restored from a checkpoint with other parallelisms."""
    old = Graph(with_parallelism(job, {name: len(n) for name, n in latest.subtasks.items()}))
    new = Graph(with_parallelism(job, wanted))
    held = HeldInFlight(job, latest.tasks)
    busy = {one.edge: None for one in old.channels if held.at_receiver(one) or held.at_sender(one)}
    exchanges = [
        exchange_of(new, old, edge, in_flight=edge in busy) for edge in range(len(new.edges))
    ]
    return may_rescale(RescalingScope(job.channel_state.rescaling.value), exchanges)


def keeper(task: Task, edge: int) -> Callable[[int], bool]:
    """Return what says whether today's partitioner sends a record over an edge to a task."""
    graph = task.attempt.graph
    keyed = graph.edges[edge]
    if keyed.partitioner is Partitioner.FORWARD and follows_source(graph, keyed.downstream):
        owners = task.attempt.splits.owners  # a split takes along in-flight data of it
        return lambda record: owners[record // SOURCE_SPAN] == task.subtask
    if keyed.partitioner is Partitioner.FORWARD:
        above = keyed_above(graph, keyed.downstream)
    else:
        by_key = keyed.partitioner in (Partitioner.HASH, Partitioner.CUSTOM)
        above = keyed if by_key else None
    if above is None:
        return lambda _record: True
    return lambda record: owner_of(graph, above, record) == task.subtask
