"""Vectors of suite `final_checkpoint`: the end of life of one task, event by event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ckptsim.models.core import Core
from ckptsim.models.lifecycle import StopMode, TaskKind, TaskLifecycle, TaskParameters, Variant
from ckptsim.models.lifecycle import effects as do
from ckptsim.models.lifecycle import events as on
from ckptsim.sim.conform.runner import Mismatch, Vector
from ckptsim.sim.conform.vocabulary import VocabularyError
from ckptsim.sim.slots import Factory

LifecycleCore = Core[on.Event, do.Effect]
Entry = dict[str, Any]


class FinalCheckpointAdapter:
    """Drives one task; a vector without a variant must hold under both."""

    def slot(self, vector: Vector) -> str | None:
        """Name the lifecycle of a task."""
        del vector
        return "lifecycle"

    def skip_reason(self, vector: Vector, mutant: str | None) -> str | None:
        """Skip nothing."""
        del vector, mutant
        return None

    def run(self, vector: Vector, make: Factory | None) -> Mismatch | None:
        """Run the script under each variant that it speaks for; return the first mismatch."""
        _check_entries(vector)
        named = vector.get("variant")
        variants = list(Variant) if named is None else [Variant(named)]
        for variant in variants:
            core = (make or TaskLifecycle)(_parameters(vector, variant))
            mismatch = _compare(vector, core, variant)
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


def _compare(vector: Vector, core: LifecycleCore, variant: Variant) -> Mismatch | None:
    """Compare step by step: actions in order, states in order, their places apart."""
    several = len(vector.get("config", {}).get("gates", [])) > 1
    chained = vector.get("config", {}).get("chain", 1) > 1
    for number, step in enumerate(vector["steps"]):
        expected = [_plain(entry) for entry in vector["expect"] if entry["step"] == number]
        effects = core.step(_event(step))
        raw = "channel" in step
        found = [
            entry
            for effect in effects
            if (entry := _entry(effect, several=several, chained=chained, raw=raw)) is not None
        ]
        for part in ("action", "state"):
            wanted = [entry for entry in expected if part in entry]
            got = [_as_asked(entry, wanted, part) for entry in found if part in entry]
            if wanted != got:
                where = f"step {number} ({step['event']}, variant {variant.value})"
                return Mismatch(where, repr(wanted), repr(got))
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
        gates=gates,
        output_channels=config.get("out_channels", 1),
        chain=config.get("chain", 1),
        checkpointing=config.get("checkpointing", True),
        checkpoints_after_finish=config.get("checkpoints_after_finish", True),
        restored_from=config.get("restored_from"),
        finished_on_restore=config.get("finished_on_restore", False),
        sink_opens_after_finish=None if sink is None else sink["tx_after_finish"],
    )


_EVENTS: dict[str, Callable[[Entry], on.Event]] = {
    "start": lambda _: on.Started(),
    "no_more_records": lambda _: on.InputExhausted(),
    "savepoint_trigger": lambda s: on.StopWithSavepointTriggered(s["id"], s["drain"]),
    "trigger_checkpoint": lambda s: on.CheckpointTriggered(s["id"], "savepoint" in s),
    "aligned_max_watermark": lambda _: on.MaxWatermarkAligned(),
    "aligned_end_of_data": lambda s: on.EndOfDataAligned(StopMode[s["stop_mode"]]),
    "barriers_aligned": lambda s: on.BarriersAligned(s["id"], "savepoint" in s),
    "max_watermark": lambda s: on.MaxWatermarkReceived(s["channel"]),
    "end_of_data": lambda s: on.EndOfDataReceived(s["channel"], StopMode[s["stop_mode"]]),
    "barrier": lambda s: on.BarrierReceived(s["channel"], s["id"], "savepoint" in s),
    "checkpoint_complete": lambda s: on.CheckpointCompleted(s["id"]),
    "checkpoint_aborted": lambda s: on.CheckpointAborted(s["id"], s.get("latest_completed")),
    "downstream_ack_end_of_data": lambda s: on.EndOfDataAcknowledged(s["channel"]),
    "end_of_partition": lambda s: on.EndOfPartitionReceived(s["channel"]),
}


def _event(step: Entry) -> on.Event:
    return _EVENTS[step["event"]](step)


def _entry(effect: do.Effect, *, several: bool, chained: bool, raw: bool) -> Entry | None:  # noqa: PLR0911, C901, PLR0912 - one branch per effect
    """Write an effect in the vocabulary of the vectors; None for one that has no word there."""
    match effect:
        case do.StateChanged(state, operator):
            entry: Entry = {"state": state.name}
            return entry if operator is None else entry | {"operator": operator.name}
        case do.EndInput(operator, gate):
            entry = {"action": "end_input"}
            if several and gate is not None:
                entry["input"] = gate + 1
            return entry | ({"op": operator} if chained else {})
        case do.FinishOperator(operator):
            return {"action": "finish_operator"} | ({"op": operator} if chained else {})
        case do.CloseOperator(operator):
            return {"action": "close_operator"} | ({"op": operator} if chained else {})
        case do.EmitEndOfData(stop_mode):
            return {"action": "emit_end_of_data", "stop_mode": stop_mode.name}
        case do.EmitBarrier(checkpoint_id):
            return {"action": "emit_barrier", "id": checkpoint_id}
        case do.EmitCancelMarker(checkpoint_id):
            return {"action": "emit_cancel_marker", "id": checkpoint_id}
        case do.DeclineCheckpoint(checkpoint_id):
            return {"action": "decline_checkpoint", "id": checkpoint_id}
        case do.AcknowledgeEndOfData(channel):
            return {"action": "acknowledge_end_of_data", "channel": channel} if raw else None
        case do.PrecommitTransaction(checkpoint_id):
            return {"action": "precommit_transaction", "id": checkpoint_id}
        case do.CommitTransactions(up_to, ids):
            return {"action": "commit_transactions", "upto": up_to, "ids": list(ids)}
        case do.AbortTransactions(ids):
            return {"action": "abort_transactions", "ids": list(ids)}
        case do.LeaveTransactions(ids):
            return {"action": "lingering_transactions", "ids": list(ids)}
        case do.FailTask(reason):
            return {"action": "fail_task", "reason": reason}
        case do.TakeSnapshot() | do.RecoverAndCommit() | do.RecoverAndAbort():
            return None
        case _:
            return {"action": _PLAIN_ACTIONS[type(effect)]}


_PLAIN_ACTIONS: dict[type, str] = {
    do.FinishTask: "finish_task",
    do.AdvanceToMaxWatermark: "advance_to_max_watermark",
    do.EmitMaxWatermark: "emit_max_watermark",
    do.EmitEndOfPartition: "emit_end_of_partition",
}

ADAPTER = FinalCheckpointAdapter()
