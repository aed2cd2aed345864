"""The contracts of the cores of a task: barrier handler, writer of channel state, lifecycle."""

from __future__ import annotations

from typing import Any

from ckptsim.models.barriers import HandlerKind
from ckptsim.models.barriers import channel_state as writer_events
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.lifecycle import TaskKind, TaskParameters, TaskState
from ckptsim.models.lifecycle import effects as lifecycle_effects
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.scenarios.dialect import exact_text
from ckptsim.sim.rules.contract.contract import Contract


class HandlerContract(Contract):
    """Each trigger is measured once, from the first word of its checkpoint."""

    def __init__(
        self, kind: HandlerKind, channels: int, *, gates: int = 1, after_finish: bool = True
    ) -> None:
        super().__init__()
        del channels, gates, after_finish
        self._is_aligned = kind is HandlerKind.ALIGNED
        # The tracker has one clock for all the checkpoints that it follows at once.
        self._is_tracker = kind is HandlerKind.TRACKER
        self._first: dict[int, tuple[int, int]] = {}  # checkpoint -> its first word, its delay
        self._owed: dict[int, int] = {}

    def _before(self, now_ns: int, event: Any) -> None:
        if isinstance(event, handler_events.BarrierArrived | handler_events.BarrierAnnounced):
            barrier = event.barrier
            delay_ns = max(0, now_ns - barrier.timestamp_ns)
            self._first.setdefault(barrier.checkpoint, (now_ns, delay_ns))

    def _effect(self, now_ns: int, event: Any, effect: Any) -> None:
        match effect:
            case handler_events.TriggerCheckpoint(barrier, start_delay_ns):
                number = barrier.checkpoint
                self._owed[number] = self._owed.get(number, 0) + 1
                first = self._first.get(number)
                longest_ns = max(0, now_ns - barrier.timestamp_ns)
                if self._is_tracker or first is None:
                    return
                if not first[1] <= start_delay_ns <= longest_ns:
                    says = f"it says that checkpoint {number} came to the task "
                    says += f"{exact_text(start_delay_ns)} after its trigger, "
                    self.owe(f"{says}and it came after {exact_text(first[1])}")
            case handler_events.AlignmentMeasured(number, duration_ns, _):
                if not self._owed.get(number):
                    self.owe(f"it measures checkpoint {number}, which it has not triggered")
                self._owed[number] = self._owed.get(number, 0) - 1
                if number in self._first:
                    self._check_duration(number, duration_ns, now_ns - self._first[number][0])

    def _check_duration(self, number: int, duration_ns: int, longest_ns: int) -> None:
        """Check a measured alignment. One that is always aligned lasts from its first barrier."""
        wrong = duration_ns != longest_ns if self._is_aligned else duration_ns > longest_ns
        if wrong:
            says = f"it measures {exact_text(duration_ns)} for checkpoint {number}, "
            self.owe(f"{says}which came {exact_text(longest_ns)} ago")


class WriterContract(Contract):
    """Files hold the added data, parts learn of it, and every file ends."""

    def __init__(self, subtasks: list[int]) -> None:
        super().__init__()
        del subtasks
        self._added: dict[tuple[int, int], int] = {}  # of a part: subtask and checkpoint
        self._written: dict[int, int] = {}  # of a file
        self._open: dict[int, None] = {}
        self._asked: dict[tuple[int, int], None] = {}  # parts without an answer

    def _before(self, now_ns: int, event: Any) -> None:
        match event:
            case writer_events.WriteStarted(subtask, checkpoint):
                self._asked[subtask, checkpoint] = None
            case writer_events.DataAdded(subtask, checkpoint, size):
                key = subtask, checkpoint
                self._added[key] = self._added.get(key, 0) + size
            case writer_events.StreamFailed(checkpoint):
                self._open.pop(checkpoint, None)

    def _effect(self, now_ns: int, event: Any, effect: Any) -> None:
        match effect:
            case writer_events.OpenStream(checkpoint):
                self._open[checkpoint] = None
            case writer_events.WriteBytes(checkpoint, size):
                self._written[checkpoint] = self._written.get(checkpoint, 0) + size
                self._needs_file(checkpoint)
            case writer_events.StoreStream(checkpoint, size):
                written = self._written.get(checkpoint, 0)
                if size != written:
                    says = f"it stores {size} bytes for checkpoint {checkpoint}"
                    self.owe(f"{says}, and it has written {written}")
                self._needs_file(checkpoint)
                self._open.pop(checkpoint, None)
            case writer_events.DropStream(checkpoint):
                self._open.pop(checkpoint, None)
            case writer_events.PartWritten(subtask, checkpoint, size):
                added = self._added.get((subtask, checkpoint), 0)
                if size != added:
                    says = f"it reports {size} bytes of subtask {subtask} for {checkpoint}"
                    self.owe(f"{says}, and {added} were added")
                self._asked.pop((subtask, checkpoint), None)
            case writer_events.PartFailed(subtask, checkpoint):
                self._asked.pop((subtask, checkpoint), None)

    def _needs_file(self, checkpoint: int) -> None:
        if checkpoint not in self._open:
            self.owe(f"it writes to the file of checkpoint {checkpoint}, which is not open")

    def _after(self, now_ns: int, event: Any) -> None:
        waiting = dict.fromkeys(checkpoint for _, checkpoint in self._asked)
        for checkpoint in self._open:
            if checkpoint not in waiting:
                self.owe(f"it leaves the file of checkpoint {checkpoint} open, and nobody waits")
        if isinstance(event, writer_events.WriteAborted):
            part = event.subtask, event.checkpoint
            if part in self._asked:
                says = f"subtask {event.subtask} gives up its part of {event.checkpoint}"
                self.owe(f"{says}, and it does not answer that the part has failed")


