"""Surroundings of a random job on records that many systems have, and few jobs at once.

Each has a slot of its own.  A core in it is explored in jobs that have the situation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.job import Job, Vertex
from ckptsim.scenarios.spec import Scenario

SITUATIONS: Mapping[str, Callable[[Vertex], bool]] = {
    "global_committer": lambda vertex: vertex.global_committer,
    "acknowledger": lambda vertex: vertex.acknowledges,
    "enumerator": lambda vertex: vertex.splits is not None,
}
"""Slot -> whether a vertex is in its situation."""


def has(scenario: Scenario, wanted: Collection[str]) -> bool:
    """Return whether a scenario has situations, named by their slots."""
    vertices = scenario.model.vertices if isinstance(scenario.model, Job) else ()
    return all(any(map(SITUATIONS[slot], vertices)) for slot in wanted)


def situate(choices: Choices, text: dict[str, Any]) -> None:
    """Put a job into some of them, and into all that are wanted."""
    if "global_committer" in choices.wanted or choices.flag():
        _commit_together(choices, text, wanted="global_committer" in choices.wanted)
    if {"enumerator", "acknowledger"}.intersection(choices.wanted):
        text["checkpointing"]["enabled"] = True
        text["ending"]["protocol"] = text["ending"]["protocol"].replace("naive", "flink")
    for vertex in text["vertices"] if "acknowledger" in choices.wanted or choices.flag() else ():
        if vertex["kind"] == "source":
            vertex["acknowledges"] = True
    is_coordinated = text["checkpointing"].get("enabled", True)
    if is_coordinated and ("enumerator" in choices.wanted or choices.integer(0, 3) == 3):
        _enumerate(choices, text)


def _enumerate(choices: Choices, text: dict[str, Any]) -> None:
    """Let an enumerator assign the splits of sources. Short ones are asked for often."""
    text.pop("event_time", None)
    for vertex in text["vertices"]:
        vertex.pop("recorded", None)
        if vertex["kind"] == "source":
            vertex |= {"splits": choices.of((6, 3, 12)), "records_step": 0}
            vertex.pop("ends_at_ns", None)


def _commit_together(choices: Choices, text: dict[str, Any], *, wanted: bool) -> None:
    """Let sinks have global committers. Few records lead to writers that have none."""
    ending, vertices = text["ending"], text["vertices"]
    if wanted:
        ending["protocol"] = ending["protocol"].replace("naive", "flink")
        vertices[-1]["kind"] = "sink"
        text["checkpointing"] |= {"enabled": True, "after_finish": True}
    if ending["protocol"] == "naive":
        return
    for sink in (one for one in vertices if one["kind"] == "sink"):
        sink |= {"global_committer": True, "opens_after_finish": False}
        sink["file_records"] = choices.of(("none", 3, 1))
