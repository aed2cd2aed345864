"""The rules of the ingestion of one partition, stated naively: from the entries that it took.

Source: linkedin/venice, `StoreIngestionTask`, as docs/checkpoint-store.md tells it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from ckptsim.models.store.errors import Refusal
from ckptsim.models.store.ingestion import events as ingestion_events
from ckptsim.models.store.ingestion.events import Cause, IngestionState
from ckptsim.models.store.log import Control, ControlRecord
from ckptsim.models.store.settings import Order, StepContent, SyncRules
from ckptsim.models.store.state import PartitionState, ProducerState, VersionCopy
from ckptsim.sim.rules.answers import Answer, Pick, Refused
from tests.rules.naive.naive import Naive

_WIRE = {
    "sorted": "sorted",
    "chunked": "chunked",
    "compression_strategy": "compressionStrategy",
    "batch_conflict_resolution_policy": "batchConflictResolutionPolicy",
    "start_of_push_timestamp": "startOfPushTimestamp",
    "end_of_push_timestamp": "endOfPushTimestamp",
}
_LATE = "end_of_push_timestamp"


class IngestionRules(Naive):
    """What an ingestion is to answer.

    `_taken` has every entry that was applied; `_since` the sizes since the last whole sync; the
    first `_of_sync` of these are in the sync that runs.
    """

    def __init__(self, rules: SyncRules, restored: PartitionState) -> None:
        self._rules = rules
        self._restored = restored
        self._taken: list[Any] = []
        self._since: list[int] = []
        self._of_sync = 0
        self._timer = False
        self._steps: tuple[StepContent, ...] = ()  # of the sync that runs
        self._synced: tuple[int, Cause, bytes] = (0, Cause.REQUEST, b"")
        self.frozen = False

    @property
    def _syncing(self) -> bool:
        return bool(self._steps)

    def refusals(self, event: Any) -> list[str]:
        """Return why an event is not allowed."""
        steps = (ingestion_events.StepDurable, ingestion_events.StepRefused)
        anytime = (ingestion_events.RulesChanged, ingestion_events.SyncTimerFired)
        if isinstance(event, anytime):
            return []
        if self.frozen:
            passes = isinstance(event, ingestion_events.SyncRequested)
            return [] if passes else ["not_allowed"]
        if self._syncing and isinstance(event, ingestion_events.DataWritten):
            return []
        return [] if isinstance(event, steps) == self._syncing else ["not_allowed"]

    def normal(self, answer: Answer) -> Answer:
        """Return an answer with the fields of checkpoints in place of their bytes."""
        if isinstance(answer, Refused):
            return answer
        return tuple(_plain(effect) for effect in answer)

    # What follows from the entries --------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the checkpoint's fields as all entries make it."""
        state = asdict(self._restored)
        for entry in self._taken:
            state["position"] = entry.position
            if isinstance(entry, ingestion_events.DataWritten):
                if entry.producer is not None:
                    others = [p for p in state["producers"] if p["guid"] != entry.producer.guid]
                    both = [*others, asdict(entry.producer)]
                    state["producers"] = sorted(both, key=lambda each: each["guid"])
            elif entry.record.control is Control.START_OF_PUSH:
                state["version"] = _copied(entry.record)
            elif entry.record.control is Control.END_OF_PUSH:
                state["end_of_push"] = True
                before = state["end_of_push_timestamp"]
                state[_LATE] = entry.record.fields.get("endOfPushTimestamp", before)
        return state

    def _due(self) -> bool:
        return 0 < self._rules.sync_bytes <= sum(self._since)

    # Events -------------------------------------------------------------------------------------

    def take(self, event: Any) -> Sequence[Any]:
        """Note an event, and return the effects that it has."""
        match event:
            case ingestion_events.RulesChanged():
                self._rules = event.rules
                return []
            case ingestion_events.SyncTimerFired():
                begins = self._timer and not self._syncing and not self.frozen
                self._timer = self._timer and not begins
                return self._begin(Cause.TIME) if begins else []
            case ingestion_events.SyncRequested():
                return [] if self.frozen else self._begin(Cause.REQUEST)
            case ingestion_events.WriteFailed():
                return self._freeze(Refusal.WRITE_FAILED)
            case ingestion_events.StepDurable():
                return self._step_done()
            case ingestion_events.StepRefused():
                self._steps = ()
                return [ingestion_events.AbortSync(event.refusal), *self._set_timer()]
            case ingestion_events.DataWritten():
                self._taken.append(event)
                self._since.append(event.size_bytes)
                return [] if self._syncing else self._begin_or_wait()
        return self._control(event)

    def _begin_or_wait(self) -> list[Any]:
        if self._due():
            return self._begin(Cause.BYTES)
        return [] if self._timer else self._set_timer()

    def _control(self, event: Any) -> list[Any]:
        if event.record.control is Control.START_OF_PUSH:
            mine = _copied(event.record)
            known = self.state()[_LATE]
            mine = mine if known is None else {**mine, _LATE: known}
            if any(disagree(mine, asdict(sibling)) for sibling in event.siblings):
                return self._freeze(Refusal.INCONSISTENT_SVS)
        self._taken.append(event)
        if event.record.control not in (Control.START_OF_SEGMENT, Control.END_OF_SEGMENT):
            return self._begin(Cause.CONTROL)
        return self._begin(Cause.BYTES) if self._due() else []

    def _begin(self, cause: Cause) -> list[Any]:
        first, second = StepContent.DATA, StepContent.CHECKPOINT
        if self._rules.order is Order.CHECKPOINT_FIRST:
            first, second = second, first
        self._steps = (StepContent.BOTH,) if self._rules.atomic else (first, second)
        self._of_sync = len(self._since)
        state = self.state()
        self._synced = (state["position"], cause, json.dumps(state).encode())
        return [*self._cancel(), self._ask()]

    def _ask(self) -> Any:
        part = self._steps[0]
        blob = None if part is StepContent.DATA else self._synced[2]
        return ingestion_events.MakeDurable(part, blob)

    def _step_done(self) -> list[Any]:
        self._steps = self._steps[1:]
        if self._steps:
            return [self._ask()]
        self._since = self._since[self._of_sync :]
        finish = ingestion_events.FinishSync(*self._synced[:2])
        return [finish, *(self._begin_or_wait() if self._since else ())]

    def _freeze(self, refusal: Refusal) -> list[Any]:
        self.frozen = True
        return [*self._cancel(), ingestion_events.FreezePartition(refusal, "")]

    def _cancel(self) -> list[Any]:
        was, self._timer = self._timer, False
        return [ingestion_events.CancelSyncTimer()] if was else []

    def _set_timer(self) -> list[Any]:
        self._timer = self._rules.sync_interval_ns > 0
        delay = ingestion_events.SetSyncTimer(self._rules.sync_interval_ns)
        return [delay] if self._timer else []

    # Questions and stray events -----------------------------------------------------------------

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield what can be asked of the core, and what it is to say."""
        yield "checkpoint", _fields(asdict(core.checkpoint)), _fields(self.state())
        yield "bytes_since_sync", core.bytes_since_sync, sum(self._since)
        yield "timer_set", core.timer_set, self._timer
        state = IngestionState.SYNCING if self._syncing else IngestionState.OPEN
        yield "state", core.state, IngestionState.ERRORED if self.frozen else state
        yield "rules", core.rules, self._rules

    def stray(self, pick: Pick) -> Any:
        """Return what log, medium, timer and user may bring next."""
        if self._syncing and not pick.one_in(4):
            done = ingestion_events.StepDurable()
            refused = ingestion_events.StepRefused(Refusal.COMMIT_FAILED)
            if not pick.one_in(3):
                return refused if pick.one_in(4) else done
        position = self.state()["position"] + pick.integer(1, 2)
        producer = ProducerState(guid=pick.of(("b", "a")), segment=1, sequence=position)
        written = ingestion_events.DataWritten(
            position=position,
            size_bytes=pick.of((0, 3, 10)),
            producer=producer if pick.one_in(2) else None,
        )
        if pick.one_in(3):
            return written
        if pick.one_in(2):
            return self._stray_control(pick, position)
        return pick.of(
            (
                written,
                ingestion_events.SyncTimerFired(),
                ingestion_events.SyncRequested(),
                ingestion_events.RulesChanged(drawn_rules(pick)),
                ingestion_events.StepDurable(),
                ingestion_events.StepRefused(Refusal.COMMIT_FAILED),
                written if not pick.one_in(4) else ingestion_events.WriteFailed(position),
            )
        )

    def _stray_control(self, pick: Pick, position: int) -> Any:
        control = pick.of(tuple(Control))
        fields: dict[str, Any] = {}
        if control is Control.START_OF_PUSH:
            fields = {"sorted": True, "chunked": pick.of((True, True, True, False))}
        elif control is Control.END_OF_PUSH and pick.one_in(2):
            fields = {"endOfPushTimestamp": position}
        sibling = VersionCopy(
            sorted=True, chunked=True, end_of_push_timestamp=pick.of((None, 0, 7, position))
        )
        return ingestion_events.ControlRead(
            position=position,
            record=ControlRecord(control=control, fields=fields),
            siblings=pick.of(((), (sibling,), (sibling, sibling))),
        )


def _plain(effect: Any) -> Any:
    if isinstance(effect, ingestion_events.FreezePartition):
        return ingestion_events.FreezePartition(effect.refusal, "")
    if isinstance(effect, ingestion_events.MakeDurable) and effect.checkpoint is not None:
        text = effect.checkpoint.removeprefix(b"CKPS\x01")
        return effect.part, _fields(json.loads(text))
    return effect


def _fields(state: dict[str, Any]) -> str:
    """Return fields as one text that can be compared."""
    return json.dumps(state, sort_keys=True)


def _copied(record: ControlRecord) -> dict[str, Any]:
    return {name: record.fields.get(wire) for name, wire in _WIRE.items()}


def disagree(left: dict[str, Any], right: dict[str, Any]) -> bool:
    """Return whether copies differ; an end of push that is not known yet agrees with any."""
    same = all(left[name] == right[name] for name in _WIRE if name != _LATE)
    known = [side[_LATE] for side in (left, right) if side[_LATE]]
    return not same or (len(known) == 2 and known[0] != known[1])


def drawn_rules(pick: Pick) -> SyncRules:
    """Return when and how to sync."""
    return SyncRules(
        sync_bytes=pick.of((0, 3, 10, 14)),
        sync_interval_ns=pick.of((0, 50)),
        order=pick.of(tuple(Order)),
        atomic=pick.one_in(3),
    )


def drawn_ingestion(pick: Pick) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return what an ingestion may be made from."""
    restored = PartitionState(position=pick.of((-1, 4)), end_of_push=pick.one_in(2))
    return (drawn_rules(pick), restored), {}
