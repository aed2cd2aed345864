"""A task with a scripted life: the control of simulated tasks, on ports that take notes.

Everything takes no time here: a mail is done at once, a snapshot is copied and durable at once.
What the task does is noted in the vocabulary of the vectors, step by step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

from ckptsim.models.barriers import Barrier, CancellationMarker, EndOfData, HandlerKind, OptionKind
from ckptsim.models.barriers.barrier import NetworkEvent
from ckptsim.models.barriers.channels import NetworkEffect
from ckptsim.models.lifecycle import (
    OperatorState,
    StopMode,
    TaskKind,
    TaskParameters,
    TaskState,
)
from ckptsim.sim.job.control.task import TaskControl, TaskCores
from ckptsim.sim.job.control.task.channel_state import ChannelStateHost
from ckptsim.sim.job.events import Events
from ckptsim.sim.job.port import FileStored
from ckptsim.sim.slots import ProtocolCores
from ckptsim.sim.slots.protocols import Lifecycle

Entry = dict[str, Any]


class _Part:
    """A part of the task: what some of its calls do, by name. All others do nothing."""

    def __init__(self, **calls: Any) -> None:
        vars(self).update(calls)

    def __getattr__(self, _name: str) -> Callable[..., tuple[()]]:
        return lambda *_, **__: ()


class ScriptedTask:
    """One task. `entries` is what it has done since they were cleared.

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
        self._chained = parameters.chain > 1
        self._notified = -1
        self.inputs: list[Any] = [
            _Part(acknowledge_end_of_data=partial(self.act, "acknowledge_end_of_data", channel=at))
            for at in range(channels)
        ]
        # With nothing in flight none refuses a checkpoint.
        self.gates: list[Any] = [_Part(start=lambda _: None) for _ in parameters.gate_channels]
        self.outbox: list[NetworkEffect] = []
        self.outputs: Any = self._outputs() if parameters.output_channels else _NO_OUTPUTS
        self.snapshots: Any = self._snapshots()
        self.ending: Any = self._ending(several=len(parameters.gate_channels) > 1)
        self.sink: Any = self._sink() if parameters.holds_transactions else None
        handler = None
        if channels:
            handler = cores.handler(
                HandlerKind.ALIGNED,
                channels,
                gates=len(parameters.gate_channels),
                after_finish=True,
            )
        events = Events()
        self.control = TaskControl(
            self,
            TaskCores(
                handler=handler,
                subtask=cores.subtask(),
                lifecycle=lifecycle,
                chain=parameters.chain,
            ),
            writer=ChannelStateHost(cores.channel_state([0]), _NO_CHANNEL_STATE, events),
            events=events,
            clock=self,
            reach=_reach,
        )

    def _outputs(self) -> _Part:
        """Return the outputs, which note everything that leaves."""

        def barrier(sent: Barrier) -> int:
            self.act("emit_barrier", id=sent.checkpoint)
            return 0

        def event(sent: NetworkEvent) -> None:
            match sent:
                case CancellationMarker(checkpoint):
                    self.act("emit_cancel_marker", id=checkpoint)
                case EndOfData(drain):
                    mode = StopMode.DRAIN if drain else StopMode.NO_DRAIN
                    self.act("emit_end_of_data", stop_mode=mode.name)
                case _:
                    raise AssertionError(f"a task sends no {sent!r}")

        finish = partial(self.act, "emit_end_of_partition")
        return _Part(broadcast_barrier=barrier, broadcast=event, finish=finish)

    def _snapshots(self) -> _Part:
        """Return the state of the task: nothing, copied and stored at once."""
        # With figures that vectors do not ask for.
        part = SimpleNamespace(start_delay_ns=0, unaligned=False)
        return _Part(
            part_of=lambda _: part,
            capture=lambda flags, captured: captured(flags.checkpoint_id),
            store=lambda checkpoint, stored: stored(checkpoint, failed=False),
            decline=lambda checkpoint, _: self.act("decline_checkpoint", id=checkpoint),
        )

    def _ending(self, *, several: bool) -> _Part:
        """Return the end of the task, which notes calls and states."""

        def changed(state: TaskState, operator: OperatorState | None) -> None:
            said = {} if operator is None else {"operator": operator.name}
            self.entries.append({"state": state.name} | said)

        def gate_ended(gate: int) -> None:
            if several:  # of the last call, which of the inputs has ended
                self.entries[-1]["input"] = gate + 1

        def tell(what: str, checkpoint: int) -> None:
            if what == "notify":
                self._notified = checkpoint

        return _Part(
            has_writes=False,
            state_changed=changed,
            finish_source=partial(self.act, "finish_task"),
            call=self._called,
            gate_ended=gate_ended,
            tell=tell,
            emit_max_watermark=partial(self.act, "emit_max_watermark"),
            decline_closing=lambda checkpoint: self.act("decline_checkpoint", id=checkpoint),
            fail=lambda reason: self.act("fail_task", reason=reason),
            is_stop=lambda checkpoint: checkpoint in self.stops,
            break_down=lambda violated, story: self.act(
                "break_down", violated=violated, story=story
            ),
        )

    def _called(self, what: str, operator: int) -> None:
        """Note a call of an operator. All of them advance together."""
        if what == "advance":
            if operator == 0:
                self.act("advance_to_max_watermark")
            return
        action = {"end_input": "end_input", "finish": "finish_operator", "close": "close_operator"}
        self.act(action[what], **({"op": operator} if self._chained else {}))

    def _sink(self) -> _Part:
        """Return the transactions, all noted. Vectors have no words for the ones of a recovery."""
        return _Part(
            precommit=lambda checkpoint, **_: self.act("precommit_transaction", id=checkpoint),
            commit=lambda checkpoints: self.act(
                "commit_transactions", upto=self._notified, ids=list(checkpoints)
            ),
            abort=lambda transactions: self.act("abort_transactions", ids=list(transactions)),
            leave=lambda checkpoints: self.act("lingering_transactions", ids=list(checkpoints)),
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
        return _Part()

    def spend_on_barrier(self, function: Callable[..., object], /, *arguments: Any) -> None:
        """Spend no time."""
        function(*arguments)


def _no_file(checkpoint: int, _size: int, _stored: FileStored) -> None:
    """Refuse the file of channel state that an aligned task never writes: nothing is in flight."""
    raise AssertionError(f"an aligned task stores channel state of {checkpoint}")


_NO_OUTPUTS = _Part(broadcast_barrier=lambda _: 0)
_NO_CHANNEL_STATE: Any = _Part(store=_no_file)


def _reach(situation: str) -> None:
    """Count nothing: a script names its rare situations."""
    del situation
