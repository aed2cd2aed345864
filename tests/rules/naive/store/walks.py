"""A client of the store stepped by steps of vectors, questions to it, and its walks."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ckptsim.models.store import Area, Placement, StoreVersions
from ckptsim.models.store.state import encode_state
from ckptsim.scenarios.store import Damage
from ckptsim.sim.conform.store_steps import StoreScript, partition
from ckptsim.sim.rules.answers import Answer, Pick
from tests.rules.naive.store.client import ClientAnswers
from tests.rules.naive.store.holdings import HALF, LONG, NEWER, OTHER, Step

_TOPICS = ("s_v1", "s_v2", "s_v1_x_mv")
_VERSION = {"sorted": True, "chunked": False, "compressionStrategy": "ZSTD_WITH_DICT"}
_DICTIONARIES = {"s_v1": "one", "s_v2": "two"}
_BEGINNING: tuple[Step, ...] = (
    *({"op": "register", "topic": topic, "partitions": 2} for topic in _TOPICS),
    {"op": "register", "topic": LONG, "partitions": 1},
    {"op": "config", "dicts": _DICTIONARIES},
)


class ClientCore:
    """A client and its versions; a step answers with its results."""

    def __init__(self, make: Callable[[Placement], StoreVersions], placement: Placement) -> None:
        self.script = StoreScript(make(placement))
        for step in _BEGINNING:
            self.script.play(step)

    def step(self, event: Step) -> list[Any]:
        """Play a step."""
        before = len(self.script.results)
        self.script.play(event)
        return self.script.results[before:]


def client(make: Callable[[Placement], StoreVersions]) -> Callable[[Placement], ClientCore]:
    """Return what makes a client that is stepped, from what makes the client."""
    return partial(ClientCore, make)


class ClientRules(ClientAnswers):
    """The rules with what can be asked of a client, and the steps of its walks."""

    def __init__(self, placement: Placement) -> None:
        super().__init__(placement)
        self._planned: list[Step] = []  # of what a walk goes on with
        for step in _BEGINNING:
            self.answer(step)

    def normal(self, answer: Answer) -> Answer:
        """Return the answer: all of it is compared."""
        return answer

    def copied(self) -> ClientRules:
        """Return rules with the same facts."""
        return copy.deepcopy(self)

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield what is durable, what is in memory, and what was counted."""
        kept, script = core.script.client, core.script
        for topic in _TOPICS:
            for tp in (f"{topic}/0", f"{topic}/1"):
                key = partition(tp)
                yield f"rows of {tp}", kept.medium.rows(Area.DATA, key), self.data.get(tp, {})
                mirrored = self.mirror.get(tp, {})
                yield f"mirror of {tp}", kept.medium.rows(Area.MIRROR, key), mirrored
                durable = self.checkpoint(tp)
                position = None if durable is None else durable["position"]
                yield f"checkpoint of {tp}", script.durable_position(tp), position
                one = self.opened.get(tp)
                here = None if one is None else one.ingestion.state()["position"]
                yield f"position of {tp}", script.position(tp), here
                if one is not None:
                    theirs = kept.replicas[key].ingestion
                    for name, found, expected in one.ingestion.says(theirs):
                        yield f"{name} of {tp}", found, expected
        journal = kept.journal
        found = (journal.applied, journal.reprocessed, journal.syncs, journal.replayed)
        yield "journal", (*found, journal.dictionary_fetches), tuple(self.counts.values())
        yield "writes", [store.writes for store in kept.stores.values()], self.writes
        yield "current", core.script.versions.current, self.current

    def stray(self, pick: Pick) -> Step:
        """Return a step: of the life of partitions more often than from outside."""
        if self._planned and not pick.one_in(4):
            return self._planned.pop(0)
        tp = pick.of(("s_v1/0", "s_v1/0", "s_v1/0", "s_v1/1", "s_v2/0", "s_v1_x_mv/1", "s_v2/2"))
        kind, topic = pick.integer(0, 19), tp.rpartition("/")[0]
        if topic in _TOPICS and topic not in self.topics and pick.one_in(2):
            return {"op": "register", "topic": topic, "partitions": 2}
        if kind < 13:
            return self._of_life(pick, kind, tp)
        if kind == 13 and (self._slot, tp) not in self.slots:
            return {"op": "set", "tp": tp, "blob": encode_state(OTHER).decode()}
        if kind == 14:
            return self._of_versions(pick, topic)
        if kind == 15 and not self._planned and pick.one_in(4):
            self._planned = pick.of((_put_and_deleted, _wiped_unmirrored))(tp)
        return _odd(pick, tp) if kind < 18 else _setting(pick)

    def _of_life(self, pick: Pick, kind: int, tp: str) -> Step:
        """Return a step of the life of a partition; kind: a number from 0 to 12."""
        if kind < 4:
            return {"op": "produce", "tp": tp, "recs": _records(pick)}
        if kind < 7 and (tp not in self.opened or pick.one_in(6)):
            return {"op": "open", "tp": tp}
        if kind < 11:
            return {"op": "ingest", "tp": tp, "n": pick.integer(1, 5)}
        return {"op": "sync", "tp": tp}

    def _of_versions(self, pick: Pick, topic: str) -> Step:
        """Return a step that concerns all partitions of a version.

        What lies in the store that is not in use goes with its version, too.
        """
        unused = [tp for slot, tp in self.slots if slot != self._slot]
        if unused and pick.one_in(2):
            return {"op": "drop_version", "topic": pick.of(unused).rpartition("/")[0]}
        if self.current and pick.one_in(2):
            return {"op": "drop_version", "topic": f"s_v{self.current['s']}"}
        swap = {"op": "version_swap", "store": "s", "to": pick.of((1, 1, 2))}
        return pick.of((swap, {"op": "get_svs", "topic": topic}))  # type: ignore[no-any-return]


