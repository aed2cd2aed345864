"""What is drawn: every option of a model and of its faults, or it is said here why it is not."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

import pytest

from ckptsim.scenarios.generators import GENERATORS, Choices
from ckptsim.sim.kernel import Streams

_SEED = 5
_DRAWN = 2_500
_OF_JOBS = ("barriers", "barrier_protocol", "final_checkpoint")
_WRONG = "an alternative that loses or repeats records: a scenario of the library shows it"
_ELSEWHERE = "the generators of jobs draw it; what it loses would be lost to the store as well"
_UNCOORDINATED = "a pipeline commits at the notification of a checkpoint of the whole job"
_UNDRAWN: dict[str, dict[str, str]] = {
    "ordering": {
        "SourceTable.missing_state": _WRONG,
        "SyncModel.outcome": "random syncs complete",
    },
    "jobs": {
        "ChannelState.offset_loss_ratio": "a task that closes can wait for an offset for ever",
        "Ending.acknowledgements": _WRONG,
        "Vertex.keeps_position": "a source that forgets what it has read doubles records",
    },
    "checkpoint_store": {
        "Rebootstrap.wipe": _WRONG,
        "StoreInput.synthesise": _WRONG,
        "StoreSync.hooked": _WRONG,
        "StoreSync.order": _WRONG,
        "StoreSync.reset": _WRONG,
        "StoreSync.upsert": _WRONG,
    },
    "composed": {
        "Channels.preloaded_records": "only chains of single subtasks can have a backlog",
        "Checkpointing.after_finish": "refused: the sink commits with checkpoints",
        "Checkpointing.count": "a pipeline ends with its sync",
        "Checkpointing.enabled": "without checkpoints a pipeline commits nothing, and is refused",
        "Checkpointing.message_logs": _UNCOORDINATED,
        "Checkpointing.protocol": _UNCOORDINATED,
        "Checkpointing.recover_without_channel_state": _ELSEWHERE,
        "Costs.carry_index_ns": _UNCOORDINATED,
        "Costs.log_message_ns": _UNCOORDINATED,
        "Costs.transaction_timeout_ns": _ELSEWHERE,
        "Pipeline.outcome": "random pipelines complete",
        "SourceTable.checkpoint_lock": _WRONG,
        "SourceTable.checkpoint_ns": "read without the lock only",
        "SourceTable.keys_on_stdio": "a pipeline has sockets",
        "SourceTable.missing_state": _WRONG,
        "SourceTable.repeat_states": "a pipeline has sockets",
        "StepCosts.replay_row_ns": "a pipeline keeps no mirror",
        "Storage.read_bytes_per_s": "read where a recovery takes its time",
        "Store.hooked": _WRONG,
        "Store.order": _WRONG,
        "Store.own_flush_ns": "read where the store is not hooked only",
        "Store.reset": _WRONG,
        "StreamTable.reject_every": "a pipeline rejects no records",
    },
}


def _default(option: Field[Any]) -> Any:
    return option.default if option.default_factory is MISSING else option.default_factory()


def _note(model: Any, changed: dict[str, bool]) -> None:
    """Note of every option below a table whether it is not at its default."""
    for option in fields(model):
        value = getattr(model, option.name)
        name = f"{type(model).__name__}.{option.name}"
        changed[name] = changed.get(name, False) or value != _default(option)
        for part in value if isinstance(value, tuple) else (value,):
            if is_dataclass(part):
                _note(part, changed)


@pytest.mark.parametrize("what", _UNDRAWN)
def test_every_option_is_drawn_or_it_is_said_why_not(what: str) -> None:
    """Among random scenarios every option is changed at least once, but for those named here."""
    changed: dict[str, bool] = {}
    for link in _OF_JOBS if what == "jobs" else (what,):
        streams = Streams(_SEED)
        for number in range(_DRAWN):
            more = streams.stream("choices", number).integer
            scenario = GENERATORS[link](Choices((), more))
            _note(scenario.model, changed)
            for fault in scenario.faults:
                _note(fault, changed)
    assert {name for name, is_changed in changed.items() if not is_changed} == set(_UNDRAWN[what])
