"""Small tables of a sweep, made by hand or drawn, and written as a sweep writes them."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from ckptsim.analysis.sweeps.worker import SweepRow
from ckptsim.analysis.tables.schema import TABLES, arrow_schema
from ckptsim.analysis.tables.store import SweepStore

Row = dict[str, Any]
Rows = Mapping[str, Sequence[Row]]
ABOUT = {"plan": "p", "says": "", "scenario": "s", "program": "1", "runs": 1, "axes": []}


def run(key: str, parameters: str, seed: int, **others: Any) -> Row:
    return {
        **dict.fromkeys(("digest", "replay"), ""),
        **dict.fromkeys(("events", "records_produced", "records_committed", "attempts"), 1),
        "run_key": key,
        "scenario": "s",
        "link": "ordering",
        "seed": seed,
        "version": "1",
        "ties": "structural",
        "outcome": "completed",
        "ended_ns": 1000,
        "checkpoints_completed": 1,
        "checkpoints_failed": 0,
        "violations": 0,
        "parameters": parameters,
        "cores": "{}",
    } | others


def checkpoint(key: str, number: int, duration_ns: int | None, **others: Any) -> Row:
    return {
        "run_key": key,
        "scope": "*",
        "checkpoint_id": number,
        "attempt": 1,
        "kind": "state",
        "status": "completed",
        "triggered_ns": 100,
        "completed_ns": None if duration_ns is None else 100 + duration_ns,
        "duration_ns": duration_ns,
        "inner": False,
    } | others


def write(directory: Path, points: Sequence[str], *pieces: Rows) -> SweepStore:
    """Write a sweep of these points, by their parameters, with the rows of each piece."""
    store = SweepStore(directory)
    with store.writing():
        store.open(ABOUT)
        about = {"run_key": "", "link": "ordering", "source": "s", "document": '{"violates": []}'}
        rest = {"seed": 1, "ties": "", "version": "1", "replay": ""}
        store.write_points(
            [
                SweepRow(point=place, scenario="s", parameters=parameters, **about, **rest)
                for place, parameters in enumerate(points)
            ]
        )
        for rows in pieces:
            store.commit([{name: _stream(name, rows.get(name, ())) for name in TABLES}])
    return store


def _stream(table: str, rows: Sequence[Row]) -> bytes:
    content = pa.Table.from_pylist(list(rows), schema=arrow_schema(table))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, content.schema) as stream:
        stream.write_table(content)
    return sink.getvalue().to_pybytes()


def divided(rows: Rows, count: int) -> list[dict[str, list[Row]]]:
    """Return the rows of whole runs, divided among so many pieces."""
    keys = sorted({row["run_key"] for row in rows["runs"]})
    piece = {key: place % count for place, key in enumerate(keys)}
    return [
        {
            name: [row for row in some if piece[row["run_key"]] == part]
            for name, some in rows.items()
        }
        for part in range(count)
    ]


def drawn(seed: int, *, points: int = 3, seeds: int = 7) -> tuple[list[str], Rows]:
    """Return the points of a sweep and its rows, drawn with all that rows may have."""
    draws = random.Random(seed)
    named = [json.dumps({"x": place}) for place in range(points)]
    rows: dict[str, list[Row]] = {name: [] for name in TABLES}
    for place, parameters in enumerate(named):
        for number in range(1, seeds + 1):
            if place and draws.random() < 0.2:
                continue  # an interrupted sweep
            for ties in ("random", "random:2", "structural"):
                _draw_run(draws, rows, f"{place}-{number}-{ties}", parameters)
    return named, rows


def _draw_run(draws: random.Random, rows: dict[str, list[Row]], key: str, parameters: str) -> None:
    _, seed, ties = key.split("-")
    outcome = draws.choice(["completed"] * 6 + ["failed", "stalled", "error"])
    broken = draws.choice([0, 0, 1, 2])
    rows["runs"].append(
        run(
            key,
            parameters,
            int(seed),
            ties=ties,
            outcome=outcome,
            error=draws.choice(["ValueError: a", "b"]) if outcome == "error" else None,
            ended_ns=draws.randrange(2**53, 2**54),
            checkpoints_completed=draws.randrange(3),
            checkpoints_failed=draws.randrange(3),
            violations=broken,
            finishing_ns=draws.choice([None, draws.randrange(10**9)]),
            replay=f"replay {key}",
        )
    )
    timed = draws.random() < 0.5
    for number in range(draws.randrange(9)):
        status = draws.choice(["completed"] * 4 + ["failed", "aborted", "expired", "pending"])
        took = draws.choice([draws.randrange(20), draws.randrange(10**12)])
        parts = dict.fromkeys(
            ("wait_records_ns", "wait_upload_ns", "start_delay_ns", "alignment_ns"),
            draws.choice([None, draws.randrange(100)]),
        )
        ended = {"duration_ns": took, "completed_ns": 100 + took}
        attempt = draws.randrange(1, 3)
        known = ended if status == "completed" else draws.choice([{}, {"duration_ns": took}])
        rows["checkpoints"].append(
            checkpoint(key, number, None, status=status, attempt=attempt)
            | {"inner": draws.random() < 0.1, "persisted_bytes": draws.choice([None, took])}
            | {"reason": draws.choice([None, "r"]), "scope": draws.choice("ab")}
            | parts
            | known
        )
    at = 0
    for attempt in range(1, draws.randrange(1, 4)):
        at = draws.randrange(at + 1, at + 500)
        times = [at + 10 * part for part in range(1, 6)]
        names = ("detected_ns", "resumed_ns", "state_read_ns", "first_record_ns", "caught_up_ns")
        known = {
            name: draws.choice([time, time, None]) for name, time in zip(names, times, strict=True)
        }
        rows["recoveries"].append(
            {"run_key": key, "attempt": attempt, "cause": "", "failed_ns": at}
            | {"records_reprocessed": draws.randrange(9), "bytes_read": 5 if timed else None}
            | {"peak_latency_ns": draws.choice([None, 7, 8])}
            | known
        )
    for subtask in range(draws.randrange(4)):
        ratios = dict.fromkeys(
            ("records_per_s", "busy_ratio", "backpressured_ratio", "idle_ratio"), draws.random()
        )
        queues = dict.fromkeys(("input_queue_buffers_mean", "output_queue_buffers_mean"), 0.1)
        rows["tasks"].append(
            {"run_key": key, "task": draws.choice("mn"), "subtask": subtask, "records": 1}
            | {"finished_ns": draws.choice([None, draws.randrange(10**15)])}
            | ratios
            | queues
        )
    for number in range(broken):
        rows["violations"].append(
            {"run_key": key, "property": "pq"[number], "at_ns": draws.randrange(5), "says": "s"}
            | {"story": draws.choice("ab"), "replay": f"replay {key}", "count": 1}
        )
    rows["goals"].append(
        {"run_key": key, "goal": draws.choice("gh"), "reached": draws.randrange(3)}
    )
    for figure in ("lost_share", "undone_per_crash"):
        theory = draws.choice([None, 0.1 * draws.randrange(9)])
        rows["figures"].append(
            {"run_key": key, "figure": figure, "value": draws.random(), "expected": theory}
        )
