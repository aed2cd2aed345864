"""The inner machine of a barrier handler, and its alignment clock.

One clock serves a task.  It is started by the first barrier of a checkpoint and stopped by the last
one.  A trigger that happens in between (unaligned) is owed its figures until the clock ends.  A new
start, also one for the same checkpoint, first ends the running alignment with a duration of zero.

Source: Apache Flink 1.20.3, CheckpointBarrierHandler.

The table (`states.py`) names actions and guards. Here is what they do.  The machine knows which
channels it blocks and where announced barriers stand. Which checkpoint is open and how many
channels have delivered is the handler's business and comes in with each run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from ckptsim.models.barriers.barrier import Barrier, OptionKind
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.handler.events import (
    AlignmentMeasured,
    HandlerEffect,
    TriggerCheckpoint,
)
from ckptsim.models.barriers.handler.states import (
    Action,
    Branch,
    Guard,
    Illegal,
    Input,
    State,
    Table,
)
from ckptsim.models.core import ProtocolError


class AlignmentClock:
    """Measures alignments and reports the figures of each triggered checkpoint once."""

    __slots__ = (
        "_bytes",
        "_checkpoint",
        "_final",
        "_owed",
        "_start_delay_ns",
        "_started_ns",
        "running",
    )

    def __init__(self) -> None:
        self.running = False
        self._started_ns = 0
        self._checkpoint = -1
        self._start_delay_ns = 0
        self._bytes = 0
        self._final: tuple[int, int] | None = None  # duration and bytes of `_checkpoint`
        self._owed: list[int] = []

    @property
    def checkpoint(self) -> int:
        """The checkpoint that started the clock last, -1 before the first."""
        return self._checkpoint

    @property
    def owed(self) -> tuple[int, ...]:
        """Triggered checkpoints without figures so far."""
        return tuple(self._owed)

    def add_bytes(self, count: int) -> None:
        """Count a buffer that was handed to the task. Nothing when the clock is stopped."""
        if self.running:
            self._bytes += count

    def start(self, now_ns: int, barrier: Barrier, effects: list[HandlerEffect]) -> None:
        """Begin an alignment. Whatever was open before ends with a duration of zero."""
        self._start_delay_ns = max(0, now_ns - barrier.timestamp_ns)
        self.reset(effects)
        self.running = True
        self._started_ns = now_ns
        self._checkpoint = barrier.checkpoint

    def stop(self, now_ns: int, effects: list[HandlerEffect]) -> bool:
        """End the alignment. Returns False, changing nothing, when the clock is not running."""
        if not self.running:
            return False
        self._end(now_ns - self._started_ns, effects)
        return True

    def stop_at_once(self, effects: list[HandlerEffect]) -> None:
        """End the alignment with a duration of zero (there is only one channel)."""
        self._end(0, effects)

    def reset(self, effects: list[HandlerEffect]) -> None:
        """Give the open figures out with a duration of zero and begin with fresh ones."""
        self._end(0, effects)
        self._final = None

    def trigger(self, barrier: Barrier, effects: list[HandlerEffect]) -> None:
        """Append the trigger of a checkpoint, and its figures as soon as they are known."""
        if barrier.checkpoint != self._checkpoint:
            effects.append(TriggerCheckpoint(barrier, 0))
            effects.append(AlignmentMeasured(barrier.checkpoint, 0, 0))
            return
        effects.append(TriggerCheckpoint(barrier, self._start_delay_ns))
        if self._final is None:
            self._owed.append(barrier.checkpoint)
        else:
            effects.append(AlignmentMeasured(barrier.checkpoint, *self._final))

    def forget_trigger(self, checkpoint: int) -> None:
        """Owe nothing for a trigger that the host did not carry out."""
        if checkpoint in self._owed:
            self._owed.remove(checkpoint)

    def _end(self, duration_ns: int, effects: list[HandlerEffect]) -> None:
        if self._final is None:
            self._final = (duration_ns, self._bytes)
            effects.extend(AlignmentMeasured(owed, *self._final) for owed in self._owed)
            self._owed.clear()
        self.running = False
        self._bytes = 0


# By name: members are looked up in the metaclass, and most barriers ask for nothing else.
_ALWAYS, _FULL = Guard.ALWAYS, Guard.FULL


class Run:
    """What one pass through the table works on. The barrier may turn unaligned on the way.

    checkpoint: the one that is stopped or aborted.
    full: whether all channels that are needed have delivered.
    age_ns: how long ago the barrier's checkpoint was triggered.
    """

    __slots__ = ("age_ns", "barrier", "by_rpc", "channel", "checkpoint", "full", "sequence")

    def __init__(
        self,
        barrier: Barrier | None,
        *,
        checkpoint: int,
        now_ns: int = 0,
        channel: int = -1,
        sequence: int = -1,
        full: bool = False,
        by_rpc: bool = False,
    ) -> None:
        self.barrier = barrier
        self.checkpoint = checkpoint
        self.age_ns = now_ns - barrier.timestamp_ns if barrier is not None else 0
        self.channel = channel
        self.sequence = sequence
        self.full = full
        self.by_rpc = by_rpc

    def need_barrier(self) -> Barrier:
        """Return the barrier. Only an abort has none."""
        if self.barrier is None:
            raise ProtocolError("no_barrier", state="running a rule", event=self.checkpoint)
        return self.barrier


class BarrierMachine:
    """Runs a state table. home: the state to return to. effects: where effects go, per step."""

    __slots__ = (
        "_announced",
        "_blocked",
        "_gate_count",
        "_undo",
        "clock",
        "effects",
        "home",
        "state",
    )

    def __init__(self, home: State, *, gates: int, clock: AlignmentClock) -> None:
        self.home = home
        self.state = home
        self.clock = clock
        self.effects: list[handler_events.HandlerEffect] = []
        self._gate_count = gates
        self._blocked: set[int] = set()
        self._announced: dict[int, int] = {}
        self._undo: tuple[State, set[int]] | None = None

    @property
    def blocked(self) -> tuple[int, ...]:
        """The channels blocked by this machine, ascending."""
        return tuple(sorted(self._blocked))

    @property
    def announced(self) -> tuple[tuple[int, int], ...]:
        """Channels with an announced barrier and its sequence, ascending."""
        return tuple(sorted(self._announced.items()))

    def take(self, table: Table, given: Input, run: Run) -> bool:
        """Let an input meet the state. Return False, and fail the task, if the table forbids it."""
        self._undo = None
        state = self._pass(table, given, self.state, run)
        if state is None:
            return False
        self.state = state
        return True

    def undo(self) -> bool:
        """Go back to where the latest pass initialised the input. Returns False if it did not."""
        if self._undo is None:
            return False
        self.state, self._blocked = self._undo
        self._undo = None
        return True

    def _pass(self, table: Table, given: Input, state: State, run: Run) -> State | None:
        rule = table.get((state, given))
        if rule is None:
            raise ProtocolError("missing_row", state=state.name, event=given.name)
        if isinstance(rule, Illegal):
            self._refuse(rule)
            return None
        for action in rule.actions:
            _ACTIONS[action](self, run)
        for branch in rule.branches:
            guard = branch.guard
            if guard is _ALWAYS or (run.full if guard is _FULL else _holds(guard, run)):
                return self._follow(table, branch, state, run)
        raise ProtocolError("no_branch", state=state.name, event=given.name)

    def _follow(self, table: Table, branch: Branch, state: State, run: Run) -> State | None:
        for action in branch.actions:
            _ACTIONS[action](self, run)
        if branch.illegal is not None:
            self._refuse(branch.illegal)
            return None
        if branch.target is not None:
            return self.home if branch.target is State.HOME else branch.target
        # One barrier may take several rows: a time-out met by a barrier first turns all that is
        # here unaligned, then the barrier itself is taken, as an unaligned one, in the state after
        # that.
        follower: State | None = state
        for given in branch.then:
            if given is Input.UNALIGNED_BARRIER:
                run.barrier = run.need_barrier().as_unaligned()
            if follower is not None:
                follower = self._pass(table, given, follower, run)
        return follower

    def _refuse(self, illegal: Illegal) -> None:
        self.effects.append(
            handler_events.FailTask(illegal.story, bad_argument=illegal.bad_argument)
        )

    def block(self, run: Run) -> None:
        """Block the channel of a barrier that came through it."""
        # A trigger by remote call represents the barriers of channels without any: no sender has
        # stopped, so there is no one to be resumed later.
        if not run.by_rpc:
            self._blocked.add(run.channel)
            self.effects.append(handler_events.BlockChannel(run.channel))

    def forget_announcement(self, run: Run) -> None:
        """Forget where the channel's announced barrier is: it has come."""
        self._announced.pop(run.channel, None)

    def remember_announcement(self, run: Run) -> None:
        """Remember where the channel's announced barrier is."""
        self._announced[run.channel] = run.sequence

    def prioritize(self, run: Run) -> None:
        """Let one announced barrier overtake at once."""
        self.effects.append(handler_events.PrioritizeBarriers(((run.channel, run.sequence),)))

    def prioritize_all(self, run: Run) -> None:
        """Let every announced barrier overtake."""
        if self._announced:
            self.effects.append(handler_events.PrioritizeBarriers(self.announced))
            self._announced.clear()

    def finish_channel(self, run: Run) -> None:
        """Forget a channel that has ended. No one is there to be resumed."""
        self._blocked.discard(run.channel)
        self._announced.pop(run.channel, None)

    def initialize(self, run: Run) -> None:
        """Prepare channel state for the barrier as it is."""
        self._keep_undo()
        self.effects.append(handler_events.InitializeInput(run.need_barrier()))

    def initialize_unaligned(self, run: Run) -> None:
        """Prepare channel state for the barrier as an unaligned one."""
        self._keep_undo()
        self.effects.append(handler_events.InitializeInput(run.need_barrier().as_unaligned()))

    def start_gates(self, run: Run) -> None:
        """Begin to persist in-flight data on every gate."""
        barrier = run.need_barrier().as_unaligned()
        self.effects.extend(
            handler_events.StartInput(gate, barrier) for gate in range(self._gate_count)
        )

    def stop_gates(self, run: Run) -> None:
        """Persist no more on any gate."""
        self.effects.extend(
            handler_events.StopInput(gate, run.checkpoint) for gate in range(self._gate_count)
        )

    def trigger(self, run: Run) -> None:
        """Snapshot the task with the barrier as it is."""
        self.clock.trigger(run.need_barrier(), self.effects)

    def trigger_unaligned(self, run: Run) -> None:
        """Snapshot the task with the barrier as an unaligned one."""
        self.clock.trigger(run.need_barrier().as_unaligned(), self.effects)

    def resume_all(self, run: Run) -> None:
        """Resume every blocked channel and forget all announcements."""
        if self._blocked:
            self.effects.append(handler_events.ResumeChannels(self.blocked))
            self._blocked = set()  # not emptied: `undo` may need the old one
        self._announced.clear()

    def _keep_undo(self) -> None:
        self._undo = (self.state, self._blocked)


