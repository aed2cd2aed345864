"""What a checkpoint holds in flight, by channels of the job as it was when it was taken.

Where in-flight data was copied, it is in the parts of both ends.  Where all is logged, the sender's
part holds a piece of its log, and the rule of the job says from where that is replayed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.recovery.persistence import Logged, ReplayRule, replayed
from ckptsim.sim.job.channel_state_reads import ChannelStateReads, End, files_of
from ckptsim.sim.job.records.state import groups_of
from ckptsim.sim.job.records.state.logs import BUFFER_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ckptsim.scenarios.job import Job
    from ckptsim.sim.job.graph import ChannelSpec, Graph
    from ckptsim.sim.job.records.state import Item, TaskSnapshot


class HeldInFlight:
    """In-flight data of one checkpoint. tasks: what it holds of each, by number.

    is_known: whether both ends of a channel are still there to tell each other its offset when they
    recover. By default they are.
    """

    def __init__(
        self,
        job: Job,
        tasks: Mapping[int, TaskSnapshot],
        is_known: Callable[[ChannelSpec], bool] = lambda _channel: True,
    ) -> None:
        self._tasks = tasks
        self._rule = ReplayRule(job.channel_state.replay_from.value)
        self._is_known = is_known

    def _kept(self, task: int) -> TaskSnapshot | None:
        """Return what the checkpoint has of a task, if what it has in flight is still there."""
        found = self._tasks.get(task)
        position = None if found is None else found.position_in_log
        return found if position is None or position.is_kept else None

    def at_receiver(self, channel: ChannelSpec) -> list[Item]:
        """Return what had come to the receiver, oldest first."""
        receiver = self._kept(channel.downstream)
        kept = () if receiver is None else receiver.input_state.get(channel.index, ())
        return [item for _, item in kept]

    def at_sender(self, channel: ChannelSpec) -> list[Item]:
        """Return what waited at the sender, or is replayed from its log, oldest first."""
        sender = self._kept(channel.upstream)
        kept = () if sender is None else sender.output_state.get(channel.index, ())
        return [item for _, item in kept] + [one.data for one in self.logged(channel)]

    def logged(self, channel: ChannelSpec) -> tuple[Logged[Item], ...]:
        """Return the replayed part of the log of a channel. A receiver that has ended has all."""
        sender, receiver = self._kept(channel.upstream), self._tasks.get(channel.downstream)
        if sender is None or receiver is None or channel.index not in sender.logs:
            return ()
        known = self._rule is not ReplayRule.TOLD_AT_RECOVERY or self._is_known(channel)
        read = receiver.read[channel.index] if known else None
        return replayed(self._rule, sender.logs[channel.index], read=read, buffer_size=BUFFER_BYTES)


def reads_of(graph: Graph, tasks: Mapping[int, TaskSnapshot]) -> ChannelStateReads:
    """Return the reads of one restore. graph: of the job when the checkpoint was taken."""

    def holds(end: End, channel: ChannelSpec) -> Sequence[int]:
        kept = tasks.get(channel.downstream if end == "input" else channel.upstream)
        if kept is None:
            return ()
        held = {"input": kept.input_state, "output": kept.output_state, "log": kept.logs}
        return (0,) * (channel.index in held[end])

    return ChannelStateReads(files_of(graph, groups_of(graph), holds), graph.job.channel_state)
