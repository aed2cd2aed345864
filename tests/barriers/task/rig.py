"""One task with its senders, joined by the real cores, and an account of every data element.

Each channel is a sender's queue, a network that moves one element at a time, and a receiver's
queue. The rig executes effects and counts sent, consumed and persisted data. It raises
`BrokenRuleError` as soon as a rule does not hold.
"""

from __future__ import annotations

from ckptsim.models.barriers.barrier import (
    Announcement,
    Barrier,
    CancellationMarker,
    EndOfPartition,
    OptionKind,
)
from ckptsim.models.barriers.channels import (
    NetworkEffect,
    OutputStateFailed,
    OutputStateKnown,
    PersistInput,
    PersistOutput,
)
from ckptsim.models.barriers.handler import HandlerKind, SingleCheckpointHandler
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.reason import FailureReason
from tests.barriers.task.account import Account, BrokenRuleError, Counts, Factories, hold

LAST_KINDS = {
    HandlerKind.ALIGNED: OptionKind.ALIGNED,
    HandlerKind.ALTERNATING: OptionKind.UNALIGNED,
    HandlerKind.UNALIGNED: OptionKind.UNALIGNED,
    HandlerKind.TRACKER: OptionKind.AT_LEAST_ONCE,
}


class Rig:
    """A task of `channels` channels on `gates` gates of equal size."""

    def __init__(
        self,
        kind: HandlerKind,
        channels: int,
        *,
        gates: int = 1,
        timeout_ns: int = 10,
        factories: Factories | None = None,
    ) -> None:
        made = factories or Factories()
        self.kind = kind
        self.gates = gates
        self.timeout_ns = timeout_ns
        self.now_ns = 0
        self.checkpoint = 0
        self.options: dict[int, Barrier] = {}
        self.handler = made.handler(kind, channels, gates=gates, after_finish=True)
        self.senders_out: list[NetworkEffect] = []
        self.task_out: list[NetworkEffect] = []
        self.senders = [made.subpartition(i, self.senders_out) for i in range(channels)]
        self.inputs = [made.channel(i, self.task_out) for i in range(channels)]
        self.accounts = [Account() for _ in range(channels)]
        self.blocked: dict[int, int] = {}  # channel: the checkpoint with a barrier that blocked it
        self.timers: dict[int, tuple[int, Barrier]] = {}
        self.snapshot: dict[int, list[int]] = {}
        self.snapshot_kind: dict[int, OptionKind] = {}
        self.whole: set[int] = set()
        self.given_up: set[int] = set()
        self.doubtful: set[int] = set()  # a sender could not say what its output state is
        self.started: dict[int, int | None] = dict.fromkeys(range(gates))
        self.initialized: set[int] = set()
        self.owed: set[int] = set()
        self.refusal = FailureReason.CHECKPOINT_SUBSUMED
        self.counts = Counts()

    def trigger(self, kind: OptionKind) -> None:
        """Let the coordinator begin another checkpoint. The senders hear of it one by one."""
        self.checkpoint += 1
        timeout = self.timeout_ns if kind is OptionKind.TIMEOUTABLE else None
        self.options[self.checkpoint] = Barrier(self.checkpoint, self.now_ns, kind, timeout)

    def put(self, channel: int) -> None:
        """Let a sender produce a data element."""
        account = self.accounts[channel]
        if self.senders[channel].add_data(account.sent):
            account.sent += 1

    def barrier(self, channel: int) -> None:
        """Let a sender put the newest checkpoint's barrier out.

        It may skip unknown checkpoints. Not so before a tracker, which is known to fail when the
        last open channel does.
        """
        account = self.accounts[channel]
        if account.ended or account.newest >= self.checkpoint:
            return
        first = account.newest + 1 if self.kind is HandlerKind.TRACKER else self.checkpoint
        for checkpoint in range(first, self.checkpoint + 1):
            account.newest = checkpoint
            account.cut[checkpoint] = account.sent
            barrier = self.options[checkpoint]
            queued = self.senders[channel].data_count
            self.senders[channel].add_barrier(barrier)
            self.counts.overtook += bool(barrier.is_unaligned and queued)
            self._settle_outputs()

    def cancel(self, channel: int) -> None:
        """Let a sender say that it will not send the newest checkpoint's barrier."""
        account = self.accounts[channel]
        if account.ended or account.newest >= self.checkpoint:
            return
        first = account.newest + 1 if self.kind is HandlerKind.TRACKER else self.checkpoint
        for checkpoint in range(first, self.checkpoint + 1):
            account.newest = checkpoint
            self.senders[channel].add_event(CancellationMarker(checkpoint))

    def end(self, channel: int) -> None:
        """Let a sender finish."""
        self.accounts[channel].ended = True
        self.senders[channel].finish()

    def time_out_output(self, channel: int) -> None:
        """Let the sender's output timer run out, if its time has come."""
        checkpoint = self.senders[channel].open_state
        if checkpoint is None:
            return
        self.now_ns = max(self.now_ns, self.options[checkpoint].timestamp_ns + self.timeout_ns)
        self.counts.switched_in_output += self.senders[channel].time_out(checkpoint)
        self._settle_outputs()

    def abort_output(self, channel: int) -> None:
        """Let the sender give the output state of its newest checkpoint up."""
        self.senders[channel].abort(self.accounts[channel].newest)
        self._settle_outputs()

    def move(self, channel: int) -> None:
        """Move one element over the network."""
        sender = self.senders[channel]
        was_blocked = sender.blocked
        element = sender.poll()
        hold(not (was_blocked and element is not None), "a blocked sender sends nothing")
        if element is not None:
            self.inputs[channel].arrive(element)
            self._settle_outputs()
            self._settle_inputs()

    def take(self, channel: int) -> None:
        """Let the task take one element. Channels with something urgent go first."""
        urgent = [index for index, queue in enumerate(self.inputs) if queue.has_priority]
        chosen = channel if not urgent or channel in urgent else urgent[0]
        element = self.inputs[chosen].poll()
        match element:
            case None:
                return
            case Announcement():
                event = handler_events.BarrierAnnounced(
                    self.now_ns, chosen, element.barrier, element.sequence
                )
                self.feed(event)
            case Barrier():
                self.feed(handler_events.BarrierArrived(self.now_ns, chosen, element))
            case CancellationMarker():
                self.feed(
                    handler_events.CancellationArrived(self.now_ns, chosen, element.checkpoint)
                )
            case EndOfPartition():
                self.feed(handler_events.ChannelEnded(self.now_ns, chosen))
            case int():
                account = self.accounts[chosen]
                cut = account.cut[self.blocked[chosen]] if chosen in self.blocked else account.sent
                hold(element < cut, "nothing behind the barrier is taken from a blocked channel")
                consumed = account.consumed
                hold(element == len(consumed), "data keeps its order")
                consumed.append(element)
                self.feed(handler_events.BytesProcessed(1))
            case _:
                raise BrokenRuleError(f"a strange element {element!r}")

    def wait(self, span_ns: int) -> None:
        """Let time pass. Timers fire when they are due."""
        end_ns = self.now_ns + span_ns
        while due := sorted((at, key) for key, (at, _) in self.timers.items() if at <= end_ns):
            at, key = due[0]
            self.now_ns = max(self.now_ns, at)
            barrier = self.timers.pop(key)[1]
            self.feed(handler_events.TimerFired(self.now_ns, barrier))
        self.now_ns = end_ns

    def settle(self) -> None:
        """Begin one more checkpoint on all channels and let everything run out."""
        self.trigger(LAST_KINDS[self.kind])
        for channel in range(len(self.senders)):
            self.barrier(channel)
        for _ in range(40 + 4 * sum(account.sent for account in self.accounts)):
            for channel in range(len(self.senders)):
                self.move(channel)
                self.take(channel)
        hold(all(not len(queue) for queue in self.senders + self.inputs), "everything arrives")
        hold(not self.blocked, "a newer checkpoint frees every channel")
        hold(all(not sender.blocked for sender in self.senders), "no sender stays blocked")
        for account in self.accounts:
            hold(len(account.consumed) == account.sent, "everything sent is consumed")
        if any(not account.ended for account in self.accounts):
            hold(self.checkpoint in self.whole, "the last checkpoint completes")

    def feed(self, event: handler_events.HandlerEvent) -> None:
        """Give an event to the handler and carry its effects out until one is refused."""
        before = self._target()
        effects = self.handler.step(event)
        after = self._target()
        if before is not None and after is not None and before[0] == after[0]:
            hold(before[1] == after[1] or after[1] == 0, "the target is frozen at the opening")
        for effect in effects:
            if not self._carry_out(effect):
                self.counts.refused += 1
                self.feed(handler_events.InputRefused(self.now_ns, self.refusal))
                break
        self._settle_inputs()

    def _target(self) -> tuple[int, int] | None:
        handler = self.handler
        if isinstance(handler, SingleCheckpointHandler) and handler.pending:
            return handler.latest, handler.target
        return None

    def _carry_out(self, effect: handler_events.HandlerEffect) -> bool:
        match effect:
            case handler_events.BlockChannel():
                hold(self.senders[effect.channel].blocked, "a blocked channel's sender has stopped")
                self.blocked[effect.channel] = self.handler.latest
            case handler_events.ResumeChannels():
                for channel in effect.channels:
                    hold(self.senders[channel].blocked, "only a blocked sender is resumed")
                    self.senders[channel].resume()
                    self.blocked.pop(channel, None)
            case handler_events.PrioritizeBarriers():
                for channel, sequence in effect.places:
                    self.counts.switched_in_input += 1
                    self.inputs[channel].prioritize(sequence)
            case handler_events.InitializeInput():
                self.initialized.add(effect.barrier.checkpoint)
            case handler_events.StartInput():
                return self._start(effect)
            case handler_events.StopInput():
                self._stop(effect)
            case handler_events.SetTimer():
                self.timers[effect.timer] = (self.now_ns + effect.delay_ns, effect.barrier)
            case handler_events.CancelTimer():
                self.timers.pop(effect.timer, None)
            case handler_events.FailTask():
                raise BrokenRuleError(f"feasible input fails the task: {effect.story}")
            case _:
                self._note(effect)
        return True

    def _note(self, effect: handler_events.HandlerEffect) -> None:
        match effect:
            case handler_events.TriggerCheckpoint():
                self._triggered(effect)
            case handler_events.AbortCheckpoint():
                hold(effect.checkpoint not in self.given_up, "a checkpoint is aborted once")
                if self.kind is HandlerKind.ALIGNED:
                    hold(effect.checkpoint not in self.snapshot, "aligned: no abort after trigger")
                self.given_up.add(effect.checkpoint)
                self.counts.aborted += 1
            case handler_events.AlignmentMeasured():
                hold(effect.duration_ns >= 0, "no alignment is shorter than nothing")
                hold(effect.checkpoint in self.owed, "figures come once, for a trigger")
                self.owed.discard(effect.checkpoint)
            case handler_events.AllBarriersReceived():
                self._complete(effect.checkpoint)
            case _:
                raise BrokenRuleError(f"a strange effect {effect!r}")

    def _triggered(self, effect: handler_events.TriggerCheckpoint) -> None:
        checkpoint = effect.barrier.checkpoint
        hold(checkpoint not in self.given_up, "an aborted checkpoint is never triggered")
        hold(checkpoint > max(self.snapshot, default=0), "triggered numbers increase")
        hold(effect.start_delay_ns >= 0, "no barrier comes before its trigger")
        if self.kind is not HandlerKind.ALIGNED and self.kind is not HandlerKind.TRACKER:
            hold(checkpoint in self.initialized, "the input is initialised before the trigger")
        if effect.barrier.is_unaligned:
            self.counts.unaligned += 1
            running = all(self.started[gate] == checkpoint for gate in self.started)
            hold(running, "every gate persists before an unaligned trigger")
        self.owed.add(checkpoint)
        self.snapshot[checkpoint] = [len(account.consumed) for account in self.accounts]
        self.snapshot_kind[checkpoint] = effect.barrier.kind
        if self.kind is HandlerKind.TRACKER:
            self.whole.add(checkpoint)
            self.counts.completed += 1
            for account in self.accounts:
                wanted = account.cut.get(checkpoint, account.sent)
                hold(len(account.consumed) >= wanted, "at least what was sent before is in it")

    def _start(self, effect: handler_events.StartInput) -> bool:
        checkpoint = effect.barrier.checkpoint
        for channel in self._channels_of(effect.gate):
            before = self.inputs[channel].persister.last_seen
            reason = self.inputs[channel].start(checkpoint)
            hold(self.inputs[channel].persister.last_seen >= before, "persisters never go back")
            if reason is not None:
                self.refusal = reason
                self.started = dict.fromkeys(self.started)  # gates begun for it get no stop
                return False
        hold(self.started[effect.gate] is None, "a gate is stopped before it starts again")
        self.started[effect.gate] = checkpoint
        return True

    def _stop(self, effect: handler_events.StopInput) -> None:
        hold(self.started[effect.gate] is not None, "only a started gate is stopped")
        self.started[effect.gate] = None
        for channel in self._channels_of(effect.gate):
            before = self.inputs[channel].persister.last_seen
            self.inputs[channel].stop(effect.checkpoint)
            hold(self.inputs[channel].persister.last_seen >= before, "persisters never go back")

    def _channels_of(self, gate: int) -> range:
        size = len(self.inputs) // self.gates
        return range(gate * size, (gate + 1) * size)

    def _settle_inputs(self) -> None:
        for effect in self.task_out:
            if isinstance(effect, PersistInput):
                state = self.accounts[effect.channel].input_state
                numbers = [element for element in effect.buffers if isinstance(element, int)]
                state.setdefault(effect.checkpoint, []).extend(numbers)
        self.task_out.clear()

    def _settle_outputs(self) -> None:
        for effect in self.senders_out:
            match effect:
                case PersistOutput() | OutputStateKnown():
                    state = self.accounts[effect.subpartition].output_state
                    numbers = [element for element in effect.buffers if isinstance(element, int)]
                    state.setdefault(effect.checkpoint, []).extend(numbers)
                case OutputStateFailed():
                    self.doubtful.add(effect.checkpoint)
                case _:
                    pass
        self.senders_out.clear()

    def _complete(self, checkpoint: int) -> None:
        """Check a checkpoint that has all its barriers against the account."""
        self._settle_inputs()
        if checkpoint not in self.snapshot or checkpoint in self.doubtful:
            return
        hold(checkpoint not in self.given_up, "what was given up does not complete")
        self.whole.add(checkpoint)
        self.counts.completed += 1
        kind = self.snapshot_kind[checkpoint]
        for index, account in enumerate(self.accounts):
            in_flight = account.input_state.get(checkpoint, [])
            in_flight = in_flight + account.output_state.get(checkpoint, [])
            wanted = account.cut.get(checkpoint, account.sent)
            before = self.snapshot[checkpoint][index]
            if kind is not OptionKind.UNALIGNED:
                hold(not account.input_state.get(checkpoint), "aligned state holds no input data")
            found = list(range(before)) + in_flight
            rule = f"checkpoint {checkpoint}, channel {index}: {found} is 0..{wanted - 1}"
            hold(found == list(range(wanted)), rule)
