"""The rules of a task's end of life, stated naively: from what every channel has brought.

Source: FLIP-147; Apache Flink 1.20.3, StreamTask and SourceStreamTask, as docs/lifecycle.md tells
them: what happens is written out, where the core looks cells of a table up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ckptsim.models.lifecycle import (
    OperatorState,
    StopMode,
    TaskKind,
    TaskParameters,
    TaskState,
    Variant,
)
from ckptsim.models.lifecycle import effects as lifecycle_effects
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.models.lifecycle.transactions import SinkState
from ckptsim.sim.rules.answers import Pick
from tests.rules.naive.naive import Naive


class LifecycleRules(Naive):
    """What a task's lifecycle is to answer."""

    def __init__(self, parameters: TaskParameters) -> None:
        self._parameters = parameters
        self._flink = parameters.variant is Variant.FLINK
        self._watermarks: list[int] = []
        self._ends: dict[int, StopMode] = {}
        self._partitions: list[int] = []
        self._acknowledged: list[int] = []
        self._performed: list[tuple[int, bool]] = []  # number, whether behind EndOfData
        restored = parameters.restored_from
        self._heard_of = -1 if restored is None else restored
        self._savepoint: int | None = None
        self._let_go = False  # a completion that ends the wait has come
        self._open = True
        self._pending: list[int] = []
        self._finished = False  # finish() has been called
        self._ended = False  # EndOfData has been sent
        self._state = TaskState.RUNNING
        self._operator = OperatorState.RUNNING
        self._started = False
        self._stops_without_drain = False
        self._out: list[Any] = []

    # Refusals ------------------------------------------------------------------------------

    def refusals(self, event: Any) -> list[str]:
        """Return why the event cannot concern the task."""
        match event:
            case (
                lifecycle_events.InputExhausted()
                | lifecycle_events.StopWithSavepointTriggered()
                | lifecycle_events.Started()
            ):
                return [] if self._is_source else ["not_a_source"]
            case lifecycle_events.StateRestored():
                return [] if self._has_sink else ["not_a_sink"]
            case lifecycle_events.EndOfDataAcknowledged():
                known = event.channel in range(self._parameters.output_channels)
                return [] if known else ["unknown_channel"]
            case (
                lifecycle_events.MaxWatermarkReceived()
                | lifecycle_events.EndOfDataReceived()
                | lifecycle_events.EndOfPartitionReceived()
            ):
                return [] if event.channel in range(self._inputs) else ["unknown_channel"]
        return []

    @property
    def _is_source(self) -> bool:
        return self._parameters.kind is TaskKind.SOURCE

    @property
    def _inputs(self) -> int:
        return sum(self._parameters.gate_channels)

    @property
    def _works(self) -> bool:
        """Return whether the task has operators that run: it was not finished when restored."""
        return not self._parameters.finished_on_restore

    @property
    def _has_sink(self) -> bool:
        return self._works and self._parameters.sink_opens_after_finish is not None

    @property
    def _final(self) -> bool:
        return self._parameters.checkpointing and self._parameters.checkpoints_after_finish

    # Events --------------------------------------------------------------------------------

    def take(self, event: Any) -> Sequence[Any]:
        """Note an event, and return the effects that it has."""
        self._out = []
        if self._state is TaskState.CLOSED:
            asks = isinstance(
                event,
                lifecycle_events.CheckpointTriggered | lifecycle_events.StopWithSavepointTriggered,
            )
            return [lifecycle_effects.DeclineCheckpoint(event.checkpoint_id)] if asks else []
        if self._state is TaskState.FAILED:
            return []
        if isinstance(
            event, lifecycle_events.EndOfDataReceived | lifecycle_events.MaxWatermarkReceived
        ):
            self._take_input(event)
        elif isinstance(
            event, lifecycle_events.CheckpointAborted | lifecycle_events.CheckpointCompleted
        ):
            self._take_notification(event)
        else:
            self._take_other(event)
        self._close_if_done()
        return self._out

    def _take_other(self, event: Any) -> None:
        match event:
            case lifecycle_events.Started():
                self._started = True
                if not self._works:
                    self._end_source()
            case lifecycle_events.InputExhausted() if not self._ended:
                self._end_source()
            case lifecycle_events.StateRestored():
                for state in event.states:
                    self._out += [
                        lifecycle_effects.RecoverAndCommit(name) for name in state.pending
                    ]
                    self._out += (
                        [lifecycle_effects.RecoverAndAbort(state.open)] if state.open else []
                    )
            case lifecycle_events.StopWithSavepointTriggered():
                if not self._ended:
                    self._stops_without_drain = not event.drain
                    self._out.append(lifecycle_effects.FinishTask())
                    self._end_source()
                self._savepoint = event.checkpoint_id
            case lifecycle_events.CheckpointPerformed():
                self._perform(event.checkpoint_id, savepoint=event.savepoint)
            case lifecycle_events.EndOfPartitionReceived():
                self._partitions.append(event.channel)
            case lifecycle_events.EndOfDataAcknowledged():
                self._acknowledged.append(event.channel)

    def _take_input(self, event: Any) -> None:
        channel = event.channel
        if isinstance(event, lifecycle_events.MaxWatermarkReceived):
            if channel not in self._watermarks:
                self._watermarks.append(channel)
                if len(self._watermarks) == self._inputs:
                    self._advance()
            return
        if channel in self._ends:
            return
        self._ends[channel] = event.stop_mode
        self._out.append(lifecycle_effects.AcknowledgeEndOfData(channel))
        gates = self._parameters.gate_channels
        gate = next(g for g in range(len(gates)) if channel < sum(gates[: g + 1]))
        whole = range(sum(gates[:gate]), sum(gates[: gate + 1]))
        drained = all(self._ends.get(each) is StopMode.DRAIN for each in whole)
        if len(gates) > 1 and drained and self._works:
            self._out.append(lifecycle_effects.EndInput(0, gate))
        if len(self._ends) == self._inputs and not self._ended:
            self._stops_without_drain = StopMode.NO_DRAIN in self._ends.values()
            self._end_data()

    def _take_notification(self, event: Any) -> None:
        number = event.checkpoint_id
        if isinstance(event, lifecycle_events.CheckpointCompleted):
            self._complete(number)
            return
        if event.latest_completed is not None and self._flink:
            self._complete(event.latest_completed)
            self._close_if_done()
        if self._state is not TaskState.CLOSED and number == self._savepoint:
            self._out.append(lifecycle_effects.FailTask("stop_with_savepoint_failed"))
            self._enter(TaskState.FAILED, None)

    def _complete(self, number: int) -> None:
        if number <= self._heard_of:
            return
        self._heard_of = number
        covered = tuple(sorted(each for each in self._pending if each <= number))
        self._pending = [each for each in self._pending if each > number]
        if covered:
            self._out.append(lifecycle_effects.CommitTransactions(number, covered))
        behind = [each for each, after_end in self._performed if after_end]
        if self._savepoint is not None and self._flink:
            self._let_go = self._let_go or number == self._savepoint
        elif behind:
            self._let_go = self._let_go or number >= behind[0]

    def _perform(self, number: int, *, savepoint: bool) -> None:
        if savepoint:
            self._savepoint = number
        self._performed.append((number, self._ended))
        if self._has_sink and self._open:
            self._pending.append(number)
            self._open = not self._finished or bool(self._parameters.sink_opens_after_finish)
            self._out.append(lifecycle_effects.PrecommitTransaction(number))
        self._out.append(lifecycle_effects.TakeSnapshot(number, self._ended, not self._works))

    # The end of the data -------------------------------------------------------------------

    def _send(self, effect: Any) -> None:
        if self._parameters.output_channels > 0:
            self._out.append(effect)

    def _advance(self) -> None:
        if self._stops_without_drain:
            return
        if self._works:
            self._out.append(lifecycle_effects.AdvanceToMaxWatermark())
        self._send(lifecycle_effects.EmitMaxWatermark())

    def _end_source(self) -> None:
        self._advance()
        self._end_data()

    def _end_data(self) -> None:
        drains = not self._stops_without_drain
        entered = OperatorState.FINISHED if drains else None
        self._enter(TaskState.WAITING_FOR_FINAL_CP, entered)
        if drains:
            self._finished = True
            for operator in range(self._parameters.chain if self._works else 0):
                # The head of a task with several gates has heard of each when it was drained.
                if operator > 0 or len(self._parameters.gate_channels) < 2:
                    self._out.append(lifecycle_effects.EndInput(operator))
                self._out.append(lifecycle_effects.FinishOperator(operator))
        self._ended = True
        self._send(lifecycle_effects.EmitEndOfData(StopMode.DRAIN if drains else StopMode.NO_DRAIN))

    def _waits(self) -> bool:
        checkpoint = self._let_go or (not self._final and self._savepoint is None)
        heard = not self._final or not self._parameters.await_acknowledgements
        heard = heard or len(set(self._acknowledged)) == self._parameters.output_channels
        inputs = self._is_source or len(set(self._partitions)) == self._inputs
        return not (checkpoint and heard and inputs)

    def _close_if_done(self) -> None:
        if self._state is not TaskState.WAITING_FOR_FINAL_CP or self._waits():
            return
        self._enter(TaskState.CLOSED, OperatorState.CLOSED)
        chain = self._parameters.chain if self._works else 0
        self._out += [
            lifecycle_effects.CloseOperator(operator) for operator in reversed(range(chain))
        ]
        pending, left = tuple(sorted(self._pending)), ()
        opened = (lifecycle_effects.OPEN,) if self._has_sink and self._open else ()
        if self._flink:
            pending, left = (), pending
        if pending + opened:
            self._out.append(lifecycle_effects.AbortTransactions(pending + opened))
        self._send(lifecycle_effects.EmitEndOfPartition())
        if left:
            self._out.append(lifecycle_effects.LeaveTransactions(left))
        self._pending, self._open = [], False

    def _enter(self, state: TaskState, operator: OperatorState | None) -> None:
        self._state = state
        self._operator = self._operator if operator is None else operator
        self._out.append(lifecycle_effects.StateChanged(state, operator))

    # Questions and stray events ------------------------------------------------------------

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield what can be asked of the core, and what it is to say."""
        yield "state", core.state, self._state
        yield "operator", core.operator, self._operator
        yield "ended", core.ended, self._ended
        yield "savepoint_id", core.savepoint_id, self._savepoint
        if core.transactions is not None:
            yield "pending", core.transactions.pending, tuple(self._pending)
        yield "latest_reported", core.latest_reported, self._heard_of
        if self._state is TaskState.WAITING_FOR_FINAL_CP:
            yield "whether it waits", bool(core.waits_for()), self._waits()

    def stray(self, pick: Pick) -> Any:
        """Return what inputs, outputs, the coordinator and a restore may bring next."""
        numbers = [number for number, _ in self._performed] or [0]
        newest = max([*numbers, self._heard_of, self._savepoint or 0])
        number = max(0, pick.of((newest + 1, newest, newest - 1, pick.of(numbers))))
        channel = pick.integer(0, max(0, self._inputs - 1))
        if pick.one_in(12):
            return self._stray_of_others(pick, number)
        behind = pick.integer(0, max(0, self._parameters.output_channels - 1))
        mode = StopMode.DRAIN if pick.one_in(2) else pick.of(tuple(StopMode))
        options: list[Any] = [
            lifecycle_events.CheckpointPerformed(max(numbers) + 1, savepoint=pick.one_in(6)),
            lifecycle_events.CheckpointTriggered(number),
            lifecycle_events.CheckpointCompleted(number),
            lifecycle_events.CheckpointAborted(number, pick.of((None, newest, number))),
        ]
        if self._parameters.output_channels:
            options += [lifecycle_events.EndOfDataAcknowledged(behind)] * 2
        if self._is_source:
            options += [lifecycle_events.InputExhausted()]
            options += [] if self._started or self._ended else [lifecycle_events.Started()]
            options += [
                lifecycle_events.StopWithSavepointTriggered(newest + 1, drain=pick.one_in(2))
            ]
        elif self._inputs:
            # A channel keeps its order: watermark, EndOfData, EndOfPartition.
            ended = channel in self._ends
            last = (
                lifecycle_events.EndOfPartitionReceived(channel)
                if ended
                else lifecycle_events.MaxWatermarkReceived(channel)
            )
            options += [lifecycle_events.EndOfDataReceived(channel, mode)] * 3 + [last] * 3
        if self._has_sink and not self._performed:
            options.append(
                lifecycle_events.StateRestored((SinkState(pending=("a", "b"), open="c"),))
            )
        return pick.of(options)

    def _stray_of_others(self, pick: Pick, number: int) -> Any:
        """Return what cannot concern the task, or may not."""
        if not self._is_source and pick.one_in(4):
            return lifecycle_events.Started()
        wrong = pick.of((-1, max(self._inputs, self._parameters.output_channels)))
        return pick.of(
            (
                lifecycle_events.InputExhausted(),
                lifecycle_events.StopWithSavepointTriggered(number, drain=True),
                lifecycle_events.StateRestored((SinkState(pending=(), open=None),)),
                lifecycle_events.EndOfDataAcknowledged(wrong),
                lifecycle_events.EndOfDataReceived(wrong, StopMode.DRAIN),
                lifecycle_events.MaxWatermarkReceived(wrong),
                lifecycle_events.EndOfPartitionReceived(wrong),
            )
        )


def drawn_task(pick: Pick) -> TaskParameters:
    """Return how a task may be built."""
    source = pick.one_in(3)
    return TaskParameters(
        kind=TaskKind.SOURCE if source else TaskKind.NON_SOURCE,
        variant=pick.of(tuple(Variant)),
        gate_channels=() if source else pick.of(((1,), (2,), (1, 1), (1, 2))),
        output_channels=pick.integer(0, 2),
        chain=pick.integer(1, 2),
        checkpointing=not pick.one_in(5),
        checkpoints_after_finish=not pick.one_in(5),
        restored_from=pick.of((None, None, 2)),
        finished_on_restore=pick.one_in(6),
        sink_opens_after_finish=pick.of((None, True, False)),
        await_acknowledgements=not pick.one_in(6),
    )
