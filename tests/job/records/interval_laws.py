"""Jobs that fail at random: what intervals between checkpoints cost, simulated and on paper.

`python -m tests.job.records.interval_laws` writes the table of docs/recovery.md again.
"""

from __future__ import annotations

from functools import cache
from math import exp
from pathlib import Path
from random import Random
from statistics import fmean

from ckptsim.scenarios.files import loads
from ckptsim.sim.world import run_world

# One task, a checkpoint that keeps its thread for 60 ms, failures 3,600 ms apart in the mean.  For
# these the interval that costs least is 617.9 ms of work.  Source: J. T. Daly, A higher order
# estimate of the optimum checkpoint interval for restart dumps (2006), equations 20 and 37.
COST_MS, MEAN_TIME_BETWEEN_FAILURES_MS = 60, 3_600
OPTIMUM_MS = 618
GAP_MS = 10  # of work per record
WORK_MS = 28_800

HEAD = """
name = "law"
link = "{link}"
says = "law"

[job]
{job}
[job.checkpointing]
interval = "{interval_ms} ms"
min_pause = "{interval_ms} ms"
after_finish = false

[job.restart]
kind = "fixed_delay"
delay = "{restart_ms} ms"
"""
FAULT = '\n[[faults]]\nkind = "crash_task"\nvertex = "{vertex}"\nat = "{at_ns} ns"\n'

PAGE = Path(__file__).parents[3] / "docs" / "recovery.md"
BEGIN, END = "<!-- intervals -->\n", "<!-- end of intervals -->"
INTERVALS_MS = (OPTIMUM_MS // 8, OPTIMUM_MS // 4, OPTIMUM_MS // 2, OPTIMUM_MS, 2 * OPTIMUM_MS)
ROWS: dict[str, dict[str, float]] = {
    "the thread waits for the snapshot: what the law assumes": {},
    "the same, restarts take 300 ms": {"restart_ms": 300},
    "the same, three tasks 20 ms apart": {"depth": 3, "latency_ms": 20, "seeds": 5},
    "the snapshot is written beside the work": {"sync_ms": 0, "async_ms": COST_MS},
    "the thread waits, a log at 0.5 of the capacity is read": {"load": 0.5, "seeds": 8},
    "the same at 0.8": {"load": 0.8, "seeds": 8},
    "the same at 0.9": {"load": 0.9, "seeds": 8},
}


def _on_records(depth: int, latency_ms: int, sync_ms: int, async_ms: int) -> str:
    """Return a job with a first task that works all the time, at the pace of its source."""
    rate = 1_000 // GAP_MS
    found = [
        f'{{ name = "v0", kind = "source", rate = "{rate} /s", records = {WORK_MS // GAP_MS} }}'
    ]
    for number in range(1, depth):
        inputs = f'[{{ upstream = "v{number - 1}" }}]'
        found.append(f'{{ name = "v{number}", kind = "operator", inputs = {inputs} }}')
    return f"""
vertices = [{", ".join(found)}]
channels = {{ latency = "{latency_ms} ms" }}
costs = {{ snapshot_sync = "{sync_ms} ms", snapshot_async = "{async_ms} ms" }}
"""


def _behind_a_log(load: float) -> str:
    """Return a job that reads a log."""
    rate = load * 1_000 / GAP_MS
    return f"""
duration = "400 s"
network = {{ record_bytes = 4096, segment_bytes = 4096, buffer_timeout = "1 ms" }}
[[job.vertices]]
name = "log"
kind = "source"
rate = "{rate:g} /s"
records = {round(WORK_MS * rate / 1_000)}
replayable = true
in_step = true
[[job.vertices]]
name = "v0"
inputs = [{{ upstream = "log", partitioner = "rebalance" }}]
service = "{GAP_MS} ms"
snapshot_sync = "{COST_MS} ms"
"""


@cache
def slowdown(
    interval_ms: int,
    *,
    restart_ms: int = 0,
    depth: int = 1,
    latency_ms: int = 0,
    sync_ms: int = COST_MS,
    async_ms: int = 0,
    load: float | None = None,
    seeds: int = 14,
) -> float:
    """Return how many times as long jobs take with failures and checkpoints as without.

    load: of a job on buffers that reads a log, as a part of its capacity. None: on records.
    """
    job = _on_records(depth, latency_ms, sync_ms, async_ms) if load is None else _behind_a_log(load)
    head = HEAD.format(
        link="final_checkpoint" if load is None else "barriers",
        job=job,
        interval_ms=interval_ms,
        restart_ms=restart_ms,
    )
    found = []
    for seed in range(seeds):
        random, at_ms, faults = Random(seed), 0.0, ""
        while at_ms < 3 * WORK_MS:
            at_ms += random.expovariate(1 / MEAN_TIME_BETWEEN_FAILURES_MS)
            faults += FAULT.format(vertex="v0", at_ns=1 + int(at_ms * 1e6))
        run = run_world(loads(head + faults, source="law.toml"), seed=seed).run
        assert (run.outcome, run.violations) == ("completed", 0)
        found.append(run.ended_ns / 1e6 / WORK_MS)
    return fmean(found)


def expected(interval_ms: int) -> float:
    """Return the mean slowdown on paper, for restarts that take no time."""
    mean_ms = MEAN_TIME_BETWEEN_FAILURES_MS
    return mean_ms * (exp((interval_ms + COST_MS) / mean_ms) - 1) / interval_ms


def row(says: str, values: list[float]) -> str:
    """Return a line of the table, its least value marked."""
    least = min(values)
    cells = [f"**{one:.3f}**" if one == least else f"{one:.3f}" for one in values]
    return f"| {says} | {' | '.join(cells)} |"


def table() -> str:
    """Return the table."""
    lines = [
        f"| job | {' | '.join(f'{one} ms' for one in INTERVALS_MS)} |",
        f"|---|{'---:|' * len(INTERVALS_MS)}",
        row("on paper", [expected(one) for one in INTERVALS_MS]),
    ]
    for says, words in ROWS.items():
        lines.append(row(says, [slowdown(one, **words) for one in INTERVALS_MS]))  # type: ignore[arg-type]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(before + BEGIN + table() + rest[rest.index(END) :], encoding="utf-8")
