"""The world's own account of a task's checkpoints: what it saw, when it acted, what it may not do.

A record that a task begins is the unit of everything that must happen "at once": a barrier that
came before, or an instant that has passed, may delay no more than the record already under way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.barriers import Barrier
from ckptsim.models.lifecycle import TaskState
from ckptsim.scenarios.job import Mode, Protocol
from ckptsim.sim.needed_barriers import NeededBarriers

if TYPE_CHECKING:
    from ckptsim.sim.job.records.link import Link
    from ckptsim.sim.job.records.task import Task


class TaskAccount:
    """What one task of one attempt has done about checkpoints.

    needed: the channels that its checkpoints wait for.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        mode = task.attempt.job.checkpointing.mode
        self._timed = mode is Mode.ALIGNED_TIMEOUT
        # The tracker of a single channel hands every barrier on as it comes; one that a trigger by
        # remote call has overtaken is dropped by the task (Flink: "out of order checkpoint").
        self._in_order = mode is not Mode.AT_LEAST_ONCE
        self._abort_repeats = task.attempt.job.ending.protocol is Protocol.FLINK
        channels = sum(task.attempt.graph.gates[task.spec.index])
        self.needed = NeededBarriers(channels, one_at_a_time=self._in_order)
        self._newest = -1  # of which an element was seen here
        self._opened_ns: dict[int, int] = {}
        self._due: tuple[int, int] | None = None  # (checkpoint, instant of its time-out)
        self._held: dict[int, int] = {}  # channel -> checkpoint whose barrier was taken there
        self._triggered: dict[int, bool] = {}  # checkpoint -> as an unaligned one
        self._aborted: dict[int, None] = {}
        self._begun = -1  # newest checkpoint for which the channel state was begun
        self._started: dict[int, int] = {}  # gate -> checkpoint whose input is being persisted
        self._ended = -1
        self._cancelled = -1
        self._passed_on = -1  # newest checkpoint whose barrier or cancellation was sent
        self._before = -1  # what that was when the task took its last trigger
        self._cut: Barrier | None = None

    # --- what the task sees ---

    def barrier_taken(self, channel: int, barrier: Barrier) -> None:
        """Note a barrier that the task takes from a channel."""
        self.seen(barrier)
        self.needed.came(channel, barrier.checkpoint)
        over = barrier.checkpoint < self._newest or self._is_over(barrier.checkpoint)
        if not over and (barrier.needs_alignment or barrier.is_unaligned):
            self._held[channel] = barrier.checkpoint

    def barrier_by_rpc(self, channel: int, checkpoint: int) -> None:
        """Note that a trigger by remote call stands for a channel's barrier."""
        self.needed.came(channel, checkpoint)

    def channel_ended(self, channel: int) -> None:
        """Note that the task takes the end of a channel."""
        self.needed.ended(channel)

    def seen(self, barrier: Barrier) -> None:
        """Note that a checkpoint is known here, by an announcement or a barrier."""
        number = barrier.checkpoint
        self.needed.opened(number)
        if number <= self._newest or self._is_over(number):
            return
        self._newest = number
        self._opened_ns[number] = self._task.env.now
        self._due = None
        if barrier.is_timeoutable and barrier.timeout_ns is not None:
            due_ns = max(self._task.env.now, barrier.timestamp_ns + barrier.timeout_ns)
            self._due = (number, due_ns)

    def cancelled(self, number: int) -> None:
        """Note a cancellation marker, or a channel that cannot begin a checkpoint any more."""
        self._cancelled = max(self._cancelled, number)

    def record(self, link: Link | None) -> None:
        """Check that the task may begin a record now; None for one that a source makes."""
        task, now_ns = self._task, self._task.env.now
        if link is not None and link.spec.input in self._held:
            number = self._held[link.spec.input]
            says = f"reads behind barrier {number} of {link.sender.name} before its snapshot"
            self._violate("nothing_read_between_barrier_and_trigger", says)
        for waiting in task.inputs:
            if waiting.account.urgent:
                says = f"begins a record while a barrier of {waiting.sender.name} overtakes"
                self._violate("unaligned_barriers_are_taken_next", says)
        if self._due is not None and self._due[1] < now_ns:
            says = f"still aligns {self._due[0]}, {now_ns - self._due[1]} ns after its time-out"
            self._violate("time_out_ends_alignment", says)
        for out in task.links_out if self._timed else ():
            late = out.account.overdue(now_ns)
            if late is not None:
                says = f"keeps barrier {late} queued for {out.receiver.name} after its time-out"
                self._violate("time_out_ends_alignment", says)

    # --- what the task does ---

    def begun(self, barrier: Barrier) -> None:
        """Note that the channel state of a checkpoint is begun."""
        self._begun = max(self._begun, barrier.checkpoint)

    def gate_started(self, gate: int, barrier: Barrier) -> None:
        """Note that a gate starts to persist: begun before, not started already, not yet taken."""
        number = barrier.checkpoint
        if gate in self._started:
            self._out_of_turn(f"starts gate {gate} for {number} after {self._started[gate]}")
        if self._begun < number or number in self._triggered:
            when = "after its trigger" if number in self._triggered else "before it is begun"
            self._out_of_turn(f"starts gate {gate} for {number} {when}")
        self._started[gate] = number

    def gate_refused(self, gate: int, checkpoint: int) -> None:
        """Note that a gate could not start; the others may be started again without a stop."""
        for one in range(gate + 1):
            self._started.pop(one, None)
        self.cancelled(checkpoint)

    def gate_stopped(self, gate: int) -> None:
        """Note that a gate stops to persist; more than once is allowed after a failed start."""
        self._started.pop(gate, None)

    def _out_of_turn(self, says: str) -> None:
        self._violate("input_starts_and_stops_in_turn", says)

    def triggered(self, barrier: Barrier) -> None:
        """Note that the task takes part in a checkpoint: once, in rising order."""
        number = barrier.checkpoint
        if number in self._triggered:
            self._violate("triggered_and_aborted_once", f"is triggered twice for {number}")
        if number in self._aborted:
            self._violate("triggered_and_aborted_once", f"is triggered for {number} after an abort")
        if self._in_order and self._triggered and number < max(self._triggered):
            says = f"is triggered for {number} after {max(self._triggered)}"
            self._violate("triggered_ids_increase", says)
        self._triggered[number] = barrier.is_unaligned
        self._release(number)
        if not barrier.is_unaligned:
            self.all_received(number)

    def cut(self, barrier: Barrier, start_delay_ns: int) -> None:
        """Note the instant to which the task's state belongs, if it takes part."""
        self._cut = barrier
        self.measured(barrier.checkpoint, None, 0, start_delay_ns=start_delay_ns)

    def entered(self, _number: int) -> None:
        """Note that the task is about to take part in a checkpoint, or to skip its trigger."""
        self._before = self._passed_on

    def skipped(self, number: int) -> None:
        """Note a trigger that comes too late."""
        self._task.env.trace.record("skipped", self._task.entity, number)

    def answered(self, number: int) -> None:
        """Check that a trigger reaches the tasks below."""
        if self._task.links_out and number > self._before and self._passed_on < number:
            says = f"neither sends barrier {number} on nor says that it does not come"
            self._violate("triggers_are_passed_on", says)

    def barrier_sent(self, number: int) -> None:
        """Note that the tasks below get a checkpoint's barrier."""
        self._passed_on = max(self._passed_on, number)

    cancellation_sent = barrier_sent

    def output_opened(self, output: int, number: int) -> None:
        """Note that the state of an output is not known yet."""
        self._task.links_out[output].account.opened(number)

    def output_settled(self, output: int, number: int) -> None:
        """Note that the state of an output is known, or never will be."""
        self._task.links_out[output].account.settled(number)

    def performed(self, number: int) -> None:
        """Note that the task takes its snapshot."""
        if self._cut is not None and number not in self._triggered:  # by remote call
            self.triggered(self._cut)
        self._task.attempt.performed(self._task, number)

    def aborted(self, number: int) -> None:
        """Note that the task gives a checkpoint up: once, and after a trigger only unaligned."""
        if number in self._aborted:
            self._violate("triggered_and_aborted_once", f"gives {number} up twice")
        if self._triggered.get(number) is False:
            self._violate("triggered_and_aborted_once", f"gives aligned {number} up after it")
        after_finish = self._task.attempt.job.checkpointing.after_finish
        if after_finish and number > self._cancelled and number >= self._newest:
            self._violate("given_up_for_a_cause", f"gives {number} up though nothing has happened")
        self._aborted[number] = None
        self._release(number)
        self._ended = max(self._ended, number)
        self.needed.over(number)

    def all_received(self, number: int) -> None:
        """Check that all barriers of a checkpoint have come when the task says so."""
        self._ended = max(self._ended, number)
        wrong = self.needed.complete(number)
        if wrong is not None:
            self._violate("needed_barriers_stay_fixed", wrong)

    def measured(
        self,
        number: int,
        duration_ns: int | None,
        _size: int,
        *,
        start_delay_ns: int | None = None,
    ) -> None:
        """Check the figures of an alignment against the time since its first sign."""
        now_ns = self._task.env.now
        longest_ns = now_ns - self._opened_ns.get(number, now_ns)
        if duration_ns is not None and not 0 <= duration_ns <= longest_ns:
            says = f"aligns {number} for {duration_ns} ns of {longest_ns}"
            self._violate("alignment_figures_are_sane", says)
        if start_delay_ns is not None and start_delay_ns < 0:
            says = f"begins to align {number} before its trigger"
            self._violate("alignment_figures_are_sane", says)

    def settled(self) -> None:
        """Check, after a step, that nothing waits any longer for a checkpoint that is over.

        That is neither a sender behind its barrier, nor the checkpoint when all have come.
        """
        waiting = self.needed.kept_waiting()
        if waiting is not None:
            self._violate("needed_barriers_stay_fixed", waiting[1])
        for link in self._task.inputs:
            by = link.account.blocked_by
            if by is not None and by <= self._ended:
                link.account.blocked_by = None
                says = f"leaves {link.sender.name} blocked behind barrier {by}, which is over"
                self._violate("no_channel_stays_blocked", says)

    def failed(self) -> None:
        """Note that the task fails: nothing is expected of it."""
        self.needed.failed()

    # --- its end ---

    def writes_settled(self) -> None:
        """Note that nothing is being written asynchronously any more."""
        self._task.ending.account.settled()

    def stop_asked(self, *, drain: bool) -> None:
        """Note that a source is stopped, perhaps before it has ended by itself."""
        if not drain and not self._task.ending.ended:
            self._task.attempt.life.cut_short(self._task)

    def completion_heard(self, number: int | None, *, by_abort: bool = False) -> None:
        """Note that the task hears of a completion; the FLIP's rules know none by an abort."""
        if not by_abort or self._abort_repeats:
            self._task.ending.account.heard(number)

    def completion_taken(self, number: int, reported: int, *, acted: bool) -> None:
        """Check that what was before the restore changes nothing; note what is not looked at."""
        restored = self._task.attempt.restored_id
        if restored is not None and acted and number <= restored:
            says = f"acts on the completion of {number}, though it was restored from {restored}"
            self._violate("old_notifications_change_nothing", says)
        if number < reported and self._task.ending.state is not TaskState.CLOSED:
            self._task.env.trace.record("ignored", self._task.entity, number, reported)

    def _is_over(self, number: int) -> bool:
        return number in self._triggered or number in self._aborted

    def _release(self, number: int) -> None:
        if any(held <= number for held in self._held.values()):
            self._held = {c: held for c, held in self._held.items() if held > number}
        if self._due is not None and self._due[0] <= number:
            self._due = None

    def _violate(self, name: str, says: str) -> None:
        self._task.attempt.violate(name, f"{self._task.name} {says}")
