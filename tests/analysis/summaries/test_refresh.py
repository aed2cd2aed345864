"""When summaries are current, and what interruptions leave of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ckptsim.analysis import summaries
from ckptsim.analysis.tables import aggregates
from ckptsim.analysis.tables.store import SweepStore
from ckptsim.scenarios.errors import UserError
from tests.analysis.summaries.tables import Row, checkpoint, run, write

pytestmark = pytest.mark.spark
POINT = '{"x":1}'


def piece(key: str, seed: int) -> dict[str, list[Row]]:
    return {"runs": [run(key, POINT, seed)], "checkpoints": [checkpoint(key, 0, 10 * seed)]}


@pytest.fixture(scope="module")
def aggregated(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SweepStore:
    """A sweep of one run with its summaries."""
    store = write(tmp_path_factory.mktemp("one") / "sweep", [POINT], piece("a", 1))
    summaries.refresh(spark, store)
    return store


@pytest.fixture
def store(aggregated: SweepStore, tmp_path: Path) -> SweepStore:
    """A copy of it that a test may change."""
    return SweepStore(shutil.copytree(aggregated.directory, tmp_path / "sweep"))


def grown(store: SweepStore) -> SweepStore:
    """Add a run."""
    return write(store.directory, [POINT], piece("b", 2))


def runs_of(store: SweepStore) -> int:
    return int(summaries.frames(store)["outcomes"]["runs"].sum())


def test_rows_that_are_newer_make_summaries_stale(store: SweepStore, spark: SparkSession) -> None:
    """A sweep that has grown has no current summary. Aggregated again it has all runs."""
    assert summaries.is_current(store)
    assert runs_of(store) == 1
    grown(store)
    assert not summaries.is_current(store)
    with pytest.raises(UserError, match="ckptsim report"):
        summaries.read(store)
    summaries.refresh(spark, store)
    assert summaries.is_current(store)
    assert runs_of(store) == 2


@pytest.mark.parametrize("moves", range(0, 14, 4))
def test_a_kill_while_tables_change_leaves_no_wrong_summary(
    moves: int, store: SweepStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After any number of moves summaries are the ones of all rows, or marked as stale."""

    class Killed(BaseException):
        """The end of the process."""

    made = aggregates.made_from(store.directory)
    staged = aggregates.staged(store.directory)
    for path in (store.directory / "summaries").glob("*/part-*"):
        (staged / path.parent.name).mkdir()
        shutil.copy(path, staged / path.parent.name)
    plain, done = Path.replace, 0

    def replace(self: Path, target: Path) -> Path:
        nonlocal done
        if done == moves:
            raise Killed
        done += 1
        return plain(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    names = sorted(path.name for path in staged.iterdir())
    with pytest.raises(Killed):
        aggregates.move_in(store.directory, names, {**made, "pieces": []})  # type: ignore[dict-item]
    monkeypatch.undo()
    assert not summaries.is_current(store)
    store.clear()
    assert not list(store.directory.iterdir())


def test_a_kill_while_spark_writes_leaves_the_old_summaries(
    store: SweepStore, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half-written summaries are ignored: the summaries are the ones of before, and stale."""
    grown(store)
    before = {path: path.read_bytes() for path in (store.directory / "summaries").rglob("*.*")}

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(aggregates, "move_in", killed)
    with pytest.raises(KeyboardInterrupt):
        summaries.refresh(spark, store)
    monkeypatch.undo()
    after = {path: path.read_bytes() for path in (store.directory / "summaries").rglob("*.*")}
    assert after == before
    assert not summaries.is_current(store)
    summaries.refresh(spark, store)
    assert runs_of(store) == 2
    assert not (store.directory / "_summaries").exists()


def test_a_strange_file_among_summaries_stops_a_clear(store: SweepStore) -> None:
    """What others put there is not removed, and then nothing is."""
    mine = store.directory / "summaries" / "latency" / "mine.txt"
    mine.write_text("mine")
    with pytest.raises(UserError, match="nothing was removed"):
        store.clear()
    assert summaries.is_current(store)


def test_a_damaged_table_is_named(store: SweepStore, spark: SparkSession) -> None:
    """What Spark cannot read is an error of the file, in a sentence."""
    (path,) = (store.directory / "checkpoints").glob("*")
    content = path.read_bytes()
    path.write_bytes(content[:4] + bytes(len(content) - 300) + content[-296:])
    grown(store)
    with pytest.raises(UserError, match="checkpoints/"):
        summaries.refresh(spark, store)
