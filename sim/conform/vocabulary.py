"""The words of the vectors: what a vector and its steps must say, and the check that they do.

A line of fields is text: `channel:int seq:int? opt` wants a whole number `channel`, allows a whole
number or null as `seq`, and wants an `opt` of any type.  `order=data_first|checkpoint_first` lists
the values.  A field that is not named here is let pass: vectors carry remarks.  Where an unnamed
word would go unnoticed, as a setting or an expectation, the names are closed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ckptsim.models.barriers.barrier import OptionKind
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.recovery.mapping import Mapper, Partitioner

_TYPES: dict[str, type] = {"int": int, "bool": bool, "text": str, "list": list, "object": dict}


class VocabularyError(ValueError):
    """A vector says something that its suite has no word for; the text names place and words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of one suite, or of one kind of vector in it.

    head: the fields of a vector.  name: the field of a step that names it; None where all steps
    are alike.  steps: the fields of each step by that name; empty where there are no steps.
    closed: the fields that an object of the vector may have, by the object's name.  paired:
    `expect` has one entry for each step.
    """

    head: str
    name: str | None = None
    steps: Mapping[str, str] = field(default_factory=dict)
    closed: Mapping[str, str] = field(default_factory=dict)
    paired: bool = False


def check(vector: Mapping[str, Any]) -> None:
    """Raise VocabularyError at the first thing that the vector's suite has no word for."""
    words = _words(vector)
    _check_fields("", vector, words.head)
    for name, allowed in words.closed.items():
        _check_closed(name, vector.get(name), allowed)
    if words.paired and len(vector["steps"]) != len(vector["expect"]):
        steps, expect = len(vector["steps"]), len(vector["expect"])
        raise VocabularyError(f"found {expect} entries in expect, expected {steps}, one a step")
    if words.steps:
        for number, step in enumerate(vector["steps"]):
            _check_step(f"step {number}: ", step, words)


def _words(vector: Mapping[str, Any]) -> Words:
    found = WORDS[vector["suite"]]
    if isinstance(found, Words):
        return found
    kind = vector.get("kind")
    if kind not in found:
        raise VocabularyError(f"found kind {kind!r}, expected one of {', '.join(found)}")
    return found[kind]


def _check_step(where: str, step: object, words: Words) -> None:
    if not isinstance(step, dict):
        raise VocabularyError(f"{where}found {step!r}, expected an object")
    name = "" if words.name is None else str(step.get(words.name))
    if name not in words.steps:
        expected = ", ".join(words.steps)
        raise VocabularyError(f"{where}found {words.name} {name!r}, expected one of {expected}")
    _check_fields(where, step, words.steps[name])


def _check_fields(where: str, said: Mapping[str, Any], line: str) -> None:
    for name, kind, options, optional in _fields(line):
        value = said.get(name)
        if value is None and (optional or (name in said and not kind)):
            continue
        if name not in said:
            raise VocabularyError(f"{where}found no {name}, expected {kind or 'one'}")
        if kind and not _is(value, kind):
            raise VocabularyError(f"{where}found {name} {value!r}, expected {kind}")
        if options and value not in options:
            expected = ", ".join(options)
            raise VocabularyError(f"{where}found {name} {value!r}, expected one of {expected}")


def _check_closed(name: str, said: object, allowed: str) -> None:
    for each in said if isinstance(said, list) else [said]:
        unknown = sorted(set(each or ()) - set(allowed.split())) if isinstance(each, dict) else []
        if unknown:
            raise VocabularyError(
                f"{name}: found {', '.join(unknown)}, expected only {', '.join(allowed.split())}"
            )


def _fields(line: str) -> Iterator[tuple[str, str, list[str], bool]]:
    """Yield the name, type, values and whether it may be missing, of each field of a line."""
    for word in line.split():
        named, _, values = word.rstrip("?").partition("=")
        name, _, kind = named.partition(":")
        yield name, kind, values.split("|") if values else [], word.endswith("?")


def _one_of(name: str, values: Iterable[str]) -> str:
    return f"{name}={'|'.join(values)}"


