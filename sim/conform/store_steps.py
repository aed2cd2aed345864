"""Run the vectors of suite `checkpoint_store` against a client with its versions of stores.

A factory takes the placement and returns `StoreVersions` of `models/store` around a client.  The
default one keeps everything in the model medium.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from ckptsim.models.store import (
    Area,
    Control,
    ControlRecord,
    DataRecord,
    Durability,
    LogBook,
    Order,
    PartitionLog,
    Placement,
    Reset,
    Slot,
    StoreClient,
    StoreError,
    StoreVersions,
    TopicPartition,
    VersionState,
    decode_state,
    make_store,
)
from ckptsim.models.store.client import ModelDictionaryServer
from ckptsim.models.store.state import WIRE_NAMES
from ckptsim.scenarios.store import Damage
from ckptsim.sim import mishaps
from ckptsim.sim.conform.runner import Adapter, Mismatch, Step, Vector, as_text, compare, named
from ckptsim.sim.slots import Factory

_SLOTS = {"custom": Slot.CUSTOM, "null": Slot.BUILT_IN, None: Slot.BUILT_IN}
_SETTINGS: dict[str, Callable[[Any], Any]] = {
    "sync_bytes": int,
    "sync_hook": bool,
    "mirror": bool,
    "order": lambda text: Order[text.upper()],
    "durability": lambda text: Durability[text.upper()],
    "reset": lambda text: Reset[text.upper()],
}

Play = Callable[["StoreScript", Step], object]


class StoreScript:
    """Plays steps on one client. Keeps the errors and results, and answers the observations."""

    def __init__(self, versions: StoreVersions) -> None:
        self.versions = versions
        self.client = versions.client
        self.dictionaries = ModelDictionaryServer()
        self.client.dictionaries = self.dictionaries
        self.logs = LogBook()
        self.client.logs = self.logs
        self.errors: list[list[Any]] = []
        self.results: list[Any] = []
        self.passed: dict[TopicPartition, Any] = {}
        self.returned: dict[TopicPartition, Any] = {}
        self._flips = 0

    def play(self, step: Step) -> None:
        """Play one step. Raises StoreError when the client refuses it."""
        own = getattr(self, f"_op_{step['op']}", None)
        if own is None:
            named(_CALLS, step["op"])(self, step)
        else:
            own(step)

    def data(self, name: str) -> dict[str, Any]:
        """Return the durable content of a partition, values decoded."""
        rows = self.client.medium.rows(Area.DATA, partition(name))
        return {key: json.loads(value) for key, value in rows.items()}

    def durable_position(self, name: str) -> int | None:
        """Return the position of the durable checkpoint, or None."""
        state = self.client.checkpoint(partition(name))
        return None if state is None else state.position

    def position(self, name: str) -> int | None:
        """Return the position in memory of an open partition, or None."""
        replica = self.client.replicas.get(partition(name))
        return None if replica is None else replica.position

    def loss(self, name: str) -> dict[str, int]:
        """Compare the content of a partition with what its log implies."""
        key = partition(name)
        return asdict(mishaps.loss_of(self.client, self.logs[key], key))

    def writes(self, store: str) -> int:
        """Return how many writes reached a checkpoint store."""
        return self.client.stores[_SLOTS[store]].writes

    def current(self, wanted: dict[str, Any] | None) -> dict[str, int | None] | None:
        """Return the current version of the listed stores."""
        if wanted is None:
            return self.versions.current or None  # type: ignore[return-value]
        return {store: self.versions.current.get(store) for store in wanted}

    def _op_config(self, step: Step) -> None:
        changes: dict[str, Any] = {
            name: read(step[name]) for name, read in _SETTINGS.items() if name in step
        }
        if "store" in step:
            changes["slot"] = _SLOTS[step["store"]]
        if "dicts" in step:
            self.dictionaries.dictionaries = dict(step["dicts"])
        if "dict_server" in step:
            self.dictionaries.up = {"up": True, "down": False}[step["dict_server"]]
        self.client.configure(replace(self.client.settings, **changes))

    def _op_produce(self, step: Step) -> None:
        log = self.log(step)
        size = step.get("size", 1)
        if "recs" in step:
            log.append(_record(each, size) for each in step["recs"])
            return
        first = log.end + 1
        for position in range(first, first + step["n"]):
            index = position % step["keys"] if step.get("keys") else position
            log.append([DataRecord(key=f"k{index}", value=_value(position), size_bytes=size)])

    def _op_set(self, step: Step) -> None:
        blob: Any = "x" * step["size"] if "size" in step else step.get("blob")
        if isinstance(blob, str):
            blob = bytearray(blob.encode())
        key = partition(step["tp"])
        self.passed[key] = blob
        self.client.store.set(key, blob)

    def _op_get(self, step: Step) -> None:
        key = partition(step["tp"])
        blob = self.client.store.get(key)
        self.returned[key] = blob
        self.results.append(_shown(blob))

    def _op_tamper(self, step: Step) -> None:
        how = Damage(step.get("damage", "bit"))
        if how is not Damage.BIT:
            mishaps.damage(self.client, partition(step["tp"]), how)
            return
        mishaps.flip_bit(self.client, partition(step["tp"]), self._flips)
        self._flips += 1

    def _op_read(self, step: Step) -> None:
        value = self.client.read(partition(step["tp"]), step["k"])
        self.results.append(None if value is None else json.loads(value))

    def _op_get_svs(self, step: Step) -> None:
        state = self.versions.state(step["topic"])
        self.results.append(None if state is None else _wire_version(state))

    def log(self, step: Step) -> PartitionLog:
        """Return the log of a partition. Raises StoreError for a topic that is not registered."""
        key = partition(step["tp"])
        self.client.topics.check(key)
        return self.logs[key]

    def mutate(self, step: Step, objects: dict[TopicPartition, Any]) -> None:
        """Change arguments or results for a partition, as a caller may."""
        key = partition(step["tp"])
        self.client.topics.check(key)
        held = objects.get(key)
        if isinstance(held, bytearray):
            held[:] = b"mutated"


def _on(call: Callable[[StoreClient, TopicPartition], object]) -> Play:
    return lambda script, step: call(script.client, partition(step["tp"]))


# Steps that are one call.
_CALLS: dict[str, Play] = {
    "delete": _on(lambda client, key: client.store.delete(key)),
    "open": _on(lambda client, key: client.open(key)),
    "sync": _on(lambda client, key: client.sync(key)),
    "crash_between_data_and_checkpoint": _on(lambda client, key: client.crash_within_sync(key)),
    "fail_next_write": _on(mishaps.fail_next_write),
    "fail_next_commit": _on(mishaps.fail_next_commit),
    "register": lambda s, step: s.client.topics.register(step["topic"], step["partitions"]),
    "compact": lambda s, step: s.log(step).compact(),
    "mutate_input": lambda s, step: s.mutate(step, s.passed),
    "mutate_returned": lambda s, step: s.mutate(step, s.returned),
    "foreign_commit": lambda s, step: mishaps.commit_by_another_party(
        s.client, partition(step["tp"]), step["pos"]
    ),
    "ingest": lambda s, step: s.client.ingest(partition(step["tp"]), step["n"]),
    "stop": lambda s, _: s.client.stop(),
    "crash": lambda s, _: s.client.crash(),
    "version_swap": lambda s, step: s.versions.swap(step["store"], step["to"]),
    "drop_version": lambda s, step: s.versions.drop(step["topic"]),
    "lose": lambda s, step: mishaps.lose(s.client, mishaps.Loss(step["what"])),
    "rebootstrap": lambda s, step: s.client.rebootstrap(
        partition(step["tp"]), wipe=bool(step.get("wipe", False))
    ),
}


def partition(name: str) -> TopicPartition:
    """Read `<topic>/<partition>`."""
    topic, _, index = name.rpartition("/")
    return TopicPartition(topic, int(index))


def _record(raw: list[Any], size: int) -> DataRecord | ControlRecord:
    match raw:
        case ["p", key, value]:
            return DataRecord(key=key, value=_value(value), size_bytes=size)
        case ["d", key]:
            return DataRecord(key=key, value=None, size_bytes=size)
        case ["c", name]:
            return ControlRecord(control=Control(name))
        case ["c", name, fields]:
            return ControlRecord(control=Control(name), fields=fields)
    raise ValueError(f"record {raw!r} is none of p, d, c")


def _value(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def _shown(blob: bytes | None) -> str | None:
    if blob is None:
        return None
    state = decode_state(bytes(blob))
    return bytes(blob).decode() if state is None else f"pos={state.position}"


def _wire_version(state: VersionState) -> dict[str, Any]:
    shown = {wire: getattr(state.copy, field) for wire, field in WIRE_NAMES.items()}
    shown["startOfBufferReplay"] = state.start_of_buffer_replay
    shown["topicSwitch"] = state.topic_switch
    shown["compressionDictionary"] = state.compression_dictionary
    return shown


PLACEMENTS = {placement.name.lower(): placement for placement in Placement}

Observation = Callable[[StoreScript, Any], Any]


def run(vector: Vector, make: Factory | None) -> Mismatch | None:
    """Run one vector on the model, the given factory's client, or a mutant's."""
    versions = (make or make_store)(PLACEMENTS[vector["placement"]])
    try:
        script = StoreScript(versions)
        for index, step in enumerate(vector["steps"]):
            try:
                script.play(step)
            except StoreError as error:
                script.errors.append([index, error.kind])
        return _compare(script, vector["expect"])
    finally:
        versions.client.medium.close()


def _compare(script: StoreScript, expected: dict[str, Any]) -> Mismatch | None:
    for field, wanted in expected.items():
        found = _OBSERVATIONS[field](script, wanted)
        seen = found if field in {"errors", "results"} else _part(found, wanted)
        mismatch = compare(field, wanted, seen)
        if mismatch is not None:
            return Mismatch(field, mismatch.expected, as_text(found))
    return None


def _part(found: Any, wanted: Any) -> Any:
    if not isinstance(wanted, dict) or not isinstance(found, dict):
        return found
    return {name: _part(found.get(name), value) for name, value in wanted.items()}


def _per_partition(observe: Callable[[StoreScript, str], Any]) -> Observation:
    return lambda script, wanted: {name: observe(script, name) for name in wanted}


# Expect field -> how it is observed.  Objects per partition are observed for the listed ones.
_OBSERVATIONS: dict[str, Observation] = {
    "errors": lambda script, _: script.errors,
    "results": lambda script, _: script.results,
    "data": _per_partition(lambda script, name: script.data(name)),
    "rows": _per_partition(lambda script, name: len(script.data(name))),
    "ckpt": _per_partition(lambda script, name: script.durable_position(name)),
    "pos": _per_partition(lambda script, name: script.position(name)),
    "loss": _per_partition(lambda script, name: script.loss(name)),
    "applied": lambda script, _: script.client.journal.applied,
    "reprocessed": lambda script, _: script.client.journal.reprocessed,
    "syncs": lambda script, _: script.client.journal.syncs,
    "replayed": lambda script, _: script.client.journal.replayed,
    "svs_fetches": lambda script, _: script.client.journal.dictionary_fetches,
    "writes_custom": lambda script, _: script.writes("custom"),
    "writes_builtin": lambda script, _: script.writes("null"),
    "current": lambda script, wanted: script.current(wanted),
}

ADAPTER = Adapter(run=run, slot=lambda _vector: "store")
