"""Random scenarios around a given one: sizes and times at and around its own, and more faults.

Its design stays: of choices and flags none is changed.  A change that does not fit the scenario,
and a fault that names what it has not, are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import asdict, is_dataclass, replace
from functools import partial
from typing import Any, cast

from ckptsim.scenarios.errors import ScenarioError
from ckptsim.scenarios.files import plain, read
from ckptsim.scenarios.generators.checkpoint_store import STORE_FAULT_DRAWS, store_hazards_of
from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.composed import drawn_fault
from ckptsim.scenarios.generators.final_checkpoint import HAZARDS
from ckptsim.scenarios.generators.job_environment import job_fault
from ckptsim.scenarios.generators.ordering import SYNC_FAULT_DRAWS, hazards_of
from ckptsim.scenarios.job import Job, NoRestart
from ckptsim.scenarios.job.names import PROPERTIES
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.spec import Scenario
from ckptsim.scenarios.store import StoreModel
from ckptsim.scenarios.sync import SyncModel

_CHANGES_MAX = 4
_FAULTS_MAX = 3
# Rules beside cores take a time that grows with the square of the numbers of states and of batches,
# of which a packet is the smallest: seconds of work for hundreds of the one or thousands of the
# other.  An assumption: what fewer cannot show is not worth that.
_PARTITIONS_MAX = 100
_PACKETS_MAX = 2_000
_CHANGES: tuple[Callable[[Any], Any], ...] = (
    lambda value: value // 2 if isinstance(value, int) else value / 2,
    lambda value: value * 2,
    lambda value: value + 1,
    lambda value: max(0, value - 1),
    lambda _: 0,
    lambda _: 1,
)
# Ids of fewer characters are given twice, which no rule survives.
_KEPT = frozenset({"partition_id_characters"})
# What an operator accepts of the scenario as it is.
_ACCEPTED = "rework_records_max"
# Shares of what goes wrong by chance, and the most of it that is drawn: a job that fails with each
# failed checkpoint has a chance of some twenty that succeed.  An assumption.
_LOSSES = ("loss_ratio", "failure_ratio")
_LOSS_MAX = 0.02
_NO_RESTART = {"kind": "none"}
_RESTART = {"kind": "exponential_delay", "initial_backoff_ns": 50_000_000}
_Path = tuple[str | int, ...]


def around(scenario: Scenario) -> Callable[[Choices], Scenario]:
    """Return a generator of scenarios around a scenario; no choices give it without its goals."""
    key = LINKS[scenario.link].key
    begin: dict[str, Any] = plain(scenario) | {"goals": []}
    if _ACCEPTED in begin[key]:
        begin[key] = begin[key] | {_ACCEPTED: "none"}
    known = PROPERTIES[cast("Job", scenario.model).plane] if key == "job" else ()
    hazards = [name for name in HAZARDS if name in known]
    begin["violates"] = list(dict.fromkeys([*scenario.violates, *hazards]))
    begin = _valid(begin) or plain(scenario) | {"goals": []}
    numbers = tuple(_numbers(begin[key], (key,)))
    partitions_max, packets_max = map(max, (_PARTITIONS_MAX, _PACKETS_MAX), _sizes(begin))

    def generate(choices: Choices) -> Scenario:
        text = begin
        for path, change in choices.several(lambda: _change(choices, numbers), most=_CHANGES_MAX):
            changed = _valid(_changed(text, path, change)) or text
            partitions, packets = _sizes(changed)
            text = changed if partitions <= partitions_max and packets <= packets_max else text
        text = _with_chances(text, begin)
        kept = [fault for fault in _list(text["faults"]) if choices.integer(0, 3) < 3]
        text = text | {"faults": kept}
        further = choices.several(partial(_fault, choices, key, text), most=_FAULTS_MAX)
        for fault in further:
            text = _valid(text | {"faults": [*_list(text["faults"]), fault]}) or text
        if further:
            text = _valid(_with_restarts(text, scenario)) or text
        return _with_hazards(read(_in_one_order(text), source="around"))

    return generate


def _with_restarts(text: dict[str, Any], scenario: Scenario) -> dict[str, Any]:
    """Restart a job that its link does not restart by default, which else ends at a failure."""
    usual = LINKS[scenario.link].defaults.get("restart")
    if not isinstance(usual, NoRestart) or text["job"]["restart"] != _NO_RESTART:
        return text
    return text | {"job": text["job"] | {"restart": _RESTART}}


def _in_one_order(text: dict[str, Any]) -> dict[str, Any]:
    """Leave out repeated indices on several sockets.

    Of two states with one index the first counts, which several sockets may tell apart wrongly: in
    a scenario that is about them, too, as soon as another size or fault lets one socket wait.
    """
    if "sync" not in text or text["sync"]["sockets"]["count"] == 1:
        return text
    kept = [one for one in text["faults"] if one["kind"] != "repeat_index"]
    return text | {"faults": kept}


def _with_chances(text: dict[str, Any], begin: dict[str, Any]) -> dict[str, Any]:
    """Leave every other checkpoint a chance: it completes if all subtasks succeed.

    What always fails, or nearly so, keeps any core from its end.  A scenario may have more of it.
    """
    found = deepcopy(text)
    subtasks = 0
    losses = []
    for path in _numbers(text, ()):
        if path[-1] == "parallelism":
            subtasks += _at(text, path)
        elif str(path[-1]).endswith(_LOSSES):
            losses.append(path)
    for path in losses:
        most = max(_at(begin, path), min(_LOSS_MAX, 1 / (2 * subtasks)))
        _at(found, path[:-1])[path[-1]] = min(_at(text, path), most)
    return found


def _at(text: Any, path: _Path) -> Any:
    for step in path:
        text = text[step]
    return text


def _sizes(text: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many partitions, and so states, and how many packets a sync has; 0 of all else."""
    if "sync" not in text:
        return 0, 0
    source = text["sync"]["source"]
    feeds = [(one["records"], one["partition_records"]) for one in text["sync"]["streams"]]
    feeds.append((source["log_records"], source["log_partition_records"]))
    partitions = sum(-(-records // partition) for records, partition in feeds)
    return partitions, sum(-(-records // source["packet_records"]) for records, _ in feeds)


def _with_hazards(scenario: Scenario) -> Scenario:
    """Add what a right core cannot prevent, now that there are other options and faults."""
    if isinstance(scenario.model, SyncModel):
        found = hazards_of(scenario.model, scenario.faults)
    elif isinstance(scenario.model, StoreModel):
        found = store_hazards_of(scenario.model, scenario.faults)
    else:
        return scenario
    return replace(scenario, violates=tuple(dict.fromkeys([*scenario.violates, *found])))


def _change(choices: Choices, numbers: tuple[_Path, ...]) -> tuple[_Path, Callable[[Any], Any]]:
    return choices.of(numbers), choices.of(_CHANGES)


def _changed(text: dict[str, Any], path: _Path, change: Callable[[Any], Any]) -> dict[str, Any]:
    """Return a document with one number changed."""
    found = deepcopy(text)
    _at(found, path[:-1])[path[-1]] = change(_at(text, path))
    return found


def _valid(text: dict[str, Any]) -> dict[str, Any] | None:
    """Return a document that is a scenario, None for one that is none."""
    try:
        read(text, source="around")
    except ScenarioError:
        return None
    return text


def _numbers(value: object, path: _Path) -> Iterator[_Path]:
    """Yield where a model has numbers."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in _KEPT:
                continue
            yield from _numbers(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _numbers(inner, (*path, index))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path


def _fault(choices: Choices, key: str, text: dict[str, Any]) -> dict[str, Any]:
    """Return one more fault of the link's kinds."""
    model: Any = text[key]
    if key == "job":
        return job_fault(choices, model)
    if key == "pipeline":
        return drawn_fault(choices, model)
    if key == "store":
        scenario = read(text, source="around")
        kind = choices.of(tuple(STORE_FAULT_DRAWS))
        drawn: object = STORE_FAULT_DRAWS[kind](choices, cast("StoreModel", scenario.model))
    else:
        kind = choices.of(tuple(SYNC_FAULT_DRAWS))
        drawn = SYNC_FAULT_DRAWS[kind](choices)
    if not is_dataclass(drawn) or isinstance(drawn, type):
        raise TypeError("faults are dataclasses")
    return {"kind": kind} | {name: _base(value) for name, value in asdict(drawn).items()}


def _base(value: Any) -> Any:
    return "none" if value is None else value


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value)
