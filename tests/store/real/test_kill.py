"""A writer that is killed at any instant leaves what its placement promises, and no less."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ckptsim.models.store import Area, Slot
from ckptsim.sim.store.real import real_medium
from tests.store.real.writer import BATCH, HOW, KEY, NAMES, checkpoint_of, placement_of

ROOT = Path(__file__).parents[3]
KILLS = 40
SILENCE_S = 120.0  # assumption: far above what a loaded machine takes for one batch


@dataclass(slots=True)
class Tally:
    """What the reopens after the kills found, one entry per kill."""

    progress: list[int] = field(default_factory=list)
    data_ahead: list[int] = field(default_factory=list)
    data_behind: list[int] = field(default_factory=list)
    acknowledged_lost: int = 0


@pytest.fixture(scope="module")
def writers() -> Iterator[subprocess.Popen[str]]:
    """A process that forks writers."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.store.real.writer"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        yield process
        process.communicate()


@pytest.mark.parametrize("how", HOW)
def test_forty_kills(how: str, tmp_path: Path, writers: subprocess.Popen[str]) -> None:
    """Forty kills per placement leave a store that keeps its promise. The unsafe order loses."""
    tally = _kill(writers, how, tmp_path)
    _check(how, tally)
    if how == "data_first":
        assert any(tally.data_ahead), "no kill fell between data and checkpoint"
    if how == "checkpoint_first":
        assert any(tally.data_behind), "no kill fell between checkpoint and data"


def _check(how: str, tally: Tally) -> None:
    assert len(tally.progress) == KILLS
    assert all(batches >= 1 for batches in tally.progress), "a writer wrote nothing"
    assert tally.acknowledged_lost == 0
    if how != "checkpoint_first":
        assert not any(tally.data_behind)
    if how == "colocated":
        assert not any(tally.data_ahead)
    assert max((*tally.data_ahead, *tally.data_behind)) <= BATCH


def _kill(writers: subprocess.Popen[str], how: str, folder: Path) -> Tally:
    tally, instants, position = Tally(), random.Random(7), -1  # the instants only need variety
    for _ in range(KILLS):
        after_s = instants.uniform(0.001, 0.06)
        acknowledged = _run_and_kill(writers, f"{how} {position} {folder}", after_s=after_s)
        position = _reopened(how, folder, tally, before=position, acknowledged=acknowledged)
    return tally


def _reopened(how: str, folder: Path, tally: Tally, *, before: int, acknowledged: int) -> int:
    """Compare what a kill has left with what it claims. Return the position that it claims."""
    medium = real_medium(placement_of(how), folder)
    try:
        claimed = checkpoint_of(medium.slot(Slot.CUSTOM, KEY))
        if how == "group":
            claimed = acknowledged
        rows = medium.rows(Area.DATA, KEY)
    finally:
        medium.close()
    durable = max((int(value) for value in rows.values()), default=-1)
    tally.progress.append((acknowledged - before) // BATCH)
    tally.acknowledged_lost += claimed < acknowledged
    tally.data_ahead.append(max(0, durable - claimed))
    tally.data_behind.append(max(0, claimed - durable))
    if how != "checkpoint_first":
        assert rows == _implied(durable), "the rows are no prefix of the log"
    return claimed


def _run_and_kill(writers: subprocess.Popen[str], order: str, *, after_s: float) -> int:
    """Let a writer work, kill it so long after its first acknowledgement, return its last one."""
    assert writers.stdin is not None
    assert writers.stdout is not None
    print(order, file=writers.stdin, flush=True)
    child, acknowledged = 0, None
    timer: threading.Timer | None = None
    limit = threading.Timer(SILENCE_S, lambda: _end(writers, child))
    limit.start()
    for line in writers.stdout:
        word, _, number = line.strip().rpartition(" ")
        if word == "ended":
            assert int(number) == -signal.SIGKILL, "the writer ended by itself"
            break
        if word == "child":
            child = int(number)
        else:
            acknowledged = int(number)
        if child and acknowledged is not None and timer is None:
            timer = threading.Timer(after_s, os.kill, (child, signal.SIGKILL))
            timer.start()
    limit.cancel()
    assert acknowledged is not None, "the writer died before its first acknowledgement"
    return acknowledged


def _end(writers: subprocess.Popen[str], child: int) -> None:
    """End a writer that says nothing, and what forks writers, so that no one waits for ever."""
    writers.kill()
    if child:
        os.kill(child, signal.SIGKILL)


def _implied(position: int) -> dict[str, bytes]:
    first = max(0, position + 1 - NAMES)
    return {f"k{each % NAMES}": str(each).encode() for each in range(first, position + 1)}