def _holds(guard: Guard, run: Run) -> bool:
    match guard:
        case Guard.ALWAYS:
            return True
        case Guard.FULL:
            return run.full
        case Guard.TIMED_OUT:
            barrier = run.need_barrier()
            timeout_ns = barrier.timeout_ns
            return barrier.is_timeoutable and timeout_ns is not None and timeout_ns < run.age_ns
        case Guard.SAVEPOINT:
            return run.need_barrier().kind is OptionKind.SAVEPOINT
        case Guard.FIXED:
            return not run.need_barrier().may_turn_unaligned
        case Guard.OVERTAKING:
            return run.need_barrier().is_unaligned
        case _:
            assert_never(guard)


_ACTIONS: dict[Action, Callable[[BarrierMachine, Run], None]] = {
    Action.BLOCK: BarrierMachine.block,
    Action.FORGET_ANNOUNCEMENT: BarrierMachine.forget_announcement,
    Action.REMEMBER_ANNOUNCEMENT: BarrierMachine.remember_announcement,
    Action.PRIORITIZE: BarrierMachine.prioritize,
    Action.PRIORITIZE_ALL: BarrierMachine.prioritize_all,
    Action.FINISH_CHANNEL: BarrierMachine.finish_channel,
    Action.INITIALIZE: BarrierMachine.initialize,
    Action.INITIALIZE_UNALIGNED: BarrierMachine.initialize_unaligned,
    Action.START_GATES: BarrierMachine.start_gates,
    Action.STOP_GATES: BarrierMachine.stop_gates,
    Action.TRIGGER: BarrierMachine.trigger,
    Action.TRIGGER_UNALIGNED: BarrierMachine.trigger_unaligned,
    Action.RESUME_ALL: BarrierMachine.resume_all,
}