class LifecycleContract(Contract):
    """Operators are named the end of their input, finished and closed before the task is over."""

    def __init__(self, parameters: TaskParameters) -> None:
        super().__init__()
        self._parameters = parameters
        self._operators = 0 if parameters.finished_on_restore else parameters.chain
        self._told: set[tuple[int, int | None]] = set()
        self._closed: set[int] = set()
        self._data_ended = False
        self._stop_open = self._closes = False
        self._transactions: set[int] = set()

    def _before(self, now_ns: int, event: Any) -> None:
        if isinstance(event, lifecycle_events.StopWithSavepointTriggered):
            self._stop_open = not self._data_ended

    def _effect(self, now_ns: int, event: Any, effect: Any) -> None:  # noqa: C901 - one per effect
        match effect:
            case lifecycle_effects.EndInput(operator, gate):
                self._told.add((operator, gate))
            case lifecycle_effects.FinishOperator(operator):
                self._finishes(operator)
            case lifecycle_effects.CloseOperator(operator):
                self._closed.add(operator)
            case lifecycle_effects.FinishTask():
                self._stop_open = False
            case lifecycle_effects.EmitEndOfData() | lifecycle_effects.StateChanged(
                TaskState.WAITING_FOR_FINAL_CP
            ):
                self._stop_open, self._data_ended = False, True
            case lifecycle_effects.TakeSnapshot(checkpoint, finished, on_restore):
                restored = self._parameters.finished_on_restore
                if finished is not self._data_ended and not restored:
                    does = "before" if finished else "after"
                    says = f"it acknowledges checkpoint {checkpoint}, {does} the end of its data, "
                    self.owe(f"{says}with operators {'' if finished else 'not '}finished")
                if on_restore is not self._parameters.finished_on_restore:
                    self.owe(f"it says of checkpoint {checkpoint} wrongly how it was restored")
            case lifecycle_effects.PrecommitTransaction(checkpoint):
                self._transactions.add(checkpoint)
            case lifecycle_effects.CommitTransactions() | lifecycle_effects.LeaveTransactions():
                self._transactions -= set(effect.transactions)
            case lifecycle_effects.AbortTransactions(transactions):
                self._transactions -= set(transactions)
            case lifecycle_effects.EmitEndOfPartition():
                self._needs_closed("sends EndOfPartition")
            case lifecycle_effects.StateChanged(TaskState.CLOSED):
                self._closes = True

    def _finishes(self, operator: int) -> None:
        if operator == 0:
            if self._parameters.kind is TaskKind.SOURCE:
                return
            gates = len(self._parameters.gate_channels)
            wanted: list[int | None] = [None] if gates == 1 else list(range(gates))
        else:
            wanted = [None]
        if any((operator, gate) not in self._told for gate in wanted):
            self.owe(f"it finishes operator {operator}, which does not know the end of its input")

    def _needs_closed(self, does: str) -> None:
        left = self._operators - len(self._closed)
        if left > 0:
            self.owe(f"it {does}, and {left} of {self._operators} operators are not closed")

    def _after(self, now_ns: int, event: Any) -> None:
        stops = isinstance(event, lifecycle_events.StopWithSavepointTriggered)
        if stops and self._stop_open:
            self.owe("it is stopped with a savepoint, and does not stop its source")
        self._stop_open = False
        if self._closes:
            self._needs_closed("has closed")
            if self._transactions:
                left = ", ".join(map(str, sorted(self._transactions)))
                self.owe(f"it has closed, and says nothing of transactions {left}")
