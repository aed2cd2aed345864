"""All that is drawn.

Every option of a model and of its faults, or it is said here why it is not.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from typing import Any

import pytest

from ckptsim.scenarios.generators import GENERATORS, Choices
from ckptsim.scenarios.store import Generation
from ckptsim.sim.kernel import Streams

_SEED = 5
_DRAWN = 2_500
_OF_JOBS = ("barriers", "barrier_protocol", "final_checkpoint")
_WRONG = "an alternative that loses or repeats records: a scenario of the library shows it"
_ELSEWHERE = "the generators of jobs draw it; what it loses would be lost to the store as well"
_LEGACY = "`tests/job/records/ends/test_legacy.py` makes the sources of drawn jobs legacy ones"
_REFUSED = "means nothing in a pipeline, and is refused"
_COPIES = "a pipeline has each record once, and refuses it"
_DESIGN = "it compares designs that do not keep every promise, in plan `ordering_designs`"
_COMPLETE = "what is drawn completes"
_TIMES = "it changes how long files take and nothing else: `state_bytes` and `write` stand for it"
_OF_STATE = (
    "Checkpointing.interval_during_backlog_ns",
    "StateTable.backend=rocksdb",
    "StateTable.changelog",
    "StateTable.claim=claim",
    "StateTable.claim=legacy",
    "StateTable.local_recovery",
    "StateTable.materialization_interval_ns",
    "StateTable.persisted_bytes",
    "StateTable.savepoint_format=native",
    "Storage.delete_latency_ns",
    "Storage.file_merging",
    "Storage.file_merging_across",
    "Storage.file_merging_bytes",
    "Storage.host_transfers",
    "Storage.list_latency_ns",
    "Storage.open_latency_ns",
    "Storage.prefixes",
    "Storage.read_host_bytes_per_s",
    "Storage.read_job_bytes_per_s",
    "Storage.requests_per_s",
    "Storage.retries",
    "Storage.retry_backoff_ns",
    "Storage.throttling=retry",
    "Storage.transfer_threads",
    "Storage.write_host_bytes_per_s",
    "Vertex.hot_keys",
    "Vertex.hot_share",
    "Vertex.keys",
    "Vertex.startup_ns",
    "Vertex.state_delta_bytes",
    "Vertex.updates_per_s",
    "Vertex.value_bytes",
)
_INSTANTS = "an instant of the run can be in any attempt"
_OF_ATTEMPTS = ("attempt", "every_attempt", "after_ns")
# Options, or single values of those that name one of several.
_UNDRAWN: dict[str, dict[str, str]] = {
    "ordering": {
        "DestinationTable.design=arrival": _DESIGN,
        "DestinationTable.design=ranges": _DESIGN,
        "DestinationTable.levels=disjoint": "a fault of the host, which the core refuses",
        "SourceTable.disorder": _DESIGN,
        "SourceTable.missing_state=finished": _WRONG,
    },
    "jobs": {
        "ChannelState.offset_loss_ratio": "a task that closes can wait for an offset for ever",
        "ChannelState.replay_from=buffer_sizes": _WRONG,
        "ChannelState.replay_from=log_start": _WRONG,
        "ChannelState.subtask_indices=permuted": _WRONG,
        "Ending.acknowledgements": _WRONG,
        "Job.engine=compiled": "`auto` takes it wherever it can be; elsewhere it is refused",
        "Job.profile=rig": "its constants are those of one machine",
        "Job.skip=always": "its figures are not those of the whole run, which others compare",
        "Job.skip=never": "`auto` does the same in runs as short as these",
        "Recovery.failover=full": "regions are the default; jobs of one have both",
        **dict.fromkeys(_OF_STATE, _TIMES),
        **{
            f"{kind}.{one}": _INSTANTS
            for kind in ("CrashTask", "CrashTaskManager", "CrashJobManager", "StallTask")
            for one in _OF_ATTEMPTS
        },
        "Vertex.after_cancel_records": _LEGACY,
        "Vertex.kind=legacy": _LEGACY,
        "Vertex.stopped_by=suspend": _WRONG,
        "Vertex.keeps_position": "a source that forgets what it has read doubles records",
    },
    "checkpoint_store": {
        "CrashAt.loses=built_in": "nothing is lost with it alone but by a wrong interface",
        **{f"StoreModel.generation={one}": _WRONG for one in list(Generation)[1:]},
        "Rebootstrap.wipe": _WRONG,
        "StoreInput.synthesise": _WRONG,
        "StoreSync.order=checkpoint_first": _WRONG,
        "StoreSync.reset=latest": _WRONG,
        "StoreSync.upsert=first_wins": _WRONG,
    },
    "composed": {
        "Channels.buffer_sizes=debloated": _REFUSED,
        "Channels.buffer_sizes=flushed": _REFUSED,
        "Channels.preloaded_records": _REFUSED,
        "Checkpointing.after_finish": _REFUSED,
        "Checkpointing.count": _REFUSED,
        "Checkpointing.enabled": _REFUSED,
        "Checkpointing.interval_during_backlog_ns": _REFUSED,
        "Checkpointing.message_logs": _REFUSED,
        "Checkpointing.protocol=communication_induced": _REFUSED,
        "Checkpointing.protocol=uncoordinated": _REFUSED,
        "Checkpointing.recover_without_channel_state": _ELSEWHERE,
        "Costs.carry_index_ns": _REFUSED,
        "Costs.log_message_ns": _REFUSED,
        "Costs.read_record_ns": _REFUSED,
        "Costs.transaction_timeout_ns": _ELSEWHERE,
        "LoseStore.what=both": _WRONG,
        "LoseStore.what=data": _WRONG,
        "Pipeline.outcome=any": _COMPLETE,
        "Pipeline.profile=rig": "its constants are those of one machine",
        "Pipeline.placement=map": "stages name no task managers",
        "PlatformTable.count_check=reject": _REFUSED,
        "Sink.partitioner=broadcast": _COPIES,
        "SourceTable.checkpoint_lock=unlocked": _WRONG,
        "SourceTable.checkpoint_ns": "read without the lock only",
        "SourceTable.disorder": _REFUSED,
        "SourceTable.generate_ns": "the generator of syncs draws it, and the source is the same",
        "SourceTable.keys_on_stdio": _REFUSED,
        "SourceTable.missing_state=finished": _WRONG,
        "SourceTable.repeat_states": _REFUSED,
        "Stage.partitioner=broadcast": _COPIES,
        "StepCosts.autocommit_ns": _REFUSED,
        "StepCosts.replay_row_ns": _REFUSED,
        **{one: _TIMES for one in _OF_STATE if one.startswith("Storage.")},
        **{
            f"{kind}.{one}": _INSTANTS
            for kind in ("CrashTask", "StallTask")
            for one in _OF_ATTEMPTS
        },
        "Storage.read_bytes_per_s": "read where a recovery takes its time",
        "Store.hooked": _WRONG,
        "Store.order=checkpoint_first": _WRONG,
        "Store.own_flush_ns": "read where the store is not hooked only",
        "Store.reset=latest": _WRONG,
        "StreamTable.reject_every": _REFUSED,
    },
}


def _default(option: Field[Any]) -> Any:
    return option.default if option.default_factory is MISSING else option.default_factory()


def _note(model: Any, changed: dict[str, bool]) -> None:
    """Note of every option below a table whether it is not at its default. Of names, which."""
    for option in fields(model):
        value = getattr(model, option.name)
        name = f"{type(model).__name__}.{option.name}"
        if isinstance(value, Enum):
            drawn = {f"{name}={each}": each is value for each in type(value)}
        else:
            drawn = {name: value != _default(option)}
        for each, is_drawn in drawn.items():
            changed[each] = changed.get(each, False) or is_drawn
        for part in value if isinstance(value, tuple) else (value,):
            if is_dataclass(part):
                _note(part, changed)


@pytest.mark.parametrize("what", _UNDRAWN)
def test_every_option_is_drawn_or_it_is_said_why_not(what: str) -> None:
    """Among random scenarios every option is changed at least once, except for those named here."""
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
