"""What a client of the checkpoint store holds, stated naively: rows and blobs in dictionaries.

Steps are those of conformance vectors.  What an open partition does with an entry is asked of the
rules of its ingestion; here is what becomes durable, and what survives what.

Source: linkedin/venice, as docs/checkpoint-store.md tells it; not the core.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ckptsim.models.store import Order, Placement
from ckptsim.models.store.errors import Refusal
from ckptsim.models.store.ingestion import events as ingestion_events
from ckptsim.models.store.settings import SyncRules
from ckptsim.models.store.state import PartitionState, VersionCopy, encode_state
from tests.rules.naive.store.ingestion import IngestionRules

Step = dict[str, Any]
Rows = dict[str, bytes]
_SLOTS = {"custom": 0, None: 1}
_GROUP_BYTES_MAX = 3072
_GROUP_CHARACTERS_MAX = 4096
NEWER, HALF = 'CKPS\x02{"position":3}', 'CKPS\x01{"position":"3"}'
"""Checkpoints of a newer release and of a bad one, as text: their rows are there, to some place."""
OTHER = PartitionState(position=0, end_of_push=True, version=VersionCopy(sorted=False))
"""A state that somebody else has put there."""
LONG = "s" * 240 + "_v1"


OF_STATES = ("no_fields", "no_table", "other_fields", "no_position")
"""Damage that befalls a state in a frame, which stays as it is."""


class RefusedError(Exception):
    """A step ends with a refusal; what it has done until then stays done."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal


class OpenPartition:
    """An open partition: its ingestion's rules, and changes that are not durable."""

    def __init__(self, rules: SyncRules, state: dict[str, Any]) -> None:
        version = state["version"]
        fields = state | {"version": None if version is None else VersionCopy(**version)}
        self.ingestion = IngestionRules(rules, PartitionState(**fields))
        self.changes: dict[str, bytes | None] = {}


