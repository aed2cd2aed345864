"""One state machine drives the model and real files: after every step they show the same."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from ckptsim.models.store import (
    Area,
    Placement,
    Refusal,
    StoreClient,
    StoreVersions,
    make_store,
)
from ckptsim.sim.store.real import real_medium
from tests.mutants.store import MUTANTS
from tests.store.core.machine import (
    HAZARDS,
    KEYS,
    LOGS,
    OUTAGES,
    PLACEMENTS,
    SAFE_STEPS,
    SESSIONS,
    VERSION,
    Step,
    Watch,
    beginning,
    observed,
    play,
)

_SETTINGS = settings(
    deadline=None,
    derandomize=True,
    database=None,
    stateful_step_count=12,
    # Rules are long lists of steps. Everything that is slow about them is the database.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


class StoreMachine(RuleBasedStateMachine):
    """Plays every step on the model and on real files.

    Both keep what a good store promises until the first hazard (a lost disk, an unsafe order, a
    foreign commit). Whatever was played, both give the same errors, results and contents.
    """

    model: Callable[[Placement], StoreVersions] = staticmethod(make_store)
    only: Placement | None = None
    plans = 0
    seen: Counter[str] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._watches: list[Watch] = []
        self._hazardous = False
        self._touched: str | None = None

    @initialize(placement=PLACEMENTS, records=LOGS)
    def begin(self, placement: Placement, records: list[Any]) -> None:
        """Open a model and files of one placement, with the same logs."""
        type(self).plans += 1
        placement = self.only or placement
        medium = real_medium(placement, Path(self._folder.name))
        real = StoreVersions(StoreClient(placement, medium))
        self._watches = [Watch(type(self).model(placement)), Watch(real)]
        for step in beginning(records):
            self._play(step)

    @rule(steps=SESSIONS)
    def session(self, steps: list[Step]) -> None:
        """Open a partition, ingest, and end in one of many ways."""
        for step in steps:
            self._play(step)

    @rule(steps=OUTAGES)
    def outage(self, steps: list[Step]) -> None:
        """Ask for the state of a version while its dictionary cannot be had, and again later."""
        for step in steps:
            self._play(step)

    @rule(step=SAFE_STEPS)
    def step(self, step: Step) -> None:
        """Do anything that a good store has to stand."""
        self._play(step)

    @rule(step=HAZARDS)
    def hazard(self, step: Step) -> None:
        """Do what no store can stand, or what only sets another one up."""
        self._hazardous = True
        self._play(step)

    @invariant()
    def both_show_the_same(self) -> None:
        """The partition that was touched last has the same rows, positions and losses."""
        if self._touched is None:
            return
        key = next(key for key in KEYS if str(key) == self._touched)
        views = [
            (
                watch.client.medium.rows(Area.DATA, key),
                watch.script.durable_position(str(key)),
                watch.script.position(str(key)),
                watch.script.results,
            )
            for watch in self._watches
        ]
        assert views[0] == views[1]

    def teardown(self) -> None:
        """Compare everything, let both catch up where nothing hazardous was done, and close."""
        try:
            if self._watches:
                self._compare()
        finally:
            for watch in self._watches[1:]:
                watch.client.medium.close()
            self._folder.cleanup()

    def _play(self, step: Step) -> None:
        index = sum(self.seen.values())
        if self._hazardous:
            errors = [play(watch.script, index, step) for watch in self._watches]
        else:
            errors = [watch.play(index, step) for watch in self._watches]
        assert errors[0] == errors[1], step
        self.seen[errors[0] or step["op"]] += 1
        self._touched = step.get("tp", self._touched)

    def _compare(self) -> None:
        model, real = self._watches
        assert observed(model.script) == observed(real.script)
        if not self._hazardous:
            self.seen["caught up"] += 1
            for watch in self._watches:
                watch.finish()
            assert observed(model.script) == observed(real.script)


def _machine(model: Callable[[Placement], StoreVersions] = make_store) -> type[StoreMachine]:
    """Return a machine of its own, with counters of its own."""
    return type(
        "Machine", (StoreMachine,), {"model": staticmethod(model), "plans": 0, "seen": Counter()}
    )


def _run(machine: type[StoreMachine], plans: int) -> None:
    run_state_machine_as_test(machine, settings=settings(_SETTINGS, max_examples=plans))


def test_model_and_files_agree() -> None:
    """On random plans, hazards included, model and files never differ, and much is met."""
    machine = _machine()
    _run(machine, 60)
    assert machine.plans >= 60
    _check_breadth(machine, kinds=20, refusals=5)


@pytest.mark.long
def test_model_and_files_agree_on_a_thousand_plans() -> None:
    """On a thousand plans model and files never differ, and many refusals are met."""
    machine = _machine()
    _run(machine, 1000)
    assert machine.plans >= 1000
    _check_breadth(machine, kinds=32, refusals=9)


def _check_breadth(machine: type[StoreMachine], *, kinds: int, refusals: int) -> None:
    """Look at how many kinds random plans have met. Each refusal has a plan of its own below."""
    assert machine.seen["caught up"] >= 3, machine.seen
    assert len(machine.seen) >= kinds, machine.seen
    assert len(machine.seen.keys() & set(Refusal)) >= refusals, machine.seen


_TP = {"tp": "s_v1/0"}
# Of each refusal, which random plans may not meet: the placement, and steps that end in it.
REFUSED: dict[str, tuple[Placement, list[Step]]] = {
    "BLOB_TOO_LARGE": (
        Placement.CONSUMER_GROUP_BLOB,
        [{"op": "set", "size": 3072, **_TP}, {"op": "set", "size": 3073, **_TP}],
    ),
    "CHECKPOINT_AHEAD_OF_LOG": (
        Placement.EXTERNAL,
        [{"op": "foreign_commit", "pos": 99, **_TP}, {"op": "open", **_TP}],
    ),
    "COMMIT_FAILED": (
        Placement.CONSUMER_GROUP_BLOB,
        [{"op": "fail_next_commit", **_TP}, {"op": "set", "blob": "x", **_TP}],
    ),
    "CORRUPT_CHECKPOINT": (
        Placement.CONSUMER_GROUP_BLOB,
        [
            {"op": "open", **_TP},
            {"op": "ingest", "n": 1, **_TP},
            {"op": "sync", **_TP},
            {"op": "tamper", **_TP},
            {"op": "open", **_TP},
        ],
    ),
    "DICT_UNAVAILABLE": (
        Placement.COLOCATED,
        [
            {"op": "produce", "recs": [["c", "SOP", VERSION]], **_TP},
            {"op": "open", **_TP},
            {"op": "ingest", "n": 9, **_TP},
            {"op": "config", "dict_server": "down"},
            {"op": "get_svs", "topic": "s_v1"},
        ],
    ),
    "INVALID_BLOB": (Placement.CONSUMER_GROUP_BLOB, [{"op": "set", "blob": None, **_TP}]),
    "INVALID_TOPIC": (
        Placement.COLOCATED,
        [{"op": "register", "topic": "s_rt", "partitions": 2}],
    ),
    "NOT_OPEN": (Placement.COLOCATED, [{"op": "sync", **_TP}]),
    "NOT_READY": (Placement.COLOCATED, [{"op": "version_swap", "store": "s", "to": 1}]),
    "UNKNOWN_PARTITION": (Placement.COLOCATED, [{"op": "get", "tp": "s_v1/2"}]),
    "UNKNOWN_TOPIC": (
        Placement.COLOCATED,
        [{"op": "drop_version", "topic": "s_v1"}, {"op": "open", **_TP}],
    ),
    "VERSION_IN_USE": (
        Placement.COLOCATED,
        [
            {"op": "produce", "recs": [["c", "EOP", {}]], **_TP},
            {"op": "produce", "recs": [["c", "EOP", {}]], "tp": "s_v1/1"},
            {"op": "open", **_TP},
            {"op": "open", "tp": "s_v1/1"},
            {"op": "ingest", "n": 9, **_TP},
            {"op": "ingest", "n": 9, "tp": "s_v1/1"},
            {"op": "version_swap", "store": "s", "to": 1},
            {"op": "drop_version", "topic": "s_v1"},
        ],
    ),
    "WRITE_FAILED": (
        Placement.COLOCATED,
        [
            {"op": "open", **_TP},
            {"op": "fail_next_write", **_TP},
            {"op": "ingest", "n": 1, **_TP},
            {"op": "sync", **_TP},
        ],
    ),
}


@pytest.mark.parametrize("refusal", REFUSED)
def test_model_and_files_refuse_alike(refusal: str, tmp_path: Path) -> None:
    """What random plans may not meet is refused by model and files in the same way."""
    placement, steps = REFUSED[refusal]
    real = StoreVersions(StoreClient(placement, real_medium(placement, tmp_path)))
    try:
        scripts = [Watch(versions).script for versions in (make_store(placement), real)]
        for script in scripts:
            for index, step in enumerate([*beginning([["p", "a", 1]]), *steps]):
                play(script, index, step)
            assert [code for _, code in script.errors] == [refusal]
        assert observed(scripts[0]) == observed(scripts[1])
    finally:
        real.client.medium.close()


@pytest.mark.parametrize(
    ("mutant", "placement"),
    [
        ("colocated_not_atomic", Placement.COLOCATED),
        ("group_offset_off_by_one", Placement.CONSUMER_GROUP_BLOB),
        ("counter_not_reset", None),
        ("never_wipes", None),
    ],
)
def test_the_machine_tells_a_faulty_model(mutant: str, placement: Placement | None) -> None:
    """A model without one safeguard is found out beside the files, where it has that safeguard."""
    machine = _machine(MUTANTS[mutant].factory)
    machine.only = placement
    found = settings(
        _SETTINGS, max_examples=200, phases=[Phase.generate], report_multiple_bugs=False
    )
    with pytest.raises(AssertionError):
        run_state_machine_as_test(machine, settings=found)
