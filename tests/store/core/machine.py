"""Steps for stores as data.

All that is drawn, how it is played, and what must hold after each step.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ckptsim.models.store import Area, Placement, StoreError, StoreVersions, TopicPartition
from ckptsim.sim.conform.store_steps import StoreScript
from ckptsim.sim.mishaps import fold, loss_of

Step = dict[str, Any]

TOPICS = ("s_v1", "s_v2", "s_v1_x_mv")
KEYS = (*(TopicPartition(topic, 0) for topic in TOPICS), TopicPartition("s_v1", 1))
_TP = st.sampled_from(["s_v1/0", "s_v1/0", "s_v1/1", *map(str, KEYS)])
_NAME = st.sampled_from(["a", "b", "c"])
VERSION = {"sorted": True, "chunked": False, "compressionStrategy": "ZSTD_WITH_DICT"}

_RECORD = st.one_of(
    st.tuples(st.just("p"), _NAME, st.integers(0, 99)).map(list),
    st.tuples(st.just("d"), _NAME).map(list),
    st.tuples(st.just("c"), st.sampled_from(["EOP", "TS", "SOS", "EOS"])).map(list),
    st.just(["c", "SOP", VERSION]),
)
_PUT = st.tuples(st.just("p"), _NAME, st.integers(0, 99)).map(list)
_DATA = st.one_of(_PUT, _PUT, _PUT, _RECORD)


def _op(name: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    return st.fixed_dictionaries({"op": st.just(name), **fields})


def _session(tp: str, entries: int, ending: list[Step]) -> list[Step]:
    opened: list[Step] = [{"op": "open", "tp": tp}, {"op": "ingest", "tp": tp, "n": entries}]
    return [*opened, *({**step, "tp": tp} for step in ending)]


_ENDINGS = st.sampled_from(
    [
        [{"op": "sync"}],
        [{"op": "stop"}],
        [{"op": "crash"}],
        [{"op": "crash_between_data_and_checkpoint"}],
        [{"op": "fail_next_write"}, {"op": "ingest", "n": 4}, {"op": "sync"}, {"op": "stop"}],
        [{"op": "fail_next_commit"}, {"op": "sync"}, {"op": "ingest", "n": 1}],
        [{"op": "sync"}, {"op": "tamper"}, {"op": "open"}],
        [{"op": "sync"}, {"op": "rebootstrap", "wipe": True}],
    ]
)
_SESSIONS = st.builds(_session, _TP, st.integers(1, 6), _ENDINGS)
_PRODUCE = _op("produce", tp=_TP, recs=st.lists(_RECORD, min_size=1, max_size=6))
_INGEST = _op("ingest", tp=_TP, n=st.integers(1, 8))
_SAFE = st.one_of(
    _PRODUCE,
    _INGEST,
    _INGEST,
    _op("open", tp=_TP),
    _op("open", tp=_TP),
    _op("sync", tp=_TP),
    _op("stop"),
    _op("crash"),
    _op("crash_between_data_and_checkpoint", tp=_TP),
    _op("fail_next_write", tp=_TP),
    _op("fail_next_commit", tp=_TP),
    _op("tamper", tp=_TP),
    _op("rebootstrap", tp=_TP, wipe=st.just(True)),
    _op("config", sync_bytes=st.integers(0, 4)),
)
_HAZARDS = st.one_of(
    _op("compact", tp=_TP),
    _op("set", tp=_TP, blob=st.sampled_from(["x", "y", None])),
    _op("set", tp=_TP, size=st.sampled_from([3072, 3073])),
    _op("get", tp=_TP),
    _op("delete", tp=_TP),
    _op("mutate_input", tp=_TP),
    _op("mutate_returned", tp=_TP),
    _op("foreign_commit", tp=_TP, pos=st.integers(-1, 9)),
    _op("rebootstrap", tp=_TP, wipe=st.booleans()),
    _op("read", tp=_TP, k=_NAME),
    _op("get_svs", topic=st.sampled_from(TOPICS)),
    _op("version_swap", store=st.just("s"), to=st.integers(1, 3)),
    _op("drop_version", topic=st.sampled_from(TOPICS)),
    _op("register", topic=st.sampled_from((*TOPICS, "s_rt")), partitions=st.just(2)),
    _op("lose", what=st.sampled_from(["data", "checkpoint", "local"])),
    _op("config", order=st.sampled_from(["data_first", "checkpoint_first"])),
    _op("config", durability=st.sampled_from(["on_sync", "per_record"])),
    _op("config", sync_hook=st.booleans()),
    _op("config", mirror=st.booleans()),
    _op("config", store=st.sampled_from(["custom", None])),
    _op("config", reset=st.sampled_from(["earliest", "latest"])),
    _op("config", dict_server=st.sampled_from(["up", "down"])),
)


def _outage(tp: str, entries: int) -> list[Step]:
    topic = tp.rpartition("/")[0]
    return [
        {"op": "produce", "tp": tp, "recs": [["c", "SOP", VERSION]]},
        {"op": "open", "tp": tp},
        {"op": "ingest", "tp": tp, "n": entries},
        {"op": "config", "dict_server": "down"},
        {"op": "get_svs", "topic": topic},
        {"op": "config", "dict_server": "up"},
        {"op": "get_svs", "topic": topic},
    ]


_WRITTEN = ("s_v1/0", "s_v1/1", "s_v2/0")
_FIRST: list[Step] = [
    *({"op": "register", "topic": topic, "partitions": 2} for topic in TOPICS),
    {"op": "config", "dicts": {"s_v1": "one", "s_v2": "two"}},
]


def _plans(steps: st.SearchStrategy[Step]) -> st.SearchStrategy[list[Step]]:
    single = steps.map(lambda step: [step])
    grown = st.lists(st.one_of(single, _SESSIONS, _SESSIONS), min_size=6, max_size=14)
    return st.builds(
        lambda records, parts: [*beginning(records), *(step for part in parts for step in part)],
        LOGS,
        grown,
    )


PLACEMENTS = st.sampled_from(list(Placement))
LOGS = st.lists(_DATA, min_size=8, max_size=20)
SAFE_STEPS, HAZARDS, SESSIONS = _SAFE, _HAZARDS, _SESSIONS
OUTAGES = st.builds(_outage, _TP, st.sampled_from([3, 40]))
SAFE_PLANS = _plans(_SAFE)


def beginning(records: list[Any]) -> list[Step]:
    """Return the steps that every plan begins with: topics, dictionaries, logs with records."""
    produced = ({"op": "produce", "tp": tp, "recs": records} for tp in _WRITTEN)
    return [*_FIRST, *produced]


def play(script: StoreScript, index: int, step: Step) -> str | None:
    """Play one step and return the code of its error, if it has one."""
    try:
        script.play(step)
    except StoreError as error:
        script.errors.append([index, error.kind])
        return error.kind
    return None


def observed(script: StoreScript) -> list[Any]:
    """Return everything that a vector could ask about."""
    client = script.client
    journal = client.journal
    partitions = [
        (
            str(key),
            client.medium.rows(Area.DATA, key),
            client.medium.rows(Area.MIRROR, key),
            script.durable_position(str(key)),
            script.position(str(key)),
            script.loss(str(key)),
        )
        for key in KEYS
    ]
    counts = (journal.applied, journal.reprocessed, journal.syncs, journal.replayed)
    writes = [store.writes for store in client.stores.values()]
    return [partitions, counts, writes, script.errors, script.results, script.versions.current]


class Watch:
    """Checks after every step of a plan without hazards what a good store promises."""

    def __init__(self, versions: StoreVersions) -> None:
        self.script = StoreScript(versions)
        self.client = versions.client
        self._ahead: dict[TopicPartition, None] = {}  # the rows are ahead of the checkpoint
        self._durable: dict[TopicPartition, int | None] = {}
        self.goals: dict[str, int] = {}

    def play(self, index: int, step: Step) -> str | None:
        """Play one step and check every promise. Return the code of its error, if it has one."""
        positions = {key: self.script.position(str(key)) for key in KEYS}
        error = play(self.script, index, step)
        if error is not None:
            self._reach(error)
        reset = {"rebootstrap", "tamper", "open"}
        for key in KEYS:
            aimed = step.get("tp") == str(key)
            self._check_durable(key, may_go_back=aimed and step["op"] in reset)
            if step["op"] in {"sync", "ingest"} and not aimed:
                assert self.script.position(str(key)) == positions[key], "another partition moved"
        return error

    def finish(self) -> None:
        """Open everything, catch up, stop: content and log agree, however it went before."""
        self.script.play({"op": "config", "sync_bytes": 2})
        for _ in range(4):  # failures may still be armed, one of each kind and partition
            for key in KEYS:
                play(self.script, -1, {"op": "open", "tp": str(key)})
                play(self.script, -1, {"op": "ingest", "tp": str(key), "n": 1000})
            play(self.script, -1, {"op": "stop"})
        for key in KEYS:
            assert self.script.durable_position(str(key)) in {self.client.logs[key].end, None}
            found = loss_of(self.client, self.script.logs[key], key)
            assert (found.missing, found.stale, found.ghost) == (0, 0, 0)
            assert self.client.medium.rows(Area.DATA, key) == self._fold(key, None)

    def _check_durable(self, key: TopicPartition, *, may_go_back: bool) -> None:
        position = self.script.durable_position(str(key))
        rows = self.client.medium.rows(Area.DATA, key)
        claimed = -1 if position is None else position
        log = self.script.logs[key]
        if self.client.placement is Placement.COLOCATED:
            damaged = position is None and self.client.store.stored(key) is not None
            assert damaged or rows == self._fold(key, claimed), "the transaction was torn"
        else:
            folds = [self._fold(key, q) for q in range(claimed, log.end + 1)]
            if rows not in folds:
                assert key in self._ahead, "rows of no prefix, or checkpoint ahead of data"
                self._check_replay(rows, folds)
            self._note_ahead(key, ahead=rows != folds[0])
        before = self._durable.get(key)
        if before is not None and not may_go_back:
            assert claimed >= before, "the checkpoint went back"
        self._durable[key] = position

    def _check_replay(self, rows: dict[str, bytes], folds: list[dict[str, bytes]]) -> None:
        """Check each row by itself: what a crash left ahead is being applied again, in part."""
        names = {name for fold in [rows, *folds] for name in fold}
        for name in sorted(names):
            allowed = [fold.get(name) for fold in folds]
            assert rows.get(name) in allowed, "checkpoint ahead of data"
        self._reach("data ahead in part")

    def _note_ahead(self, key: TopicPartition, *, ahead: bool) -> None:
        if ahead:
            self._ahead[key] = None
            self._reach("data ahead")
        else:
            self._ahead.pop(key, None)

    def _fold(self, key: TopicPartition, position: int | None) -> dict[str, bytes]:
        log = self.script.logs[key]
        return fold(log, log.end if position is None else position)

    def _reach(self, goal: str) -> None:
        self.goals[goal] = self.goals.get(goal, 0) + 1
