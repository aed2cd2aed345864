"""The account of one task's checkpoints: what it has heard of, taken part in and given up."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.account.flow import Flow
from ckptsim.sim.job.buffers.states import State
from ckptsim.sim.job.control.observer import SilentObserver
from ckptsim.sim.needed_barriers import NeededBarriers

if TYPE_CHECKING:
    from ckptsim.models.barriers.barrier import Barrier
    from ckptsim.sim.job.buffers.task import Task

Violate = Callable[..., None]


class TaskOracle(SilentObserver):
    """What one task has done about checkpoints.

    inputs: the flows of its channels.  needed: the channels that checkpoints wait for.  sent: is
    told of a barrier that comes next in all queues of the outputs.
    """

    def __init__(
        self,
        task: Task,
        inputs: list[Flow],
        sent: Callable[[Task, int], None],
        violate: Violate,
    ) -> None:
        self.inputs = inputs
        self._sent = sent
        exactly_once = task.world.model.checkpointing.exactly_once
        self.needed = NeededBarriers(len(inputs), one_at_a_time=exactly_once)
        self._task = task
        self._violate = violate
        self._first: dict[int, tuple[int, int]] = {}  # instant and bytes taken at the first sign
        self._urgent: dict[int, tuple[int, int]] = {}  # overtaking barriers: arrival, time stuck
        self._due: dict[
            int, tuple[int, int]
        ] = {}  # time-outs: instant, time stuck at the first sign
        self._triggered: dict[int, bool] = {}  # checkpoint -> as an unaligned one
        self._aborted: dict[int, None] = {}
        self._over = -1
        self._performed = -1

    @property
    def name(self) -> str:
        """The task's name."""
        return self._task.entity.name

    def seen(self, barrier: Barrier) -> None:
        """Note that a checkpoint is known here."""
        self._seen(barrier.checkpoint, barrier)

    def _seen(self, checkpoint: int, barrier: Barrier | None = None) -> None:
        self.needed.opened(checkpoint)
        if checkpoint in self._first:
            return
        now_ns = self._task.env.now
        self._first[checkpoint] = (now_ns, self._taken_bytes())
        if barrier is not None and barrier.is_timeoutable and barrier.timeout_ns is not None:
            due_ns = max(now_ns, barrier.timestamp_ns + barrier.timeout_ns)
            due_ns += self._task.world.constants.timer_extra_ns
            self._due[checkpoint] = (due_ns, self._stuck_ns())

    def overtaking_barrier_arrived(self, checkpoint: int) -> None:
        """Note an unaligned barrier that has come to the front of a channel."""
        self._urgent.setdefault(checkpoint, (self._task.env.now, self._stuck_ns()))

    def barrier_taken(self, channel: int, barrier: Barrier) -> None:
        """Check that the first overtaking barrier waits for the record under way at most."""
        self.inputs[channel].barrier_taken(barrier)
        self.seen(barrier)
        self.needed.came(channel, barrier.checkpoint)
        arrived = self._urgent.get(barrier.checkpoint)
        if arrived is not None and barrier.is_unaligned:
            del self._urgent[barrier.checkpoint]
            self._check_at_once("unaligned_barriers_are_taken_next", barrier.checkpoint, arrived)

    def barrier_by_rpc(self, channel: int, checkpoint: int) -> None:
        """Note that a trigger by remote call stands for a channel's barrier."""
        self.needed.came(channel, checkpoint)

    def channel_ended(self, channel: int) -> None:
        """Note that the task takes the end of a channel."""
        self.needed.ended(channel)

    def failed(self) -> None:
        """Note that the task fails."""
        self.needed.failed()

    def barrier_sent(self, checkpoint: int) -> None:
        """Note the place of a barrier in all outputs."""
        self._sent(self._task, checkpoint)

    def _check_at_once(self, name: str, checkpoint: int, since: tuple[int, int]) -> None:
        """Check that the task acts now: after one record and the time that it could do nothing.

        since: from when on it should have acted, and how long it was stuck before.
        """
        began_ns, stuck_ns = since
        late_ns = self._task.env.now - began_ns - (self._stuck_ns() - stuck_ns)
        if late_ns > self._task.step_ns + self._task.world.constants.wake_ns:
            says = (
                f"{self.name} takes {late_ns} ns to come to it, with {self._task.step_ns} a record"
            )
            self._violate(name, says, checkpoint)

    def _stuck_ns(self) -> int:
        """Return how long the thread has been inside a record without a buffer, or stood still."""
        task = self._task
        stuck_ns = task.time_in[State.STUCK] + task.time_in[State.PAUSED]
        if task.state in (State.STUCK, State.PAUSED):
            stuck_ns += task.env.now - task.since_ns
        return stuck_ns

    def cut(self, barrier: Barrier, start_delay_ns: int) -> None:
        """Note that the task is to take part now, and what it has read by now."""
        number, now_ns = barrier.checkpoint, self._task.env.now
        self._seen(number)
        self._triggered[number] = barrier.is_unaligned
        due = self._due.pop(number, None)
        if due is not None:
            self._check_at_once("time_out_ends_alignment", number, due)
        if not barrier.is_unaligned:
            self.all_received(number)
        if not 0 <= start_delay_ns <= max(0, now_ns - barrier.timestamp_ns):
            says = f"{self.name} has a start delay of {start_delay_ns} ns"
            self._violate("alignment_figures_are_sane", says, number)
        for channel, flow in zip(self._task.channels, self.inputs, strict=True):
            flow.read_cut[number] = flow.taken_bytes - self._task.unread_bytes(channel)

    def performed(self, number: int) -> None:
        """Note that the task really takes part: once, in rising order, not after giving it up.

        A trigger by remote call that newer ones have overtaken is dropped before this.
        """
        if number == self._performed or number in self._aborted:
            says = f"{self.name} takes part in a checkpoint twice, or after giving it up"
            self._violate("triggered_and_aborted_once", says, number)
        if number < self._performed:
            says = f"{self.name} takes part after {self._performed}"
            self._violate("triggered_ids_increase", says, number)
        self._performed = number

    def measured(self, number: int, duration_ns: int, size: int) -> None:
        """Check the figures of an alignment against what has happened since its first sign."""
        since_ns, taken = self._first.get(number, (self._task.env.now, self._taken_bytes()))
        longest_ns, most = self._task.env.now - since_ns, self._taken_bytes() - taken
        if not 0 <= duration_ns <= longest_ns or not 0 <= size <= most:
            says = f"{self.name} aligns for {duration_ns} of {longest_ns} ns and processes {size} "
            self._violate("alignment_figures_are_sane", says + f"of {most} bytes", number)

    def aborted(self, number: int) -> None:
        """Note that the handler gives a checkpoint up: once, and after a trigger only unaligned."""
        if number in self._aborted or self._triggered.get(number) is False:
            says = f"{self.name} gives a checkpoint up twice, or after an aligned snapshot"
            self._violate("triggered_and_aborted_once", says, number)
        self._aborted[number] = None
        self._over = max(self._over, number)
        self.needed.over(number)

    def all_received(self, number: int) -> None:
        """Check that all barriers of a checkpoint have come when the task says so."""
        self._over = max(self._over, number)
        wrong = self.needed.complete(number)
        if wrong is not None:
            self._violate("needed_barriers_stay_fixed", f"{self.name} {wrong}", number)

    def settled(self) -> None:
        """Check, after a step, that nothing waits any longer for a checkpoint that is over.

        That is neither a sender behind its barrier, nor the checkpoint when all have come.
        """
        waiting = self.needed.kept_waiting()
        if waiting is not None:
            number, says = waiting
            self._violate("needed_barriers_stay_fixed", f"{self.name} {says}", number)
        for flow in self.inputs:
            by = flow.blocked_by
            if by is not None and by <= self._over:
                flow.blocked_by = None
                says = f"{self.name} leaves channel {flow.name} blocked behind a barrier"
                self._violate("no_channel_stays_blocked", says, by)

    def _taken_bytes(self) -> int:
        return sum(flow.taken_bytes for flow in self.inputs)
