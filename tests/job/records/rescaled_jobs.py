"""Random jobs that crash and are rescaled, 1 to 8 subtasks, with records of one or more buffers.

`python -m tests.job.records.rescaled_jobs FIRST LAST` runs the jobs of the seeds FIRST to LAST,
excluded, and prints each violation, how far it is, and at the end what was reached.
"""

from __future__ import annotations

import sys
from random import Random
from typing import Any

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.generators.completing import spare_files
from ckptsim.scenarios.generators.job_environment import CHANNEL_STATES
from tests import many
from tests.job import many as jobs
from tests.job.records.plans import MS, Seeded, document, scenario_of

GOALS = ("restarted", "restored_rescaled", "record_filtered", "declined_during_recovery")
GOALS += ("memory_lent", "rescale_refused", "resubmitted", "watermark_passed_an_idle_input")


def random_job(seed: int) -> Scenario:
    """Return the random job of a seed: one without rescaling, with that drawn on top."""
    text, random = document(Seeded(seed)), Random(f"rescaled {seed}")
    job = text["job"]
    vertices = {vertex["name"]: vertex for vertex in job["vertices"]}
    for vertex in vertices.values():
        if vertex["kind"] != "source":
            vertex["parallelism"] = random.choice((1, 2, 3, random.randint(1, 8)))
        if vertex.get("recorded") == "partial" and vertex["parallelism"] == 1:
            vertex["recorded"] = "running"
    for vertex in vertices.values():
        for one in vertex.get("inputs", ()):
            one.pop("shares", None)
            if one["partitioner"] == "forward" and differ(vertices, one["upstream"], vertex):
                one["partitioner"] = "hash"
    give_custom(seed, vertices)
    job["channels"]["record_buffers"] = random.choice((1, 1, 2, 3))
    job["costs"]["read_record_ns"] = random.choice((0, 0, MS // 4))
    job["restart"] = {"kind": "fixed_delay", "delay_ns": random.choice((0, 5 * MS))}
    job["channel_state"] = _channel_state(Random(f"channel state {seed}"))
    job["event_time"] = _event_time(Random(f"event time {seed}"))
    if job["channel_state"].get("persistence") == "log_service":
        # It is cut for the newest checkpoint: `flip76_log_service_retained`.
        job["checkpointing"]["retained"] = 1
    spare_files(job)
    text["faults"] = [one for one in text["faults"] if fits(one, vertices)]
    text["faults"] += _rescales(random, vertices)
    text["faults"] += resubmissions(seed, job["checkpointing"], vertices, last_ns=150 * MS)
    return scenario_of(text)


def _channel_state(random: Random) -> dict[str, Any]:
    """Return how in-flight data is kept: in half of the jobs as Apache Flink does."""
    return dict(random.choice(CHANNEL_STATES)) if random.random() < 0.5 else {}


def _event_time(random: Random) -> dict[str, Any]:
    """Return when sources tell watermarks and idleness: one job of two has none."""
    interval_ns = random.choice((None, None, MS, 5 * MS))
    idle_ns = random.choice((None, 2 * MS, 10 * MS))
    found = {"watermark_interval_ns": interval_ns, "idle_timeout_ns": interval_ns and idle_ns}
    return {name: value for name, value in found.items() if value is not None}


def give_custom(seed: int, vertices: dict[str, Any]) -> None:
    """Let some of the records that come by key come by a function of the user's."""
    random = Random(f"custom {seed}")
    for vertex in vertices.values():
        for one in vertex.get("inputs", ()):
            if one["partitioner"] == "hash" and not one.get("shares") and random.random() < 0.2:
                one["partitioner"] = "custom"


def differ(vertices: dict[str, Any], upstream: str, vertex: dict[str, Any]) -> bool:
    return bool(vertices[upstream]["parallelism"] != vertex["parallelism"])


def fits(fault: dict[str, Any], vertices: dict[str, Any]) -> bool:
    vertex = fault.get("vertex")
    return vertex is None or fault.get("subtask", 0) < vertices[vertex]["parallelism"]


def _rescales(random: Random, vertices: dict[str, Any]) -> list[dict[str, Any]]:
    """Return some changes of parallelism, and crashes between them."""
    free = [name for name in vertices if not forgets(vertices, name)]
    found: list[dict[str, Any]] = []
    for _ in range(random.randint(1, 4) if free else 0):
        at = {"vertex": random.choice(free), "at_ns": random.randint(1, 150) * MS}
        found.append({"kind": "rescale", "parallelism": random.randint(1, 8), **at})
        if random.random() < 0.5:
            at = {"vertex": random.choice(free), "at_ns": random.randint(1, 150) * MS}
            found.append({"kind": "crash_task", "subtask": 0, **at})
    return found


def resubmissions(
    seed: int, checkpointing: dict[str, Any], vertices: dict[str, Any], *, last_ns: int
) -> list[dict[str, Any]]:
    """Submit one job of three again: as it is, under another mode, with other subtasks.

    One of twenty is cancelled for good.
    """
    random = Random(f"resubmitted {seed}")
    free = [name for name in vertices if not forgets(vertices, name)]
    modes = ["as_before", "aligned", "at_least_once"]
    modes += ["unaligned", "aligned_timeout"] if checkpointing["max_concurrent"] == 1 else []
    found: list[dict[str, Any]] = []
    for _ in range(random.choice((0, 0, 0, 0, 1, 2))):
        changes: dict[str, Any] = {"mode": random.choice(modes)}
        if free and random.random() < 0.5:
            changes |= {"vertex": random.choice(free), "parallelism": random.randint(1, 8)}
        at_ns = random.randint(MS, last_ns)
        found.append({"kind": "resubmit", "at_ns": at_ns} | changes)
        found += [{"kind": "request_savepoint", "at_ns": random.randint(MS, at_ns)}]
    if random.random() < 0.05:
        found.append({"kind": "cancel", "at_ns": random.randint(MS, last_ns)})
    return found


def forgets(vertices: dict[str, Any], name: str) -> bool:
    """Tell whether a vertex goes with a source that has no state, which cannot be rescaled."""
    group = [name]
    for member in group:
        for vertex in vertices.values():
            for one in vertex.get("inputs", ()):
                ends = (vertex["name"], one["upstream"])
                if one["partitioner"] == "forward" and member in ends:
                    group += [end for end in ends if end not in group]
    return not all(vertices[member].get("keeps_position", True) for member in group)


HUNT = many.Hunt(random_job=random_job, goals=GOALS, mode=jobs._mode, is_hazard=jobs.is_hazard)

if __name__ == "__main__":
    many.show(HUNT, sys.argv[1:])
