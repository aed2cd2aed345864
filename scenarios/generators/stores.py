"""Random checkpoint stores of sound design, with fault plans that break none of their promises."""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios.generators.choices import Choices, drawn, fitted
from ckptsim.scenarios.generators.faults import expected, with_faults
from ckptsim.scenarios.generators.hazards import with_hazards
from ckptsim.scenarios.spec import Scenario
from ckptsim.scenarios.store import RecordDurability, StorePlacement

_MS = 1_000_000
_FAULTS_MAX = 5
_WEEK_NS = 7 * 24 * 3600 * 1_000 * _MS
_INPUT = {
    "push_records": (30, 200),
    "stream_records": (1, 250),
    "rate_per_s": (200.0, 1_000.0, 30_000.0),
    "keys": (7, 1, 1_000),
    "producers": (0, 2, 1, 3),
    "segment_records": (20, 1, 7, 100),
}
_RICHER = {
    "versions": (1, 2, 3),
    "version_gap_ns": (300 * _MS, 20 * _MS, 100 * _MS, 1_000 * _MS, 2_000 * _MS),
    "view": (False, True),
    "deletes_every": (0, 2, 7),
    "switch_every": (0, 1, 50),
    "compressed": (False, True),
    "seek_position": (0, 0, 20, 30),
    "remote_ahead": ("none", 7, 40, -20),
}
_SYNC = {
    "sync_bytes": (3_000, 500, 0),
    "sync_interval_ns": (0, 20 * _MS),
    "durability": tuple(one.value for one in RecordDurability),
    "deferred_write": (False, True),
    "identity": (False, True),
    "built_in": (False, True),
    "offset_expiry_ns": (_WEEK_NS, _WEEK_NS, 1_200 * _MS),
}
# An old owner writes late, and a crash shows what it has changed.  Records in flight meet a switch.
_SWITCHES = ("switch_source",)
# Records come one by one for longer than a second, while one partition is switched to and fro.
_OF_ONE_PARTITION = {"partitions": 1, "versions": 1, "rate_per_s": 200.0, "stream_records": 250}
_THEMES = (None, None, None, None, ("takeover", "crash_at"), _SWITCHES)


def checkpoint_store(choices: Choices) -> Scenario:
    """Return a random store with a fault plan."""
    placement = choices.of(tuple(StorePlacement))
    given = drawn(choices, _INPUT) | {"partitions": 2}
    if choices.flag():
        given |= drawn(choices, _RICHER)
    sync: dict[str, Any] = drawn(choices, _SYNC)
    sync["mirror"] = choices.flag() and placement is not StorePlacement.COLOCATED
    if sync["mirror"] and not given.get("deletes_every") and choices.flag():
        sync["hooked"] = False  # the mirror puts unflushed rows back, and no deletes
    if sync["durability"] != RecordDurability.PER_RECORD:
        sync["ingest_while_syncing"] = choices.flag()
    kinds = choices.of(_THEMES)
    if kinds == _SWITCHES:
        given |= _OF_ONE_PARTITION | {"remote_ahead": choices.of((40, 7, -20))}
    scenario = fitted(
        {
            "name": "generated",
            "link": "checkpoint_store",
            "says": "a store and fault plan that was generated",
            "store": {"placement": placement.value, "input": given, "sync": sync},
        }
    )
    times = expected(scenario, step_ns=70 * _MS, steps=30)
    least = 0 if kinds is None else 3
    return with_hazards(
        with_faults(choices, scenario, times, most=_FAULTS_MAX, least=least, kinds=kinds)
    )
