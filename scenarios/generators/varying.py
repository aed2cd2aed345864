"""Scenarios around a given one: its sizes and times at and around its own, and more faults.

Its design stays: of choices and flags none is changed.  A change that does not fit the scenario,
and a fault that names what it has not, are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, cast

from ckptsim.scenarios.dialect import Kind, Many, Nested, OneOf, schema
from ckptsim.scenarios.errors import ScenarioError
from ckptsim.scenarios.files import plain, read
from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.faults import expected, with_faults
from ckptsim.scenarios.generators.hazards import with_hazards
from ckptsim.scenarios.job import Job, NoRestart
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.spec import Scenario
from ckptsim.scenarios.sync import RepeatIndex, SyncModel

_CHANGES_MAX = 4
_FAULTS_MAX = 3
# Further faults strike within so many steps of such a length, by the table of the model: what most
# scenarios of the library take.  An assumption.
_STEPS = 12
_STEP_NS = {"sync": 5_000_000, "job": 20_000_000, "store": 150_000_000, "pipeline": 4_000_000}
# Rules beside cores take a time that grows with the square of the numbers of states and of packets.
# Hundreds of states or thousands of packets take seconds.  An assumption: what fewer cannot show is
# not worth that.
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
_RESTART = {"kind": "exponential_delay", "initial_backoff_ns": 50_000_000}
_Path = tuple[str | int, ...]


def around(scenario: Scenario) -> Callable[[Choices], Scenario]:
    """Return a generator of scenarios around one. No choices give it without its goals."""
    link = LINKS[scenario.link]
    key, begin = link.key, cast("dict[str, Any]", plain(scenario) | {"goals": []})
    if _ACCEPTED in begin[key]:
        begin = _valid(begin | {key: begin[key] | {_ACCEPTED: "none"}}) or begin
    faults = Many(item=OneOf(tables=link.faults), minimum=0, maximum=len(scenario.faults))
    found = [*_numbers(Nested(table=link.model), begin[key], (key,))]
    found += _numbers(faults, begin["faults"], ("faults",))
    # What the scenario states decides what happens in it: half of the changes are changes of that.
    paths = tuple(path for path, _ in found)
    groups = (tuple(path for path, is_stated in found if is_stated) or paths, paths)
    partitions_max, packets_max = map(max, (_PARTITIONS_MAX, _PACKETS_MAX), _sizes(begin))

    def generate(choices: Choices) -> Scenario:
        text = begin
        for path, change in choices.several(
            lambda: (choices.of(choices.of(groups)), choices.of(_CHANGES)), most=_CHANGES_MAX
        ):
            changed = _valid(_changed(text, path, change)) or text
            partitions, packets = _sizes(changed)
            text = changed if partitions <= partitions_max and packets <= packets_max else text
        text = _with_chances(text, begin)
        kept = [fault for fault in _list(text["faults"]) if choices.integer(0, 3) < 3]
        other = read(text | {"faults": kept}, source="around")
        times = expected(other, step_ns=_STEP_NS.get(key, 1_000), steps=_STEPS)
        struck = with_faults(choices, other, times, most=_FAULTS_MAX)
        restarts = _with_restarts(struck) if len(struck.faults) > len(kept) else struck
        return with_hazards(_in_one_order(restarts))

    return generate


def _with_restarts(scenario: Scenario) -> Scenario:
    """Restart a job that its link does not restart by default, which else ends at a failure."""
    usual, job = LINKS[scenario.link].defaults.get("restart"), scenario.model
    if not isinstance(job, Job) or not isinstance(usual, NoRestart) or job.restart != usual:
        return scenario
    text: Any = plain(scenario)
    text["job"]["restart"] = _RESTART
    return read(text, source="around") if _valid(text) else scenario


def _in_one_order(scenario: Scenario) -> Scenario:
    """Leave out repeated indices on several sockets.

    Of two states with one index the first counts, which several sockets may tell apart wrongly: in
    a scenario that is about them, too, as soon as another size or fault lets one socket wait.
    """
    model = scenario.model
    if not isinstance(model, SyncModel) or model.sockets.count == 1:
        return scenario
    kept = tuple(one for one in scenario.faults if not isinstance(one, RepeatIndex))
    return replace(scenario, faults=kept)


def _with_chances(text: dict[str, Any], begin: dict[str, Any]) -> dict[str, Any]:
    """Leave every other checkpoint a chance: it completes if all subtasks succeed."""
    found = deepcopy(text)
    paths = [path for path, _ in _leaves(text, ())]
    subtasks = sum(_at(text, path) for path in paths if path[-1] == "parallelism")
    for path in paths:
        if str(path[-1]).endswith(_LOSSES):
            most = max(_at(begin, path), min(_LOSS_MAX, 1 / (2 * max(1, subtasks))))
            _at(found, path[:-1])[path[-1]] = min(_at(text, path), most)
    return found


def _sizes(text: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many partitions, and so states, and how many packets a sync has, else 0."""
    if "sync" not in text:
        return 0, 0
    source = text["sync"]["source"]
    feeds = [(one["records"], one["partition_records"]) for one in text["sync"]["streams"]]
    feeds.append((source["log_records"], source["log_partition_records"]))
    partitions = sum(-(-records // partition) for records, partition in feeds)
    return partitions, sum(-(-records // source["packet_records"]) for records, _ in feeds)


def _changed(text: dict[str, Any], path: _Path, change: Callable[[Any], Any]) -> dict[str, Any]:
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


def _numbers(kind: Kind, value: Any, path: _Path) -> Iterator[tuple[_Path, bool]]:
    """Yield where a value of a kind has numbers, and whether each is another than its default."""
    match kind:
        case Many():
            for index, one in enumerate(value):
                yield from _numbers(kind.item, one, (*path, index))
        case Nested() | OneOf() if isinstance(value, dict):
            table = kind.table if isinstance(kind, Nested) else kind.tables[value["kind"]]
            for entry in schema(table):
                one, inside = value[entry.name], (*path, entry.name)
                if _is_number(one) and entry.name not in _KEPT:
                    is_default = not entry.required and one == entry.kind.plain(entry.default)
                    yield inside, not is_default
                elif isinstance(one, dict | list):
                    yield from _numbers(entry.kind, one, inside)
        case _ if _is_number(value):
            yield path, True


def _leaves(value: Any, path: _Path) -> Iterator[tuple[_Path, Any]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in inner:
        if isinstance(one, dict | list):
            yield from _leaves(one, (*path, key))
        elif _is_number(one):
            yield (*path, key), one


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _at(text: Any, path: _Path) -> Any:
    for step in path:
        text = text[step]
    return text


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value)
