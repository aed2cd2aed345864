"""Vectors of suite `final_checkpoint`: the end of life of one task, event by event.

A script goes through the control that simulated tasks have: barrier handler, checkpoints of the
subtask and lifecycle, each carried out by its host.
"""

from __future__ import annotations

from ckptsim.models.barriers import EndOfData
from ckptsim.models.lifecycle import StopMode, TaskKind, TaskParameters, Variant
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.sim.conform.runner import Adapter, Mismatch, Vector, compare
from ckptsim.sim.conform.scripted_task import Entry, ScriptedTask
from ckptsim.sim.conform.vocabulary import VocabularyError
from ckptsim.sim.slots import OURS, Factory, ProtocolCores


def run(vector: Vector, make: Factory | None, *, cores: ProtocolCores = OURS) -> Mismatch | None:
    """Run the script under each variant that it speaks for. Return the first mismatch.

    A vector without a variant must hold under both.  cores: what the task is made of besides its
    lifecycle.
    """
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
    """Refuse an expected entry that no step would be compared with."""
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
    """Leave out the operators' status where no entry of the step speaks of it."""
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