def _is(value: object, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "bool" or not isinstance(value, bool))


_OPT = _one_of("opt", (kind.name.lower() for kind in OptionKind))
_BARRIER = f"channel:int checkpoint:int {_OPT} ts:int timeout_ms:int?"
_BARRIERS = Words(
    head="handler=aligned|alternating|unaligned|tracker channels:int checkpoints_after_finish:bool "
    "timers=auto|manual|sticky timeout_ms:int? gates:list? steps:list expect:list",
    name="event",
    steps={
        "data": "channel:int bytes:int",
        "barrier": _BARRIER,
        "rpc_barrier": _BARRIER,
        "announce": f"{_BARRIER} seq:int",
        "cancel": "channel:int checkpoint:int",
        "eop": "channel:int",
        "eod": "channel:int",
        "advance": "t_ms:int",
        "fire_timers": "",
        "close": "",
    },
    paired=True,
)
_CHANNEL_STATE = Words(
    head="handler=input-channel|output-subpartition steps:list expect:list",
    name="event",
    steps={
        "data": "id seq:int?",
        "barrier": f"checkpoint:int {_OPT}",
        "eop": "",
        "poll": "",
        "resume": "",
        "started": "checkpoint:int",
        "stopped": "checkpoint:int",
        "to_priority": "seq:int",
        "aligned_timeout": "checkpoint:int",
        "abort": "checkpoint:int",
    },
    paired=True,
)
_SITUATION = (
    "now_ms:int is_triggering:bool pending_before:int last_completion_ms:int "
    "execute:int? queued_after:int effects:list"
)
_COORDINATOR = {
    "debloater": Words(
        head="target_ms:int max:int min:int threshold_pct:int samples:int steps:list",
        steps={
            "": "throughput_bytes_per_s:int buffers_in_use:int announce:int? "
            "last_buffer_size:int estimated_consume_ms:int"
        },
    ),
    "request_decider": Words(
        head="max_concurrent:int max_queued:int min_pause_ms:int steps:list",
        name="op",
        steps={
            "submit": f"request:int request_kind:text forced:bool periodic:bool {_SITUATION}",
            "complete": _SITUATION,
        },
    ),
    "failure_reason": Words(
        head=_one_of("reason", FailureReason)
        + " preflight:bool counts_as_failure:bool same_id_counted_twice:bool "
        "counter_after_two_ids:int counter_after_success:int",
    ),
}
_RESCALE = {
    "old_subtasks": Words(
        head=_one_of("mapper", (each.value for each in Mapper))
        + " old:int new:int old_of_new:list",
    ),
    "key_group_ranges": Words(head="max_parallelism:int parallelism:int ranges:list"),
    "key_group": Words(
        head="key_type=int|string key java_hash:int murmur:int",
    ),
    "default_max_parallelism": Words(head="of_parallelism:object"),
    "partitioner": Words(
        head=_one_of("partitioner", (each.value for each in Partitioner))
        + " upstream_mapper:text downstream_mapper:text",
    ),
}
_FINAL_CHECKPOINT = Words(
    head="task=source|nonsource variant=flip|flink? config:object? steps:list expect:list",
    name="event",
    steps={
        "start": "",
        "no_more_records": "",
        "savepoint_trigger": "id:int drain:bool",
        "trigger_checkpoint": "id:int raw:bool? savepoint=drain|no_drain?",
        "aligned_max_watermark": "",
        "aligned_end_of_data": "stop_mode=DRAIN|NO_DRAIN",
        "barriers_aligned": "id:int savepoint=drain|no_drain?",
        "max_watermark": "channel:int",
        "end_of_data": "channel:int stop_mode=DRAIN|NO_DRAIN",
        "barrier": "channel:int id:int savepoint=drain|no_drain?",
        "checkpoint_complete": "id:int",
        "checkpoint_aborted": "id:int latest_completed:int?",
        "downstream_ack_end_of_data": "channel:int",
        "end_of_partition": "channel:int",
    },
    closed={
        "config": "in_channels gates out_channels chain checkpointing checkpoints_after_finish "
        "restored_from finished_on_restore sink",
        "expect": "step action state operator id stop_mode channel input op upto ids reason",
    },
)
_VERTEX = (
    "id parallelism finished states union_state reported_operators_finished finished_on_restore"
)
_CHECKPOINT_PLAN = {
    "plan": Words(
        head="vertices:list edges:list expect:object",
        closed={"config": "checkpoints_after_finish", "vertices": _VERTEX},
    ),
    "finalize": Words(head="vertices:list expect:object", closed={"vertices": _VERTEX}),
    "restore": Words(head="operator_states:object edges:list expect:object"),
}
_CHECKPOINT_STORE = Words(
    head="placement=external|colocated|consumer_group_blob steps:list expect:object",
    name="op",
    steps={
        "config": "sync_bytes:int? order=data_first|checkpoint_first? sync_hook:bool? "
        "durability=on_sync|per_record? mirror:bool? store? reset=earliest|latest? dicts:object? "
        "dict_server=up|down?",
        "register": "topic:text partitions:int",
        "produce": "tp:text n:int? keys:int? size:int? recs:list?",
        "compact": "tp:text",
        "set": "tp:text size:int?",
        "get": "tp:text",
        "delete": "tp:text",
        "mutate_input": "tp:text",
        "mutate_returned": "tp:text",
        "tamper": "tp:text damage:text?",
        "foreign_commit": "tp:text pos:int",
        "open": "tp:text",
        "ingest": "tp:text n:int",
        "sync": "tp:text",
        "stop": "",
        "crash": "",
        "crash_between_data_and_checkpoint": "tp:text",
        "fail_next_write": "tp:text",
        "fail_next_commit": "tp:text",
        "version_swap": "store:text to:int",
        "drop_version": "topic:text",
        "lose": "what=data|checkpoint|local",
        "rebootstrap": "tp:text wipe:bool?",
        "read": "tp:text k:text",
        "get_svs": "topic:text",
    },
    closed={
        "expect": "errors results data rows ckpt pos loss applied reprocessed syncs replayed "
        "writes_custom writes_builtin svs_fetches current"
    },
)
_ORDERING = Words(
    head="engine=cm|ss|any|source profile:text config:object steps:list expect:object",
    name="op",
    steps={
        "record": "stream:text count:int bytes:int channel:int?",
        "persist": "stream:text id count:int bytes:int rejected:int? level=persisted|complete?",
        "state": "kind=stream|global|snapshot stream:text? index:int? payload inner:object?",
        "flush": "",
        "send_fails_next": "count:int",
        "tick": "seconds",
        "stop_timer": "",
        "complete": "stream:text channel:int?",
        "close_channel": "channel:int",
        "finish": "",
        "mark_succeeded": "stream:text",
        "mark_failed": "stream:text",
        "restart": "",
        "expect_emitted": "states:list",
        "expect_pending": "count:int",
        "expect_head": "scope:text index:int?",
        "expect_persisted": "stream:text id value:bool",
        "expect_read": "stream:text count:int",
        "expect_key": "stream:text index:int",
        "expect_opened": "streams:list",
        "expect_stream_done": "stream:text value:bool",
        "expect_result": "stream:text value=pending|succeeded|failed",
        "expect_resume": "scope:text payload",
        "src_round": "feed:text readers:int",
        "src_done": "feed:text reader:int state count:int partition_id?",
        "src_fail": "feed:text reader:int",
        "src_checkpoint": "",
        "expect_src": "messages:list",
    },
    closed={
        "config": "medium streams channels flush_interval_s global initial",
        "expect": "emitted pending messages",
    },
)

# Words of each suite; of each `kind` in it where kinds differ.
WORDS: dict[str, Words | dict[str, Words]] = {
    "ordering": _ORDERING,
    "barriers": _BARRIERS,
    "channel_state": _CHANNEL_STATE,
    "coordinator": _COORDINATOR,
    "rescale": _RESCALE,
    "final_checkpoint": _FINAL_CHECKPOINT,
    "checkpoint_plan": _CHECKPOINT_PLAN,
    "checkpoint_store": _CHECKPOINT_STORE,
}
