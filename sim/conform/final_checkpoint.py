"""Vectors of suite `final_checkpoint`: the end of life of one task, event by event.

A script goes through the control that simulated tasks have: barrier handler, checkpoints of the
subtask and lifecycle, each carried out by its host.

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
    Variant,
)
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.sim.conform.runner import Adapter, Mismatch, Vector, compare
from ckptsim.sim.conform.vocabulary import VocabularyError
from ckptsim.sim.job.control.task import TaskControl, TaskCores
from ckptsim.sim.job.control.task.channel_state import ChannelStateHost
from ckptsim.sim.job.events import Events
from ckptsim.sim.job.port import FileStored
from ckptsim.sim.slots import OURS, Factory, ProtocolCores
from ckptsim.sim.slots.protocols import Lifecycle

Entry = dict[str, Any]


class _Part:
    """A part of the task: what some of its calls do, by name. All others do nothing."""

    def __init__(self, **calls: Any) -> None:
        vars(self).update(calls)

    def __getattr__(self, _name: str) -> Callable[..., tuple[()]]:
        return lambda *_, **__: ()


class ScriptedTask:
    """One task. `entries`: what it has done. stops: checkpoints that are savepoints of a stop."""

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
        # With figures that vectors do not ask for.
        part = SimpleNamespace(start_delay_ns=0, unaligned=False)
        return _Part(
            part_of=lambda _: part,
            capture=lambda flags, captured: captured(flags.checkpoint_id),
            store=lambda checkpoint, stored: stored(checkpoint, failed=False),
            decline=lambda checkpoint, _: self.act("decline_checkpoint", id=checkpoint),
        )

    def _ending(self, *, several: bool) -> _Part:

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
    del situation


def run(vector: Vector, make: Factory | None, *, cores: ProtocolCores = OURS) -> Mismatch | None:
    """Run the script under each of its variants, and return the first mismatch."""
    _check_entries(vector)
    named = vector.get("variant")
    variants = list(Variant) if named is None else [Variant(named)]
    for variant in variants:
        parameters = _parameters(vector, variant)
        lifecycle = (make or cores.lifecycle)(parameters)
        task = ScriptedTask(parameters, lifecycle, cores)
        mismatch = _compare(vector, task, variant)
        if mismatch is not None:
            return mismatch
    return None


def _check_entries(vector: Vector) -> None:
    for entry in vector["expect"]:
        if entry.get("step") not in range(len(vector["steps"])):
            raise VocabularyError(f"expect: found {entry!r}, expected the index of a step in it")
        if ("action" in entry) == ("state" in entry):
            raise VocabularyError(f"expect: found {entry!r}, expected an action or a state in it")


def _compare(vector: Vector, task: ScriptedTask, variant: Variant) -> Mismatch | None:
    """Compare step by step: actions in order, states in order, their places apart."""
    for number, step in enumerate(vector["steps"]):
        expected = [_plain(entry) for entry in vector["expect"] if entry["step"] == number]
        task.entries.clear()
        _take(task, step)
        for part in ("action", "state"):
            wanted = [entry for entry in expected if part in entry]
            got = [_as_asked(entry, wanted, part) for entry in task.entries if part in entry]
            where = f"step {number} ({step['event']}, variant {variant.value})"
            mismatch = compare(where, wanted, got)
            if mismatch is not None:
                return mismatch
    return None


def _plain(entry: Entry) -> Entry:
    return {key: value for key, value in entry.items() if key != "step"}


def _as_asked(entry: Entry, wanted: list[Entry], part: str) -> Entry:
    if part == "state" and not any("operator" in other for other in wanted):
        return {"state": entry["state"]}
    return entry


def _parameters(vector: Vector, variant: Variant) -> TaskParameters:
    config = vector.get("config") or {}
    source = vector["task"] == "source"
    gates = () if source else tuple(config.get("gates", [config.get("in_channels", 1)]))
    sink = config.get("sink")
    return TaskParameters(
        kind=TaskKind.SOURCE if source else TaskKind.NON_SOURCE,
        variant=variant,
        gate_channels=gates,
        output_channels=config.get("out_channels", 1),
        chain=config.get("chain", 1),
        checkpointing=config.get("checkpointing", True),
        checkpoints_after_finish=config.get("checkpoints_after_finish", True),
        restored_from=config.get("restored_from"),
        finished_on_restore=config.get("finished_on_restore", False),
        sink_opens_after_finish=None if sink is None else sink["tx_after_finish"],
    )


def _take(task: ScriptedTask, step: Entry) -> None:
    """Let the task take a step. One that has failed is not there, and a closed one has no inputs.

    A derived event represents the same one from every channel. What it acknowledges is not listed.
    """
    if task.has_failed:
        return
    if step["event"] in _INPUTS:
        if not task.has_closed:
            _take_input(task, step)
        if step["event"] == "aligned_end_of_data":
            acknowledged = {"action": "acknowledge_end_of_data"}
            task.entries[:] = [e for e in task.entries if not acknowledged.items() <= e.items()]
        return
    control = task.control
    match step["event"]:
        case "start":
            control.lifecycle.step(lifecycle_events.Started())
        case "no_more_records":
            control.exhausted()
        case "savepoint_trigger":
            task.stops.add(step["id"])
            task.trigger(step["id"], StopMode.DRAIN if step["drain"] else StopMode.NO_DRAIN)
        case "trigger_checkpoint":
            task.stops |= {step["id"]} if "savepoint" in step else set()
            task.trigger(step["id"])
        case "checkpoint_complete":
            control.notify_complete(step["id"])
        case "checkpoint_aborted":
            control.notify_aborted(step["id"], step.get("latest_completed"))
        case "downstream_ack_end_of_data":
            control.end_of_data_acknowledged(step["channel"])
        case event:
            raise VocabularyError(f"event: found {event!r}, which the suite does not have")


_INPUTS = (
    "aligned_max_watermark",
    "aligned_end_of_data",
    "barriers_aligned",
    "max_watermark",
    "end_of_data",
    "barrier",
    "end_of_partition",
)


def _take_input(task: ScriptedTask, step: Entry) -> None:
    """Let the task take something from one channel, or from all that have not ended."""
    control = task.control
    open_channels = [c for c in range(len(task.inputs)) if c not in control.ended_channels]
    channels = [step["channel"]] if "channel" in step else open_channels
    task.stops |= {step["id"]} if "savepoint" in step else set()
    for channel in channels:
        match step["event"]:
            case "aligned_max_watermark" | "max_watermark":
                control.max_watermark(channel)
            case "aligned_end_of_data" | "end_of_data":
                drain = StopMode[step["stop_mode"]] is StopMode.DRAIN
                control.end_of_data(channel, EndOfData(drain=drain))
            case "barriers_aligned" | "barrier":
                task.barrier(channel, step["id"])
            case _:
                control.end_of_partition(channel)


ADAPTER = Adapter(run=run, slot=lambda _vector: "lifecycle")
