"""Random jobs on buffers that crash and are rescaled, 1 to 8 subtasks.

`python -m tests.job.buffers.rescaled_jobs FIRST LAST` runs the jobs of the seeds FIRST to LAST,
excluded, and prints each violation, how far it is, and at the end what was reached.  Two of three
restart at once, the third takes the time that recoveries take.
"""

from __future__ import annotations

import sys
from random import Random
from typing import Any

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.generators.completing import spare_files
from ckptsim.sim.job.buffers.constants import PLAIN
from tests import many
from tests.job import many as jobs
from tests.job.buffers.plans import crashing_document, scenario_of
from tests.job.records.plans import MS, Seeded
from tests.job.records.rescaled_jobs import differ, fits, forgets, give_custom, resubmissions

GOALS = ("restarted", "restored_rescaled", "record_filtered", "overtook_buffers", "resubmitted")
_TIMED = 3


def random_job(seed: int) -> Scenario:
    """Return the random job of a seed: one that crashes, with rescales drawn on top."""
    return scenario_of(document(seed))


def document(seed: int) -> dict[str, Any]:
    """Return it as the document of a scenario file."""
    text, random = crashing_document(Seeded(seed)), Random(f"rescaled {seed}")
    job = text["job"]
    vertices = {vertex["name"]: vertex for vertex in job["vertices"]}
    for vertex in vertices.values():
        if vertex.get("kind") != "source":
            vertex["parallelism"] = random.choice((1, 2, 3, random.randint(1, 8)))
        if vertex.get("recorded") == "partial" and vertex["parallelism"] == 1:
            vertex["recorded"] = "running"
    for vertex in vertices.values():
        for one in vertex.get("inputs", ()):
            if one["partitioner"] == "forward" and differ(vertices, one["upstream"], vertex):
                one["partitioner"] = "hash"
    is_filled = random.random() < 0.5
    if is_filled:
        _fill_channels(random, text, vertices)
    give_custom(seed, vertices)
    for vertex in vertices.values():
        broadcasts = [one["partitioner"] == "broadcast" for one in vertex.get("inputs", ())]
        vertex["broadcast_state"] = bool(broadcasts) and all(broadcasts) and random.random() < 0.5
    # Tasks that end one by one leave data behind them that no checkpoint knows of.
    job["ending"]["protocol"] = job["ending"]["protocol"].replace("naive", "flink")
    text["faults"] = [one for one in text["faults"] if fits(one, vertices)]
    job["checkpointing"]["enabled"] = True  # what nothing coordinates cannot be rescaled
    _allow_time(job["checkpointing"], len(vertices))
    spare_files(job)
    interval_ns = int(job["checkpointing"]["interval_ns"])
    last_ns = 8 * interval_ns
    _end_soon(vertices, 2 * last_ns)
    text["faults"] += _rescales(random, vertices, 2 * interval_ns if is_filled else MS, last_ns)
    text["faults"] += resubmissions(seed, job["checkpointing"], vertices, last_ns=last_ns)
    if seed % _TIMED == 0:
        job["recovery"] = {"timed": True}
        for vertex in vertices.values():
            vertex["replayable"] = vertex.get("kind") == "source" and "rate_per_s" in vertex
    return text


def _allow_time(checkpointing: dict[str, Any], vertices: int) -> None:
    """Let no checkpoint expire while a machine with two cores still sends barriers and files on.

    Barriers of checkpoints that expired are sent on all the same, so with a time-out below what
    one checkpoint costs its cores a job is kept from its records for ever, as a real one is.
    """
    costs_ns = 8 * vertices * (PLAIN.barrier_cost_ns + PLAIN.file_cost_ns)
    checkpointing["timeout_ns"] = max(checkpointing["timeout_ns"], costs_ns)


def _end_soon(vertices: dict[str, Any], last_ns: int) -> None:
    """Let no source have records due long after all faults: what is long explores nothing more."""
    for vertex in vertices.values():
        if "rate_per_s" in vertex:
            due = int(vertex["rate_per_s"] * last_ns) // 10**9 + 1
            vertex["records"] = min(vertex["records"], due)


def _fill_channels(random: Random, text: dict[str, Any], vertices: dict[str, Any]) -> None:
    """Let sources fill keyed channels, and barriers overtake what is in them, for ten checkpoints.

    Few other faults strike, and nothing ends before the job is rescaled.
    """
    job = text["job"]
    job["checkpointing"] |= {
        "mode": random.choice(("unaligned", "aligned_timeout")),
        "timeout_ns": 600_000 * MS,
        "interval_ns": 40 * MS,
        "min_pause_ns": 0,
        "max_concurrent": 1,
    }
    for option in ("stop_at_ns", "stop_kind"):
        job["ending"].pop(option, None)
    job["storage"] |= {"create_latency_ns": 0, "failure_ratio": 0.0, "tail_ratio": 0.0}
    text["faults"] = random.sample(text["faults"], min(1, len(text["faults"])))
    for vertex in vertices.values():
        vertex.pop("rate_per_s", None)
        vertex.pop("recorded", None)
        if vertex.get("kind") == "source":
            vertex["records"] = random.choice((200, 400))
        vertex["service_ns"] = random.choice((MS // 10, MS // 2, MS))
        for one in vertex.get("inputs", ()):
            if one["partitioner"] != "forward" and random.random() < 0.7:
                one["partitioner"] = random.choice(("hash", "hash", "rebalance"))


def _rescales(
    random: Random, vertices: dict[str, Any], first_ns: int, last_ns: int
) -> list[dict[str, Any]]:
    """Return some changes of parallelism, and crashes between them."""
    free = [name for name in vertices if not forgets(vertices, name)]
    found: list[dict[str, Any]] = []
    for _ in range(random.randint(1, 4) if free else 0):
        at = {"vertex": random.choice(free), "at_ns": random.randint(first_ns, last_ns)}
        found.append({"kind": "rescale", "parallelism": random.randint(1, 8), **at})
        if random.random() < 0.5:
            at = {"vertex": random.choice(free), "at_ns": random.randint(first_ns, last_ns)}
            found.append({"kind": "crash_task", "subtask": 0, **at})
    return found


HUNT = many.Hunt(random_job=random_job, goals=GOALS, mode=jobs._mode, is_hazard=jobs.is_hazard)

if __name__ == "__main__":
    many.show(HUNT, sys.argv[1:])
