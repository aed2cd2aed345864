"""A task whose life a script writes: the control of simulated tasks, on ports that take notes.

Everything takes no time here: a mail is done at once, a snapshot is copied and durable at once.
What the task does is noted in the vocabulary of the vectors, step by step.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ckptsim.models.barriers import Barrier, CancellationMarker, EndOfData, HandlerKind, OptionKind
from ckptsim.models.barriers.barrier import NetworkEvent
from ckptsim.models.barriers.channels import NetworkEffect
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.lifecycle import (
    OperatorState,
    StopMode,
    TaskKind,
    TaskParameters,
    TaskState,
)
from ckptsim.models.lifecycle.effects import TakeSnapshot, TransactionId
from ckptsim.sim.job.control.task import TaskControl, TaskCores
from ckptsim.sim.job.control.task.channel_state import ChannelStateHost
from ckptsim.sim.job.events import Events
from ckptsim.sim.job.port import FileStored
from ckptsim.sim.slots import ProtocolCores
from ckptsim.sim.slots.protocols import Lifecycle

Entry = dict[str, Any]


class _Quiet:
    """Does nothing about whatever it is told, and keeps nothing."""

    def __getattr__(self, _name: str) -> Callable[..., tuple[()]]:
        return lambda *_, **__: ()


class _Gate(_Quiet):
    """An input gate with nothing in flight."""

    def start(self, _checkpoint: int) -> None:
        """Persist nothing, and so refuse nothing."""


class _Noting(_Quiet):
    """A part of the task that notes some of what it is told."""

    def __init__(self, task: ScriptedTask) -> None:
        self._task = task


class _Input(_Noting):
    """An input channel without a sender."""

    def __init__(self, task: ScriptedTask, index: int) -> None:
        super().__init__(task)
        self._index = index

    def acknowledge_end_of_data(self) -> None:
        """Note the acknowledgement."""
        self._task.act("acknowledge_end_of_data", channel=self._index)


class _Outputs(_Noting):
    """The outputs of a task, which note everything that leaves."""

    def __init__(self, task: ScriptedTask, channels: int) -> None:
        super().__init__(task)
        self._channels = channels

    def _emit(self, action: str, **fields: Any) -> None:
        if self._channels:
            self._task.act(action, **fields)

    def broadcast_barrier(self, barrier: Barrier) -> int:
        """Note a barrier."""
        self._emit("emit_barrier", id=barrier.checkpoint)
        return 0

    def broadcast(self, event: NetworkEvent) -> None:
        """Note an event."""
        match event:
            case CancellationMarker(checkpoint):
                self._emit("emit_cancel_marker", id=checkpoint)
            case EndOfData(drain):
                mode = StopMode.DRAIN if drain else StopMode.NO_DRAIN
                self._emit("emit_end_of_data", stop_mode=mode.name)
            case _:
                raise AssertionError(f"a task sends no {event!r}")

    def finish(self) -> None:
        """Note the end of the partitions."""
        self._emit("emit_end_of_partition")


class _State(_Noting):
    """The state of a task: nothing, copied and stored at once; also its group's channel state."""

    def part_of(self, _barrier: Barrier) -> object:
        """Return a part of a checkpoint, with figures that vectors do not ask for."""
        return SimpleNamespace(start_delay_ns=0, unaligned=False)

    def capture(self, flags: TakeSnapshot, captured: Callable[[int], None]) -> None:
        """Copy nothing, at once."""
        captured(flags.checkpoint_id)

    def store(self, checkpoint: int, stored: FileStored) -> None:
        """Store nothing, at once."""
        stored(checkpoint, failed=False)

    def decline(self, checkpoint: int, _reason: FailureReason) -> None:
        """Note a refusal."""
        self._task.act("decline_checkpoint", id=checkpoint)


class _ChannelState(_Quiet):
    """The file of channel state that an aligned task never writes."""

    def store(self, checkpoint: int, _size: int, _stored: FileStored) -> None:
        """Refuse: nothing is in flight."""
        raise AssertionError(f"an aligned task stores channel state of {checkpoint}")


