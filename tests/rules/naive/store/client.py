"""The rules of a client of the checkpoint store, stated naively: what becomes durable, and when.

Steps are those of conformance vectors.  What an open partition does with an entry is asked of the
rules of its ingestion.

Source: linkedin/venice, as docs/checkpoint-store.md tells it; not the core.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ckptsim.models.store import Control
from ckptsim.models.store.errors import Refusal
from ckptsim.models.store.ingestion import events as ingestion_events
from ckptsim.models.store.log import ControlRecord
from ckptsim.models.store.settings import StepContent
from ckptsim.models.store.state import PartitionState, VersionCopy
from ckptsim.sim.rules.answers import Answer, Refused
from tests.rules.naive.store import holdings
from tests.rules.naive.store.ingestion import disagree

_WIRE = (
    ("sorted", "sorted"),
    ("chunked", "chunked"),
    ("compressionStrategy", "compression_strategy"),
    ("batchConflictResolutionPolicy", "batch_conflict_resolution_policy"),
    ("startOfPushTimestamp", "start_of_push_timestamp"),
    ("endOfPushTimestamp", "end_of_push_timestamp"),
)


class ClientAnswers(holdings.ClientFacts):
    """What a client is to answer: the results of a step, or its refusal."""

    def answer(self, event: holdings.Step) -> Answer | None:
        """Carry a step out, and return its results or its refusal."""
        try:
            return tuple(getattr(self, f"_{event['op']}")(event) or ())
        except holdings.RefusedError as refused:
            return Refused.by(refused.refusal)

    # The life of a partition ----------------------------------------------------------------

    def _open(self, step: holdings.Step) -> None:
        tp = step["tp"]
        self.check(tp)
        self.opened.pop(tp, None)
        state = asdict(PartitionState())
        found, damage = self.slots.get((self._slot, tp)), None
        if found == ("bad",):
            damage = Refusal.CORRUPT_CHECKPOINT
        elif found is not None and found[0] == "unreadable":
            damage = Refusal.UNREADABLE_CHECKPOINT
        if damage is not None:
            self._reset(tp, wipe=True)
            found = None
        if found is not None and found[0] == "state":
            state = found[1]
        elif self._group and self.settings["reset"] == "latest" and damage is None:
            state["position"] = self._end(tp) if tp in self.opened_before else -1
        if state["position"] > self._end(tp):
            raise holdings.RefusedError(Refusal.CHECKPOINT_AHEAD_OF_LOG)
        if self._mirrored:
            self.data[tp] = self.data.get(tp, {}) | self.mirror.get(tp, {})
            self.counts["replayed"] += len(self.mirror.get(tp, {}))
        self.opened_before.append(tp)
        self.opened[tp] = holdings.OpenPartition(self._rules(), state)
        if damage is not None:
            raise holdings.RefusedError(damage)

    def _ingest(self, step: holdings.Step) -> None:
        one = self._open_one(step["tp"])
        position = one.ingestion.state()["position"]
        log = self.logs.get(step["tp"], [])
        entries = [at for at, record in enumerate(log) if record and at > position]
        for at in entries[: step["n"]]:
            if one.ingestion.frozen:
                return
            self._take(step["tp"], one, at)

    def _take(self, tp: str, one: holdings.OpenPartition, at: int) -> None:
        record = self.logs[tp][at]
        if record[0] == "c":
            fields = record[2] if len(record) > 2 else {}
            event: Any = ingestion_events.ControlRead(
                position=at,
                record=ControlRecord(control=Control(record[1]), fields=fields),
                siblings=tuple(VersionCopy(**copy) for copy in self._copies(tp, apart=True)),
            )
        elif tp in self.failing_writes:
            self.failing_writes.remove(tp)
            event = ingestion_events.WriteFailed(at)
        else:
            value = json.dumps(record[2]).encode() if record[0] == "p" else None
            one.changes[record[1]] = value
            if self.settings["durability"] == "per_record" and not self._colocated:
                _put(self.data.setdefault(tp, {}), {record[1]: value})
            self.counts["applied"] += 1
            self.counts["reprocessed"] += (tp, at) in self.applied
            self.applied = self.applied | {(tp, at)}
            event = ingestion_events.DataWritten(position=at, size_bytes=1)
        self._carry_out(tp, one, event)

    def _copies(self, tp: str, *, apart: bool = False) -> list[dict[str, Any]]:
        """Return what partitions of a topic say of their version; apart: all but this one."""
        keys = self._of_topic(tp.rpartition("/")[0])
        states = [self.known(key) for key in keys if not apart or key != tp]
        found = []
        for state in states:
            if state is not None and state["version"] is not None:
                late = state["end_of_push_timestamp"]
                found.append(
                    state["version"] | ({} if late is None else {"end_of_push_timestamp": late})
                )
        return found

    def _carry_out(self, tp: str, one: holdings.OpenPartition, event: Any) -> None:
        """Do what the ingestion's rules answer; the first failure is raised at the end."""
        waiting = list(one.ingestion.answer(event) or ())  # type: ignore[arg-type]
        failure: Refusal | None = None
        while waiting:
            effect = waiting.pop(0)
            if isinstance(effect, ingestion_events.MakeDurable):
                try:
                    self._make_durable(tp, one, effect)
                    outcome: Any = ingestion_events.StepDurable()
                except holdings.RefusedError as refused:
                    failure = failure or refused.refusal
                    outcome = ingestion_events.StepRefused(refused.refusal)
                waiting += list(one.ingestion.answer(outcome) or ())  # type: ignore[arg-type]
            elif isinstance(effect, ingestion_events.FreezePartition):
                failure = effect.refusal
            self.counts["syncs"] += isinstance(effect, ingestion_events.FinishSync)
        if failure is not None:
            raise holdings.RefusedError(failure)

    def _make_durable(self, tp: str, one: holdings.OpenPartition, step: Any) -> None:
        if step.checkpoint is not None:
            self._count_write(self._slot, tp)
            self.slots[self._slot, tp] = ("state", json.loads(step.checkpoint))
        if step.part is StepContent.CHECKPOINT:
            return
        before = dict(self.data.get(tp, {}))
        if self._hooked:
            _put(self.data.setdefault(tp, {}), one.changes)
        if self._mirrored:
            self.mirror[tp] = _put(before, one.changes)
        if self._hooked:
            one.changes = {}

    def _sync(self, step: holdings.Step) -> None:
        self._carry_out(step["tp"], self._open_one(step["tp"]), ingestion_events.SyncRequested())

    def _stop(self, _: holdings.Step) -> None:
        failure: holdings.RefusedError | None = None
        for tp, one in self.opened.items():
            try:
                self._carry_out(tp, one, ingestion_events.SyncRequested())
            except holdings.RefusedError as refused:
                failure = failure or refused
        self.opened = {}
        if failure is not None:
            raise failure

    def _crash(self, _: holdings.Step) -> None:
        self.opened = {}

    def _crash_between_data_and_checkpoint(self, step: holdings.Step) -> None:
        one = self._open_one(step["tp"])
        answer = one.ingestion.answer(ingestion_events.SyncRequested())
        self.opened = {}
        for effect in answer or ():  # type: ignore[union-attr]
            half = isinstance(effect, ingestion_events.MakeDurable)
            if half and effect.part is not StepContent.BOTH:
                self._make_durable(step["tp"], one, effect)

    def _rebootstrap(self, step: holdings.Step) -> None:
        self.check(step["tp"])
        self.opened.pop(step["tp"], None)
        self._reset(step["tp"], wipe=step["wipe"])
        self._open(step)

    # What happens from outside --------------------------------------------------------------

    def _fail_next_write(self, step: holdings.Step) -> None:
        self.check(step["tp"])
        if step["tp"] not in self.failing_writes:
            self.failing_writes.append(step["tp"])

    def _fail_next_commit(self, step: holdings.Step) -> None:
        self.check(step["tp"])
        place = (self._slot, step["tp"])
        if self._group and place not in self.failing:
            self.failing.append(place)

    def _tamper(self, step: holdings.Step) -> None:
        self.check(step["tp"])
        place, damage = (self._slot, step["tp"]), step.get("damage", "bit")
        found = self.slots.get(place, ("none",))[0]
        if damage in holdings.OF_STATES:
            has_offset = self._group and damage == "no_position"
            if found == "state" and not has_offset:
                self.slots[place] = ("unreadable",)
        elif found != "none":
            self.slots[place] = ("bad",)

    def _foreign_commit(self, step: holdings.Step) -> None:
        self.check(step["tp"])
        state = self.checkpoint(step["tp"]) or asdict(PartitionState())
        self.slots[self._slot, step["tp"]] = ("state", state | {"position": step["pos"]})

    def _lose(self, step: holdings.Step) -> None:
        what = step["what"]
        if what != "checkpoint" or self._colocated:
            self.data = {}
        if what == "local" or self._colocated:
            self.mirror = {}
        if what == "checkpoint" or self._colocated:
            self.slots = {}

    def _read(self, step: holdings.Step) -> list[Any]:
        self.check(step["tp"])
        value = self.data.get(step["tp"], {}).get(step["k"])
        return [None if value is None else json.loads(value)]

    # Versions -------------------------------------------------------------------------------

    def _version_swap(self, step: holdings.Step) -> None:
        for tp in self._of_topic(f"{step['store']}_v{step['to']}"):
            state = self.known(tp)
            if state is None or not state["end_of_push"]:
                raise holdings.RefusedError(Refusal.NOT_READY)
        self.current[step["store"]] = step["to"]

    def _drop_version(self, step: holdings.Step) -> None:
        keys = self._of_topic(step["topic"])
        if step["topic"] in [f"{store}_v{number}" for store, number in self.current.items()]:
            raise holdings.RefusedError(Refusal.VERSION_IN_USE)
        for tp in keys:
            self.opened.pop(tp, None)
        for gone in [place for tp in keys for place in self._forget(tp)]:
            self.slots.pop(gone, None)
        for tp in keys:
            self.data.pop(tp, None)
            self.mirror.pop(tp, None)
        del self.topics[step["topic"]]

    def _get_svs(self, step: holdings.Step) -> Sequence[Any]:
        agreed: dict[str, Any] = {}
        for copy in self._copies(f"{step['topic']}/0"):
            if agreed and disagree(agreed, copy):
                raise holdings.RefusedError(Refusal.INCONSISTENT_SVS)
            late = "end_of_push_timestamp"
            known = agreed and not agreed[late] and copy[late] is not None
            agreed = agreed | {late: copy[late]} if known else agreed or copy
        if not agreed:
            return [None]
        dictionary = None
        if agreed["compression_strategy"] == "ZSTD_WITH_DICT":
            if not self.served or step["topic"] not in self.dictionaries:
                raise holdings.RefusedError(Refusal.DICT_UNAVAILABLE)
            self.counts["fetches"] += 1
            dictionary = self.dictionaries[step["topic"]]
        shown = {wire: agreed[name] for wire, name in _WIRE}
        others = {"startOfBufferReplay": None, "topicSwitch": None}
        return [shown | others | {"compressionDictionary": dictionary}]


def _put(rows: holdings.Rows, changes: dict[str, bytes | None]) -> holdings.Rows:
    """Put and delete rows in place."""
    for name, value in changes.items():
        if value is None:
            rows.pop(name, None)
        else:
            rows[name] = value
    return rows
