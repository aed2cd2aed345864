"""Measure what the steps of a real store cost on this machine.

Each measurement is the median over rounds of the median of repeated transactions, on a table that
is filled beforehand.  The costs of the model follow from them: a transaction is its fixed part plus
so much per row, taken from the smallest and the largest batch. Of a flush the bytes of a row count
apart, taken from rows of two sizes. What a checkpoint alone costs beyond the sync of the disk is
its write-ahead log.  n and the fastest and slowest round are kept: a shared machine varies by a
factor of two from day to day.
"""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from ckptsim.models import store
from ckptsim.sim.store.real.media import DuckLiteMedium, DuckMedium
from ckptsim.sim.store.real.typed import TypedFile

_KEY = store.TopicPartition("measured_v1", 0)
_TABLE_ROWS = 20_000
_SMALL_BYTES, _LARGE_BYTES = 100, 4096
_BATCHES = (1, 100, 1000, 10_000)
_BLOB_BYTES = 300
_PARTITIONS = 64  # in one transaction
_STRIDE = 7919  # a prime, so that keys are spread over the table

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One measured step, in ns.

    median_ns: the median of the medians of the rounds, which lie between `fastest_round_ns` and
    `slowest_round_ns`. p95_ns: of all n repetitions.
    """

    name: str
    says: str
    rows: int
    row_bytes: int
    n: int
    median_ns: int
    p95_ns: int
    fastest_round_ns: int
    slowest_round_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    name: str
    says: str
    rows: int
    row_bytes: int
    repeats: int
    run: Callable[[int], None]


def measure(folder: Path, *, repeats: int, rounds: int, progress: Progress) -> list[Measurement]:
    """Measure every step in a folder of the disk that is meant.

    repeats: of a small transaction in a round. A large one is repeated a third as often.
    rounds: how often all measurements are taken, one after the other. A machine that is busy for a
    while spoils one round of each and not all of one.
    progress: is reported the name of a measurement, how many are done and how many there are.
    """
    colocated = DuckMedium(folder / "colocated.duckdb")
    typed = DuckMedium(folder / "typed.duckdb", kind=TypedFile)
    external = DuckLiteMedium(folder / "external")
    try:
        for medium in (colocated, external):
            medium.commit(store.Step(rows=(_rows(0, _TABLE_ROWS, _SMALL_BYTES),)))
        with (folder / "appended").open("wb", buffering=0) as file:
            cases = [
                *_transactions(colocated, repeats),
                *_separate(external, repeats),
                *_checkpoints("blobs", colocated, repeats),
                *_checkpoints("typed rows", typed, repeats),
                _appended(file, repeats),
            ]
            taken: list[list[list[int]]] = [[] for _ in cases]
            total = rounds * len(cases)
            for number in range(rounds):
                for index, case in enumerate(cases):
                    progress(case.says, number * len(cases) + index, total)
                    taken[index].append(_durations(case))
            progress("", total, total)
        return [_measured(case, each) for case, each in zip(cases, taken, strict=True)]
    finally:
        colocated.close()
        typed.close()
        external.close()


def costs_of(found: list[Measurement]) -> dict[str, int]:
    """Return the model's cost parameters by name, durations in ns."""
    by_name = {each.name: each for each in found}

    def fitted(kind: str) -> tuple[int, int]:
        small, large = by_name[f"{kind}_{_BATCHES[0]}"], by_name[f"{kind}_{_BATCHES[-1]}"]
        per_row = max(0, large.median_ns - small.median_ns) // (large.rows - small.rows)
        return max(0, small.median_ns - per_row * small.rows), per_row

    transaction_ns, transaction_row_ns = fitted("transaction")
    flush_ns, flush_row_ns = fitted("flush")
    wide, narrow = by_name["flush_wide"], by_name["flush_1000"]
    moved = (wide.row_bytes - narrow.row_bytes) * wide.rows
    extra_ns = max(1, wide.median_ns - narrow.median_ns)
    # The model charges the bytes of a row apart from the row.
    bare_row_ns = max(0, flush_row_ns - narrow.row_bytes * extra_ns // moved)
    fsync_ns = by_name["fsync"].median_ns
    return {
        "transaction_ns": transaction_ns,
        "transaction_row_ns": transaction_row_ns,
        "flush_ns": flush_ns,
        "flush_row_ns": bare_row_ns,
        "flush_bytes_per_s": max(1, moved * 1_000_000_000 // extra_ns),
        "wal_ns": max(0, by_name["checkpoint"].median_ns - fsync_ns),
        "fsync_ns": fsync_ns,
        "autocommit_ns": by_name["flush_1"].median_ns,
        "replay_row_ns": flush_row_ns,
    }


def _transactions(medium: store.Medium, repeats: int) -> Iterator[_Case]:
    for rows in _BATCHES:
        yield _Case(
            name=f"transaction_{rows}",
            says=f"DuckDB: {rows} row(s) and a checkpoint in one transaction",
            rows=rows,
            row_bytes=_SMALL_BYTES,
            repeats=_repeats(repeats, rows),
            run=lambda turn, rows=rows: medium.commit(  # type: ignore[misc]
                store.Step(rows=(_rows(turn, rows, _SMALL_BYTES),), slots=(_slot(turn),))
            ),
        )


def _separate(medium: store.Medium, repeats: int) -> Iterator[_Case]:
    wide = (("flush_wide", 1000, _LARGE_BYTES),)
    for name, rows, size in (*((f"flush_{n}", n, _SMALL_BYTES) for n in _BATCHES), *wide):
        yield _Case(
            name=name,
            says=f"DuckDB: {rows} row(s) of {size} bytes alone",
            rows=rows,
            row_bytes=size,
            repeats=_repeats(repeats, rows),
            run=lambda turn, rows=rows, size=size: medium.commit(  # type: ignore[misc]
                store.Step(rows=(_rows(turn, rows, size),))
            ),
        )
    yield _Case(
        name="checkpoint",
        says="SQLite: one checkpoint alone, on disk when it returns",
        rows=1,
        row_bytes=0,
        repeats=repeats,
        run=lambda turn: medium.commit(store.Step(slots=(_slot(turn),))),
    )


def _checkpoints(what: str, medium: store.Medium, repeats: int) -> Iterator[_Case]:
    """Yield checkpoints alone in one transaction, as they lie in a file."""
    for number in (1, _PARTITIONS):
        yield _Case(
            name=f"{what.replace(' ', '_')}_{number}",
            says=f"DuckDB: {number} checkpoint(s) as {what}",
            rows=number,
            row_bytes=0,
            repeats=repeats,
            run=lambda turn, number=number: medium.commit(  # type: ignore[misc]
                store.Step(slots=tuple(_slot(turn, partition) for partition in range(number)))
            ),
        )


def _appended(file: io.FileIO, repeats: int) -> _Case:
    def run(_turn: int) -> None:
        file.write(bytes(_BLOB_BYTES))
        os.fsync(file.fileno())

    return _Case(
        name="fsync",
        says=f"the disk: {_BLOB_BYTES} bytes appended and synced",
        rows=0,
        row_bytes=0,
        repeats=repeats,
        run=run,
    )


def _durations(case: _Case) -> list[int]:
    case.run(0)  # the first one warms caches and plans
    durations: list[int] = []
    for turn in range(1, case.repeats + 1):
        begin = time.perf_counter_ns()
        case.run(turn)
        durations.append(time.perf_counter_ns() - begin)
    return durations


def _measured(case: _Case, rounds: Sequence[Sequence[int]]) -> Measurement:
    medians = sorted(round(median(each)) for each in rounds)
    durations = sorted(duration for each in rounds for duration in each)
    return Measurement(
        name=case.name,
        says=case.says,
        rows=case.rows,
        row_bytes=case.row_bytes,
        n=len(durations),
        median_ns=round(median(medians)),
        p95_ns=durations[min(len(durations) - 1, len(durations) * 95 // 100)],
        fastest_round_ns=medians[0],
        slowest_round_ns=medians[-1],
    )


def _repeats(repeats: int, rows: int) -> int:
    return max(3, repeats // 3) if rows >= _BATCHES[-1] else repeats


def _rows(turn: int, rows: int, size: int) -> store.RowsWrite:
    names = ((turn * rows + index) * _STRIDE % _TABLE_ROWS for index in range(rows))
    value = turn.to_bytes(4, "big") + bytes(size - 4)
    return store.RowsWrite(
        area=store.Area.DATA, key=_KEY, changes={f"key-{name:08}": value for name in names}
    )


def _slot(turn: int, partition: int = 0) -> store.SlotWrite:
    key = store.TopicPartition(_KEY.topic, partition)
    blob = store.encode_state(store.PartitionState(position=turn))
    return store.SlotWrite(
        slot=store.Slot.CUSTOM, key=key, stored=store.PlainCodec().encode(key, blob)
    )