def _put_and_deleted(tp: str) -> list[Step]:
    """Return the steps of a key that is durable everywhere, and then deleted."""
    return [
        *_mirrored(tp),
        {"op": "produce", "tp": tp, "recs": [["d", "a"]]},
        {"op": "ingest", "tp": tp, "n": 5},
        {"op": "sync", "tp": tp},
    ]


def _wiped_unmirrored(tp: str) -> list[Step]:
    """Return the steps of a partition that is wiped while its mirror is switched off."""
    return [
        *_mirrored(tp),
        {"op": "config", "mirror": False},
        {"op": "rebootstrap", "tp": tp, "wipe": True},
        {"op": "config", "mirror": True},
        {"op": "open", "tp": tp},
    ]


def _mirrored(tp: str) -> list[Step]:
    """Return the steps after which two keys are durable, in the mirror, too."""
    return [
        {"op": "config", "mirror": True},
        {"op": "open", "tp": tp},
        {"op": "produce", "tp": tp, "recs": [["p", "a", 1], ["p", "b", 2]]},
        {"op": "ingest", "tp": tp, "n": 5},
        {"op": "sync", "tp": tp},
    ]


def _records(pick: Pick) -> list[list[Any]]:
    """Return records to produce; of some a key is deleted as soon as it is put."""
    found = [_record(pick) for _ in range(3)]
    if found[0][0] == "p" and found[1][0] == "d":
        found[1][1] = found[0][1]
    return found


def _record(pick: Pick) -> list[Any]:
    kind = pick.integer(0, 9)
    if kind < 5:
        return ["p", pick.of("abc"), pick.integer(0, 99)]
    if kind == 5:
        return ["d", pick.of("abc")]
    if kind < 8:
        return ["c", pick.of(("EOP", "TS", "SOS", "EOS"))]
    if kind == 8:
        return ["c", "EOP", {"endOfPushTimestamp": pick.of((0, 5, 5, 6))}]
    return ["c", "SOP", _VERSION if not pick.one_in(6) else _VERSION | {"chunked": True}]


def _odd(pick: Pick, tp: str) -> Step:
    """Return a step that a careful user takes seldom, or that happens to one."""
    topic = pick.of((*_TOPICS, "s_v9"))
    options: list[Step] = [
        {"op": "stop"},
        {"op": "crash"},
        {"op": "crash_between_data_and_checkpoint", "tp": tp},
        {"op": "fail_next_write", "tp": tp},
        {"op": "fail_next_commit", "tp": tp},
        {"op": "tamper", "tp": tp},
        {"op": "tamper", "tp": tp, "damage": pick.of(tuple(Damage)).value},
        {"op": "rebootstrap", "tp": tp, "wipe": pick.one_in(2)},
        {"op": "compact", "tp": tp},
        {"op": "set", "tp": tp, "blob": pick.of(("x", None, NEWER, HALF))},
        {"op": "set", "tp": tp, "blob": encode_state(OTHER).decode()},
        {"op": "set", "tp": pick.of((tp, f"{LONG}/0")), "size": pick.of((3072, 3073))},
        {"op": "get", "tp": tp},
        {"op": "delete", "tp": pick.of((tp, "s_v9/0"))},
        {"op": "foreign_commit", "tp": tp, "pos": pick.integer(-1, 9)},
        {"op": "read", "tp": tp, "k": pick.of("abc")},
        {"op": "get_svs", "topic": topic},
        {"op": "get_svs", "topic": tp.rpartition("/")[0]},
        {"op": "version_swap", "store": "s", "to": pick.integer(1, 3)},
        {"op": "drop_version", "topic": topic},
        {"op": "register", "topic": pick.of((*_TOPICS, "s_rt")), "partitions": pick.of((2, 2, 0))},
        {"op": "lose", "what": pick.of(("data", "checkpoint", "local"))},
    ]
    found: Step = pick.of(options)
    return found


def _setting(pick: Pick) -> Step:
    options: list[Step] = [
        {"sync_bytes": pick.integer(0, 4)},
        {"order": pick.of(("data_first", "checkpoint_first"))},
        {"durability": pick.of(("on_sync", "per_record"))},
        {"sync_hook": not pick.one_in(3)},
        {"mirror": pick.one_in(2)},
        {"store": pick.of(("custom", None))},
        {"reset": pick.of(("earliest", "latest"))},
        {"dict_server": pick.of(("up", "down", "up"))},
        {"dicts": pick.of(({}, _DICTIONARIES))},
    ]
    return {"op": "config", **pick.of(options)}


def drawn_client(pick: Pick) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return where a client keeps its checkpoints."""
    return (pick.of(tuple(Placement)),), {}
