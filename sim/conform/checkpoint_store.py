"""Run the vectors of suite `checkpoint_store` against a client with its versions of stores.

A factory takes the placement and returns `StoreVersions` of `models/store` around a client; the
default one keeps everything in the model medium.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ckptsim.models.store import Placement, StoreError, make_store
from ckptsim.sim.conform.runner import Adapter, Mismatch, Vector, as_text, compare
from ckptsim.sim.conform.store_steps import StoreScript
from ckptsim.sim.slots import Factory

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
    """Return of what was found only what an expectation names."""
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
