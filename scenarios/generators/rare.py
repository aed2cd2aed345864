"""Options that few scenarios need: each random one gets a few of them, so that all are explored.

Only those with which every property holds; whatever does not fit a scenario is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, TypeAlias

from ckptsim.scenarios.errors import ScenarioError
from ckptsim.scenarios.files import plain, read
from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.spec import Scenario

_MS = 1_000_000
_MOST = 3
_Option: TypeAlias = tuple[str, Sequence[Any]]
"""A place, such as `vertices.*.repeat`, where * is any item, and what may stand there."""

_JOB: tuple[_Option, ...] = (
    ("event_time.watermark_interval_ns", (2 * _MS, 10 * _MS)),
    ("event_time", ({"watermark_interval_ns": 2 * _MS, "idle_timeout_ns": 5 * _MS},)),
    ("channel_state.read_piece_ns", (_MS,)),
    ("channel_state.order_required", (True,)),
    ("channel_state.ordered_edges", ("forced",)),
    ("channels.buffer_sizes", ("flushed", "debloated")),
    ("checkpointing.first_trigger_ns", (0, 5 * _MS)),
    ("checkpointing.subtasks_per_file", (1, 2)),
    ("channels.preloaded_records", (3, 20)),
    ("vertices.*.rate_changes", ([{"at_ns": 20 * _MS, "factor": 3.0}],)),
    ("vertices.*.repeat", (2,)),
    ("vertices.*.selectivity", (0.5, 2.0)),
    ("vertices.*.service_variation", (0.5,)),
    ("machine", ({"cores": 1}, {"cost_factor": 2.0})),
)
_SYNC: tuple[_Option, ...] = (
    ("source.checkpoint_ns", (5 * _MS,)),
    ("source.complete_on_every_socket", (False, True)),
    ("source.final_drain", ("skip", "wait")),
    ("source.keys_on_stdio", (True, False)),
    ("source.open_spread", (0.5,)),
    ("source.repeat_states", (True, False)),
    ("destination.upload_bandwidth_bytes_per_s", (100_000,)),
    ("platform.count_check", ("reject", "report")),
)
_STORE: tuple[_Option, ...] = (
    *((f"process.{name}_ns", (_MS,)) for name in ("apply", "restart", "reopen", "retry")),
    *((f"costs.{name}_ns", (_MS // 10,)) for name in ("autocommit", "fsync", "remote", "wal")),
    *((f"costs.{name}_row_ns", (_MS // 10,)) for name in ("flush", "replay", "transaction")),
)
_PIPELINE: tuple[_Option, ...] = (
    ("machine", ({"cores": 2},)),
    ("release.end_wait_ns", (_MS, 5 * _MS)),
    ("store.report_ns", (100 * _MS,)),
    ("store.retry_ns", (_MS,)),
    ("store.spread", (0.5,)),
)
_OPTIONS: Mapping[str, tuple[_Option, ...]] = {
    "job": _JOB,
    "sync": _SYNC,
    "store": _STORE,
    "pipeline": _PIPELINE,
}


def varied(generate: Callable[[Choices], Scenario]) -> Callable[[Choices], Scenario]:
    """Return a generator of the same scenarios with up to three rare options."""
    return lambda choices: _with_rare_options(choices, generate(choices))


def _with_rare_options(choices: Choices, scenario: Scenario) -> Scenario:
    key = LINKS[scenario.link].key
    for place, values in choices.several(lambda: choices.of(_OPTIONS[key]), most=_MOST):
        text: Any = deepcopy(plain(scenario))
        _put(choices, text, f"{key}.{place}".split("."), choices.of(values))
        try:
            scenario = read(text, source=place)
        except ScenarioError:
            continue
    return scenario


def _put(choices: Choices, text: Any, path: Sequence[str], value: Any) -> None:
    """Put a value at a place of a document; a table into the one that is there."""
    *way, last = path
    for step in way:
        text = text[choices.integer(0, len(text) - 1)] if step == "*" else text.setdefault(step, {})
    text[last] = text.get(last, {}) | value if isinstance(value, dict) else value
