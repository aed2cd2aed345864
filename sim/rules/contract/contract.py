"""What the effects of a user's core owe by their documented meaning, whatever the core decides.

A core may decide otherwise than ours: later, more cautiously, by other effects.  But an effect has
a meaning (docs/slots.md): a part is reported with the bytes that were added to it, each operator is
closed before the task is, what no one wants any more is discarded.  Contracts state no more than
that.  They see the events and effects of one core, and nothing of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import CoordinatorParameters
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.models.ordering import Medium, OrderingParameters, StateKind, StreamDescriptor
from ckptsim.models.ordering import events as ordering_events
from ckptsim.scenarios.dialect import exact_text


class Contract:
    """Follows one core. `broken` is the first sentence that it owes, in words for people."""

    def __init__(self) -> None:
        self.broken: str | None = None

    def take(self, now_ns: int, event: Any, effects: Sequence[Any]) -> None:
        """Note what a core has answered to an event."""
        self._before(now_ns, event)
        for effect in effects:
            self._effect(now_ns, event, effect)
        self._after(now_ns, event)

    def owe(self, says: str) -> None:
        """Note that the core owes something. The first such sentence counts."""
        self.broken = self.broken or says

    def _before(self, now_ns: int, event: Any) -> None:
        """Take an event before the effects that it has."""

    def _effect(self, now_ns: int, event: Any, effect: Any) -> None:
        """Take one effect."""

    def _after(self, now_ns: int, event: Any) -> None:
        """Look at what must have come by the end of a step."""


class CoordinatorContract(Contract):
    """Requests are answered, ends are true, garbage is discarded. completed: at the beginning."""

    def __init__(
        self,
        parameters: CoordinatorParameters,
        *,
        first_checkpoint: int = 1,
        completed: Sequence[int] = (),
    ) -> None:
        super().__init__()
        del first_checkpoint
        self._parameters = parameters
        self._open = 0  # requests of users that have neither begun nor been refused
        self._plan_asked = False
        self._running: dict[int, int] = {}  # checkpoint -> when it was triggered
        self._awaited: dict[int, set[int]] = {}
        self._last_ns: dict[int, int] = {}  # checkpoint -> its last acknowledgement
        self._savepoints: set[int] = set()
        self._ended: set[int] = set()
        self._kept = list(completed)
        self._newest: int | None = max(completed, default=None)
        self._late: tuple[int, int] | None = None  # an acknowledgement that no one waits for
        self._first_tick_ns: int | None = None
        self._ticks = 0
        self._expired = 0  # in a row

    def _before(self, now_ns: int, event: Any) -> None:
        self._late = None
        match event:
            case coordinator_events.CheckpointRequested():
                self._open += 1
            case coordinator_events.Planned() | coordinator_events.PlanRefused():
                self._plan_asked = False
            case coordinator_events.SchedulerStarted(_, first_ns):
                self._first_tick_ns, self._ticks, self._expired = now_ns + first_ns, 0, 0
            case coordinator_events.SchedulerStopped():
                self._plan_asked = False
            case coordinator_events.Acknowledged(_, checkpoint, task):
                if checkpoint in self._ended:
                    self._late = checkpoint, task
                elif task in self._awaited.get(checkpoint, ()):
                    self._awaited[checkpoint].remove(task)
                    self._last_ns[checkpoint] = now_ns

    def _effect(self, now_ns: int, event: Any, effect: Any) -> None:  # noqa: C901 - one per effect
        match effect:
            case coordinator_events.PlanCheckpoint():
                if self._plan_asked:
                    self.owe("it asks for a plan while the one before is not there")
                self._plan_asked = True
            case coordinator_events.TriggerTasks(barrier, _, request):
                self._triggered(now_ns, event, barrier.checkpoint, request)
            case coordinator_events.RefuseRequest(request):
                self._open -= not request.periodic
            case coordinator_events.StoreCheckpoint(checkpoint, savepoint):
                if savepoint is not (checkpoint in self._savepoints):
                    self.owe(f"it stores checkpoint {checkpoint} as what was not asked for")
            case coordinator_events.CheckpointCompleted(checkpoint, duration_ns):
                self._completed(checkpoint, duration_ns)
            case coordinator_events.CheckpointFailed(checkpoint, reason):
                self._running.pop(checkpoint, None)
                self._ended.add(checkpoint)
                expired = reason is FailureReason.CHECKPOINT_EXPIRED
                self._expired += expired and checkpoint not in self._savepoints
            case coordinator_events.FailJob():
                self._expired = 0
            case coordinator_events.NotifyAborted(checkpoint, latest):
                if latest is None and self._newest is not None:
                    self.owe(
                        f"it names no completed checkpoint as it notifies of the end of "
                        f"{checkpoint}, and {self._newest} is complete"
                    )
            case coordinator_events.DiscardCheckpoint(checkpoint):
                self._kept = [number for number in self._kept if number != checkpoint]
            case coordinator_events.DiscardState(checkpoint, task):
                if (checkpoint, task) == self._late:
                    self._late = None

    def _triggered(self, now_ns: int, event: Any, checkpoint: int, request: Any) -> None:
        self._running[checkpoint] = now_ns
        if isinstance(event, coordinator_events.Planned):
            self._awaited[checkpoint] = set(event.await_tasks)
        if request.savepoint:
            self._savepoints.add(checkpoint)
        if not request.periodic:
            self._open -= 1
            return
        self._ticks += 1
        interval_ns = self._parameters.interval_ns
        if self._first_tick_ns is None or interval_ns is None:
            return
        due_ns = self._first_tick_ns + (self._ticks - 1) * interval_ns
        if now_ns < due_ns:
            says = f"it triggers checkpoint {checkpoint} at {exact_text(now_ns)}, and the "
            self.owe(f"{says}interval allows it from {exact_text(due_ns)} on")

    def _completed(self, checkpoint: int, duration_ns: int) -> None:
        began_ns = self._running.pop(checkpoint, None)
        self._ended.add(checkpoint)
        self._expired = 0
        last_ns = self._last_ns.get(checkpoint)
        if began_ns is not None and last_ns is not None and duration_ns != last_ns - began_ns:
            says = f"it reports that checkpoint {checkpoint} took {exact_text(duration_ns)}, "
            self.owe(
                f"{says}and the last acknowledgement came after {exact_text(last_ns - began_ns)}"
            )
        if checkpoint not in self._savepoints:
            self._kept.append(checkpoint)
            self._newest = max(checkpoint, self._newest or checkpoint)

    def _after(self, now_ns: int, event: Any) -> None:
        if self._late is not None:
            checkpoint, task = self._late
            self.owe(f"it leaves the state of task {task}, which came late for {checkpoint}")
        if len(self._kept) > self._parameters.retained:
            kept = ", ".join(map(str, self._kept))
            self.owe(f"it keeps checkpoints {kept}, and {self._parameters.retained} are retained")
        tolerable = self._parameters.tolerable_failures
        if tolerable is not None and self._expired > tolerable:
            self.owe(f"{self._expired} checkpoints expired in a row, and it does not fail the job")
        if isinstance(event, coordinator_events.SchedulerStopped):
            if self._running:
                left = ", ".join(map(str, sorted(self._running)))
                self.owe(f"triggering has stopped, and it has not ended checkpoint {left}")
            if self._open > 0:
                self.owe(f"triggering has stopped, and {self._open} requests have no answer")


class OrderingContract(Contract):
    """Streams are opened, records are passed on once, channels end, and the end has its timer."""

    def __init__(self, parameters: OrderingParameters) -> None:
        super().__init__()
        self._parameters = parameters
        self._opened: dict[StreamDescriptor, None] = {}
        self._ended: dict[StreamDescriptor, None] = {}
        self._passed = 0
        self._sending = False
        self._wait_ns: int | None = None  # of an end that was asked for without a verdict
        self._timer = False
        self._over = False

    def _before(self, now_ns: int, event: Any) -> None:
        self._passed = 0
        match event:
            case ordering_events.StateSent() | ordering_events.SendFailed():
                self._sending = False
            case ordering_events.FinishRequested(wait_ns=wait_ns):
                self._wait_ns = wait_ns
            case ordering_events.FinishTimerFired() if self._timer:
                self._timer, self._wait_ns = False, 0

    def _effect(self, now_ns: int, event: Any, effect: Any) -> None:  # noqa: C901 - one per effect
        match effect:
            case ordering_events.OpenStream(stream=stream):
                if stream in self._opened:
                    self.owe(f"it opens stream {stream} twice")
                self._opened[stream] = None
            case ordering_events.PassRecords(stream=stream, count=count):
                self._passed += count
                if stream not in self._opened:
                    self.owe(f"it passes records of stream {stream} on, which it has not opened")
            case ordering_events.SendState():
                self._sending = True
                listed = effect.kind is not StateKind.STREAM
                missing = listed and not effect.statistics.per_stream
                if missing and self._parameters.medium is Medium.SOCKET:
                    self.owe(f"it sends state {effect.key.index} without the counts per stream")
            case ordering_events.SetFinishTimer(wait_ns=wait_ns):
                if self._wait_ns is not None and wait_ns != self._wait_ns:
                    says = f"it waits {exact_text(wait_ns)} for its end"
                    self.owe(f"{says}, and was asked to wait {exact_text(self._wait_ns)}")
                self._timer = True
            case ordering_events.CancelFinishTimer():
                self._timer = False
            case ordering_events.EndStream(stream=stream):
                if stream in self._ended:
                    self.owe(f"it ends stream {stream} twice")
                self._ended[stream] = None
            case ordering_events.CompleteSync() | ordering_events.FailSync():
                self._over = True

    def _after(self, now_ns: int, event: Any) -> None:
        if isinstance(event, ordering_events.RecordsRead) and self._passed != event.count:
            self.owe(f"it passes {self._passed} records on, and {event.count} were read")
        if self._wait_ns is None or self._over or self._sending:
            return
        if self._wait_ns == 0:
            self.owe("its end was asked for, and it gives no verdict")
        elif not self._timer:
            self.owe("its end was asked for, and it neither gives a verdict nor sets its timer")