class _Ending(_Noting):
    """The end of a task, which notes calls and states."""

    has_writes = False

    def __init__(self, task: ScriptedTask, parameters: TaskParameters) -> None:
        super().__init__(task)
        self._chained = parameters.chain > 1
        self._several = len(parameters.gate_channels) > 1
        self.notified = -1

    def state_changed(self, state: TaskState, operator: OperatorState | None) -> None:
        """Note a state, and that of the operators where it has a say."""
        said = {} if operator is None else {"operator": operator.name}
        self._task.entries.append({"state": state.name} | said)

    def finish_source(self) -> None:
        """Note that the source is stopped."""
        self._task.act("finish_task")

    def call(self, what: str, operator: int) -> None:
        """Note a call of an operator; all of them advance together."""
        if what == "advance":
            if operator == 0:
                self._task.act("advance_to_max_watermark")
            return
        action = {"end_input": "end_input", "finish": "finish_operator", "close": "close_operator"}
        self._task.act(action[what], **({"op": operator} if self._chained else {}))

    def gate_ended(self, gate: int) -> None:
        """Say of the last call which of several inputs has ended."""
        if self._several:
            self._task.entries[-1]["input"] = gate + 1

    def tell(self, what: str, checkpoint: int) -> None:
        """Keep in mind which completion the operators were notified of last."""
        if what == "notify":
            self.notified = checkpoint

    def emit_max_watermark(self) -> None:
        """Note the final watermark."""
        self._task.act("emit_max_watermark")

    def decline_closing(self, checkpoint: int) -> None:
        """Note a refusal."""
        self._task.act("decline_checkpoint", id=checkpoint)

    def fail(self, reason: str) -> None:
        """Note that the task fails."""
        self._task.act("fail_task", reason=reason)

    def is_stop(self, checkpoint: int) -> bool:
        """Return what the script says of a checkpoint."""
        return checkpoint in self._task.stops

    def break_down(self, violated: str, story: str) -> None:
        """Note that the input has broken a rule."""
        self._task.act("break_down", violated=violated, story=story)


class _Sink(_Noting):
    """The transactions of a sink, all noted; vectors have no words for those of a recovery."""

    def precommit(self, checkpoint_id: int, *, open_successor: bool) -> None:
        """Note a pre-commit."""
        del open_successor
        self._task.act("precommit_transaction", id=checkpoint_id)

    def commit(self, checkpoints: tuple[int, ...]) -> None:
        """Note commits, with the completion that they follow."""
        up_to = self._task.ending.notified
        self._task.act("commit_transactions", upto=up_to, ids=list(checkpoints))

    def abort(self, transactions: tuple[TransactionId, ...]) -> None:
        """Note aborts."""
        self._task.act("abort_transactions", ids=list(transactions))

    def leave(self, checkpoints: tuple[int, ...]) -> None:
        """Note what is left."""
        self._task.act("lingering_transactions", ids=list(checkpoints))


class ScriptedTask:
    """One task; `entries` is what it has done since they were cleared.

    stops: checkpoints that are savepoints of a stop.
    """

    number = now = 0
    place = "task", 0
    entity: Any = None
    env: Any = None

    def __init__(
        self, parameters: TaskParameters, lifecycle: Lifecycle, cores: ProtocolCores
    ) -> None:
        channels = sum(parameters.gate_channels)
        self.entries: list[Entry] = []
        self.stops: set[int] = set()
        self.is_source = parameters.kind is TaskKind.SOURCE
        self.inputs: list[Any] = [_Input(self, index) for index in range(channels)]
        self.gates: list[Any] = [_Gate() for _ in parameters.gate_channels]
        self.outbox: list[NetworkEffect] = []
        self.outputs: Any = _Outputs(self, parameters.output_channels)
        self.snapshots: Any = _State(self)
        self.ending: Any = _Ending(self, parameters)
        self.sink: Any = _Sink(self) if parameters.holds_transactions else None
        handler = None
        if channels:
            handler = cores.handler(
                HandlerKind.ALIGNED,
                channels,
                gates=len(parameters.gate_channels),
                after_finish=True,
            )
        channel_state: Any = _ChannelState()
        events = Events()
        self.control = TaskControl(
            self,
            TaskCores(
                handler=handler,
                subtask=cores.subtask(),
                lifecycle=lifecycle,
                chain=parameters.chain,
            ),
            writer=ChannelStateHost(cores.channel_state([0]), channel_state, events),
            events=events,
            clock=self,
            reach=_reach,
        )

    @property
    def has_failed(self) -> bool:
        """Whether the task is not there any more."""
        return self.control.lifecycle.core.state is TaskState.FAILED

    @property
    def has_closed(self) -> bool:
        """Whether the task takes nothing from its channels any more."""
        return self.control.lifecycle.core.state is TaskState.CLOSED

    def act(self, action: str, **fields: Any) -> None:
        """Note an action."""
        self.entries.append({"action": action} | fields)

    def barrier(self, channel: int, checkpoint: int) -> None:
        """Take a barrier from a channel."""
        if self.control.handler is not None:
            barrier = Barrier(checkpoint, self.now, OptionKind.ALIGNED)
            self.control.handler.barrier(channel, barrier)

    def trigger(self, checkpoint: int, stop: StopMode | None = None) -> None:
        """Take a trigger by remote call."""
        self.control.trigger(Barrier(checkpoint, self.now, OptionKind.ALIGNED), stop)

    # For control ------------------------------------------------------------------------------

    def post(self, function: Callable[..., object], /, *arguments: Any) -> None:
        """Do a mail at once."""
        function(*arguments)

    def set_timer(self, delay_ns: int, function: Callable[..., object], /, *arguments: Any) -> Any:
        """Set a timer that never runs out: aligned checkpoints have none."""
        del delay_ns, function, arguments
        return _Quiet()

    def spend_on_barrier(self, function: Callable[..., object], /, *arguments: Any) -> None:
        """Spend no time."""
        function(*arguments)


def _reach(situation: str) -> None:
    """Count nothing: a script says itself what is rare."""
    del situation
