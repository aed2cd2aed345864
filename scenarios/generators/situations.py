"""Surroundings of a random job on records that many systems have, and few jobs at once.

Each has a slot of its own.  A core in it is explored in jobs that have the situation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.job import Job
from ckptsim.scenarios.spec import Scenario

SITUATIONS: Mapping[str, Callable[[Job], bool]] = {
    "global_committer": lambda job: any(one.global_committer for one in job.vertices),
    "acknowledger": lambda job: any(one.acknowledges for one in job.vertices),
    "shared_state": lambda job: job.state.incremental,
    "enumerator": lambda job: any(one.splits is not None for one in job.vertices),
}
"""Slot -> whether a job is in its situation."""


def has(scenario: Scenario, wanted: Collection[str]) -> bool:
    """Return whether a scenario has situations, named by their slots."""
    model = scenario.model
    return isinstance(model, Job) and all(SITUATIONS[slot](model) for slot in wanted)


def situate(choices: Choices, text: dict[str, Any]) -> None:
    """Put a job into some of them, and into all that are wanted."""
    if "global_committer" in choices.wanted or choices.flag():
        _commit_together(choices, text, wanted="global_committer" in choices.wanted)
    if {"enumerator", "acknowledger", "shared_state"}.intersection(choices.wanted):
        text["checkpointing"]["enabled"] = True
        text["ending"]["protocol"] = text["ending"]["protocol"].replace("naive", "flink")
    outlives = "acknowledger" in choices.wanted or choices.flag()
    for vertex in text["vertices"] if outlives else ():
        if vertex["kind"] == "source":
            vertex["acknowledges"] = True
    if outlives or "shared_state" in choices.wanted:
        text["state"] = {"incremental": True}
    if "shared_state" in choices.wanted:
        text["checkpointing"].pop("count", None)  # few checkpoints share few files
        if choices.flag():
            text["checkpointing"]["savepoint_at_ns"] = choices.integer(20, 80) * 1_000_000
    # Splits that checkpoints side by side hold back for ever would hide what files do.
    may = text["checkpointing"].get("enabled", True) and "shared_state" not in choices.wanted
    if "enumerator" in choices.wanted or (may and choices.integer(0, 3) == 3):
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
