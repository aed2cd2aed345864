"""A writer that is killed at any instant leaves what its placement promises, and no less."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from models.store import Area, Slot
from sim.store.real import real_medium
from tests.store.writer import BATCH, KEY, NAMES, checkpoint_of, placement_of

ROOT = Path(__file__).parent.parent.parent


@dataclass(slots=True)
class Tally:
    """What the reopens after the kills found, one entry per kill."""

    progress: list[int] = field(default_factory=list)
    data_ahead: list[int] = field(default_factory=list)
    data_behind: list[int] = field(default_factory=list)
    acknowledged_lost: int = 0


@pytest.mark.parametrize("how", ["colocated", "data_first", "checkpoint_first"])
def test_a_few_kills(how: str, tmp_path: Path) -> None:
    """Six kills per placement leave a store that keeps its promise."""
    _check(how, _kill(how, tmp_path, kills=6))


@pytest.mark.long
@pytest.mark.parametrize("how", ["colocated", "data_first", "checkpoint_first"])
def test_forty_kills(how: str, tmp_path: Path) -> None:
    """Forty kills per placement leave a store that keeps its promise; the unsafe order loses."""
    tally = _kill(how, tmp_path, kills=40)
    _check(how, tally)
    if how == "data_first":
        assert any(tally.data_ahead), "no kill fell between data and checkpoint"
    if how == "checkpoint_first":
        assert any(tally.data_behind), "no kill fell between checkpoint and data"


def _check(how: str, tally: Tally) -> None:
    assert all(batches >= 1 for batches in tally.progress), "a writer wrote nothing"
    assert tally.acknowledged_lost == 0
    if how != "checkpoint_first":
        assert not any(tally.data_behind)
    if how == "colocated":
        assert not any(tally.data_ahead)
    assert max((*tally.data_ahead, *tally.data_behind)) <= BATCH


def _kill(how: str, folder: Path, *, kills: int) -> Tally:
    tally, instants, position = Tally(), random.Random(7), -1  # the instants only need variety
    for _ in range(kills):
        acknowledged = _run_and_kill(how, folder, after_s=instants.uniform(0.01, 0.25))
        medium = real_medium(placement_of(how), folder)
        try:
            claimed = checkpoint_of(medium.slot(Slot.CUSTOM, KEY))
            rows = medium.rows(Area.DATA, KEY)
        finally:
            medium.close()
        durable = max((int(value) for value in rows.values()), default=-1)
        tally.progress.append((acknowledged - position) // BATCH)
        tally.acknowledged_lost += claimed < acknowledged
        tally.data_ahead.append(max(0, durable - claimed))
        tally.data_behind.append(max(0, claimed - durable))
        if how != "checkpoint_first":
            assert rows == _implied(durable), "the rows are no prefix of the log"
        position = claimed
    return tally


def _run_and_kill(how: str, folder: Path, *, after_s: float) -> int:
    """Start a writer, kill it so long after its first acknowledgement, return its last one."""
    command = [sys.executable, "-m", "tests.store.writer", how, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdout is not None
        first = child.stdout.readline()
        timer = threading.Timer(after_s, child.kill)
        timer.start()
        rest = child.stdout.read()
        timer.join()
    lines = [line for line in (first + rest).splitlines(keepends=True) if line.endswith("\n")]
    assert lines, "the writer died before its first acknowledgement"
    return int(lines[-1])


def _implied(position: int) -> dict[str, bytes]:
    first = max(0, position + 1 - NAMES)
    return {f"k{each % NAMES}": str(each).encode() for each in range(first, position + 1)}
