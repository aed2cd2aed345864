"""The world's own account of a job: what was put into and taken from each channel, and by whom.

Nothing here asks a protocol core what it believes.  Every channel numbers its records; a checkpoint
is a consistent cut when, for each channel, what the sender had emitted before its snapshot is
exactly what the receiver had taken before its own plus what the checkpoint holds of the channel.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ckptsim.scenarios.job import Job, Mode, VertexKind
from ckptsim.sim.job.control.checkpoint import JobCheckpoint
from ckptsim.sim.job.graph import Graph
from ckptsim.sim.job.records.snapshot import SOURCE_SPAN, Element, TaskSnapshot

if TYPE_CHECKING:
    from ckptsim.sim.job.records.link import Link

Violate = Callable[[str, str], None]


class Account:
    """The account of one attempt."""

    def __init__(self, job: Job, graph: Graph, violate: Violate) -> None:
        self.job = job
        self.graph = graph
        self._violate = violate
        self.last_emitted: dict[int, int] = {}  # per channel whose sender has left

    def left(self, link: Link) -> None:
        """Note how much a sender that leaves has put into a channel in all."""
        self.last_emitted[link.spec.index] = link.emitted

    def check_cut(self, checkpoint: JobCheckpoint) -> None:
        """Check that a completed checkpoint cuts every channel consistently."""
        exactly_once = self.job.checkpointing.mode is not Mode.AT_LEAST_ONCE
        for channel in self.graph.channels:
            receiver = checkpoint.tasks.get(channel.downstream)
            if receiver is None:
                continue  # it had finished, so its input had ended
            sender = checkpoint.tasks.get(channel.upstream)
            output: tuple[Element, ...] = ()
            if sender is not None:
                emitted = sender.emitted[channel.index]
                output = sender.output_state.get(channel.index, ())
            elif channel.index in self.last_emitted:
                emitted = self.last_emitted[channel.index]
            else:
                continue  # it was restored as finished and has sent nothing but end marks
            held = receiver.input_state.get(channel.index, ()) + output
            self._check_channel(checkpoint, channel.index, receiver, emitted, held, exactly_once)

    def _check_channel(  # noqa: PLR0917
        self,
        checkpoint: JobCheckpoint,
        channel: int,
        receiver: TaskSnapshot,
        emitted: int,
        held: tuple[Element, ...],
        exactly_once: bool,  # noqa: FBT001
    ) -> None:
        consumed = receiver.consumed[channel]
        found = [number for number, _ in held]
        expected = list(range(consumed + 1, emitted + 1))
        early = consumed > emitted
        if (found == expected and not early) or (not exactly_once and not expected):
            return
        spec = self.graph.channels[channel]
        where = (
            f"{self.graph.tasks[spec.upstream].name} -> {self.graph.tasks[spec.downstream].name}"
        )
        says = (
            f"checkpoint {checkpoint.checkpoint_id}, channel {where}: {emitted} records sent "
            f"before the barrier, {consumed} processed before the snapshot, "
            f"in flight {found or 'none'}"
        )
        self._violate("consistent_cut", says)


def expected_output(graph: Graph, positions: Mapping[int, int]) -> dict[str, Counter[int]]:
    """Return per vertex how often each record must be processed there in all.

    positions: records that each source task has emitted in all.
    """
    found: dict[str, Counter[int]] = {vertex.name: Counter() for vertex in graph.vertices}
    for vertex in graph.vertices:
        if vertex.kind is not VertexKind.SOURCE:
            continue
        arrivals = graph.arrivals(vertex.name)
        records = [
            record
            for task in graph.tasks_of(vertex.name)
            for record in _identities(task, positions.get(task, 0))
        ]
        for name, times in arrivals.items():
            if times and name != vertex.name:
                found[name].update(dict.fromkeys(records, times))
    return found


def _identities(task: int, count: int) -> range:
    return range(task * SOURCE_SPAN, task * SOURCE_SPAN + count)


def differences(expected: Counter[int], found: Counter[int]) -> str | None:
    """Say in words how two outputs differ, or None; at most three records are named."""
    missing = sorted((expected - found).elements())
    extra = sorted((found - expected).elements())
    parts = []
    if missing:
        parts.append(f"{len(missing)} missing (such as {missing[:3]})")
    if extra:
        parts.append(f"{len(extra)} too many (such as {extra[:3]})")
    return ", ".join(parts) or None


def loss(
    expected: Counter[int], found: Counter[int], ever: Counter[int], *, attempts: int
) -> str | None:
    """Say in words what is missing, or can be no repeat, when repeats are allowed.

    ever: what must be there of all that any attempt sent; a stop can end a source before it sends
    again what tasks behind it had processed ahead of their snapshots.  attempts: how many there
    were; each may add a record once more, and nothing else may.
    """
    most = Counter({record: attempts * times for record, times in ever.items()})
    return differences(expected, (found & expected) + (found - most))