class ClientFacts:
    """Logs, rows, slots, settings and open partitions, and the steps that concern them alone."""

    def __init__(self, placement: Placement) -> None:
        self.placement = placement
        self.topics: dict[str, int] = {}
        self.logs: dict[str, list[Any]] = {}  # per partition; None where compaction dropped one
        self.written: dict[str, list[Any]] = {}
        self.data: dict[str, Rows] = {}
        self.mirror: dict[str, Rows] = {}
        # What each holds: ("state", fields), ("raw", text), ("bad",), ("unreadable",).
        self.slots: dict[tuple[int, str], Any] = {}
        self.writes = [0, 0]
        self.failing: list[tuple[int, str]] = []
        self.failing_writes: list[str] = []
        self.opened: dict[str, OpenPartition] = {}
        self.opened_before: list[str] = []
        self.current: dict[str, int] = {}
        self.counts = {"applied": 0, "reprocessed": 0, "syncs": 0, "replayed": 0, "fetches": 0}
        self.applied: set[tuple[str, int]] = set()
        self.settings: Step = {
            "sync_bytes": 0,
            "order": "data_first",
            "durability": "on_sync",
            "sync_hook": True,
            "mirror": False,
            "store": "custom",
            "reset": "earliest",
        }
        self.dictionaries: dict[str, str] = {}
        self.served = True

    # Names ----------------------------------------------------------------------------------

    def check(self, tp: str) -> None:
        """Refuse a partition that does not exist here."""
        topic, _, index = tp.rpartition("/")
        if topic not in self.topics:
            raise RefusedError(Refusal.UNKNOWN_TOPIC)
        if int(index) not in range(self.topics[topic]):
            raise RefusedError(Refusal.UNKNOWN_PARTITION)

    def _of_topic(self, topic: str) -> list[str]:
        if topic not in self.topics:
            raise RefusedError(Refusal.UNKNOWN_TOPIC)
        return [f"{topic}/{index}" for index in range(self.topics[topic])]

    def _open_one(self, tp: str) -> OpenPartition:
        self.check(tp)
        if tp not in self.opened:
            raise RefusedError(Refusal.NOT_OPEN)
        return self.opened[tp]

    # Settings -------------------------------------------------------------------------------

    @property
    def _slot(self) -> int:
        return _SLOTS[self.settings["store"]]

    @property
    def _group(self) -> bool:
        return self.placement is Placement.CONSUMER_GROUP_BLOB

    @property
    def _colocated(self) -> bool:
        return self.placement is Placement.COLOCATED

    @property
    def _mirrored(self) -> bool:
        return self.settings["mirror"] and not self._colocated

    @property
    def _hooked(self) -> bool:
        return self.settings["sync_hook"] or self._colocated

    def _rules(self) -> SyncRules:
        return SyncRules(
            sync_bytes=self.settings["sync_bytes"],
            order=Order[self.settings["order"].upper()],
            atomic=self._colocated,
        )

    def _config(self, step: Step) -> None:
        self.settings.update({name: step[name] for name in self.settings if name in step})
        self.dictionaries = step.get("dicts", self.dictionaries)
        self.served = step.get("dict_server", "up" if self.served else "down") == "up"
        for one in self.opened.values():
            one.ingestion.answer(ingestion_events.RulesChanged(self._rules()))

    def _register(self, step: Step) -> None:
        if "_v" not in step["topic"]:
            raise RefusedError(Refusal.INVALID_TOPIC)
        if not 0 < step["partitions"] <= 1_000_000:
            raise RefusedError(Refusal.INVALID_ARGUMENT)
        self.topics[step["topic"]] = step["partitions"]

    # Logs -----------------------------------------------------------------------------------

    def _produce(self, step: Step) -> None:
        self.check(step["tp"])
        written = self.written.setdefault(step["tp"], [])
        log = self.logs.setdefault(step["tp"], [])
        for record in step["recs"]:
            written.append(record)
            log.append(record)

    def _compact(self, step: Step) -> None:
        self.check(step["tp"])
        log = self.logs.get(step["tp"], [])
        newest = {record[1]: at for at, record in enumerate(log) if record and record[0] != "c"}
        for at, record in enumerate(log):
            kept = record and (record[0] == "c" or (record[0] == "p" and newest[record[1]] == at))
            log[at] = record if kept else None

    def _end(self, tp: str) -> int:
        return len(self.written.get(tp, [])) - 1

    # Checkpoints ----------------------------------------------------------------------------

    def _count_write(self, slot: int, tp: str) -> None:
        self.writes[slot] += 1
        if (slot, tp) in self.failing:
            self.failing.remove((slot, tp))
            raise RefusedError(Refusal.COMMIT_FAILED)

    def _stored(self, tp: str) -> Any:
        """Return what the slot in use holds; refuse what is damaged."""
        found = self.slots.get((self._slot, tp))
        if found == ("bad",):
            raise RefusedError(Refusal.CORRUPT_CHECKPOINT)
        return found

    def checkpoint(self, tp: str) -> dict[str, Any] | None:
        """Return the fields of a durable checkpoint that can be read, or None."""
        found = self.slots.get((self._slot, tp))
        known = tp.rpartition("/")[0] in self.topics
        return found[1] if known and found is not None and found[0] == "state" else None

    def known(self, tp: str) -> dict[str, Any] | None:
        """Return the state of an open partition, else that of its checkpoint."""
        return self.opened[tp].ingestion.state() if tp in self.opened else self.checkpoint(tp)

    def _set(self, step: Step) -> None:
        text = "x" * step["size"] if "size" in step else step["blob"]
        self.check(step["tp"])
        if text is None:
            raise RefusedError(Refusal.INVALID_BLOB)
        size = len(text)
        in_frame = 4 + 1 + 1 + 2 + len(step["tp"]) + 4 + size + 32
        if self._group and (size > _GROUP_BYTES_MAX or in_frame / 4 * 5 > _GROUP_CHARACTERS_MAX):
            raise RefusedError(Refusal.BLOB_TOO_LARGE)
        self._count_write(self._slot, step["tp"])
        found: tuple[Any, ...] = ("unreadable",) if text in (NEWER, HALF) else ("raw", text)
        if text == encode_state(OTHER).decode():
            found = ("state", asdict(OTHER))
        self.slots[self._slot, step["tp"]] = found

    def _get(self, step: Step) -> list[Any]:
        self.check(step["tp"])
        found = self._stored(step["tp"])
        if found is None:
            return [None]
        if found[0] == "unreadable":
            raise RefusedError(Refusal.UNREADABLE_CHECKPOINT)
        return [f"pos={found[1]['position']}" if found[0] == "state" else found[1]]

    def _delete(self, step: Step) -> None:
        if step["tp"].rpartition("/")[0] not in self.topics:
            return
        self.check(step["tp"])
        self._count_write(self._slot, step["tp"])
        self.slots.pop((self._slot, step["tp"]), None)

    def _forget(self, tp: str) -> list[tuple[int, str]]:
        """Count the removal of a checkpoint from every slot; return which go."""
        self._count_write(self._slot, tp)
        gone = [(self._slot, tp)]
        other = 1 - self._slot
        if (other, tp) in self.slots:
            self._count_write(other, tp)
            gone.append((other, tp))
        return gone

    def _reset(self, tp: str, *, wipe: bool) -> None:
        for gone in self._forget(tp):
            self.slots.pop(gone, None)
        if wipe:
            self.data.pop(tp, None)
            self.mirror.pop(tp, None)
