"""The directory of a sweep under rough hands: all that is removed, who writes, what readers see."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.synchronize import Event
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import ckptsim
from ckptsim.analysis.sweeps.worker import SweepRow, run_chunk
from ckptsim.analysis.tables.schema import TABLES
from ckptsim.analysis.tables.store import SweepStore
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.cli import main
from tests.analysis.sweeps import synthetic

ABOUT = {"plan": "p", "version": "1", "axes": []}
ROWS = synthetic.rows([synthetic.point(checkpoints=2)], range(1, 7))
PLAN = 'name = "mine"\nscenario = "reference"\n[grid]\n"sync.sockets.count" = [1, 2]\n'


def swept(directory: Path, *pieces: list[SweepRow]) -> SweepStore:
    """Write the tables of runs that cost nothing, piece by piece."""
    store = SweepStore(directory)
    with store.writing():
        store.open(ABOUT)
        store.write_points(ROWS)
        for piece in pieces:
            store.commit([run_chunk(synthetic.WORLD, piece, each=lambda: None).tables])
    return store


def files_of(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that the user has to mend: code 2, one line, no traceback."""
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "Traceback" not in said
    return said


@pytest.fixture
def plan(tmp_path: Path) -> str:
    """The path of a small plan."""
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return str(path)


def test_a_directory_that_is_no_sweeps_is_left_alone(
    plan: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--no-resume` looks first: folders with the names of tables that are not ours stay."""
    mine = tmp_path / "mine"
    for name in ("runs/log.txt", "figures/a.svg", "tasks/todo.txt", "points.parquet"):
        (mine / name).parent.mkdir(parents=True, exist_ok=True)
        (mine / name).write_text("mine")
    before = files_of(mine)
    said = refused(["sweep", plan, "--no-resume", "--out", str(mine)], capsys)
    assert "found other files" in said
    assert files_of(mine) == before


def test_only_what_a_sweep_has_written_is_removed(tmp_path: Path) -> None:
    """A cleared directory keeps what others put beside the tables, and nothing of the sweep."""
    store = swept(tmp_path, ROWS[:3], ROWS[3:])
    (tmp_path / "thesis.txt").write_text("mine")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("mine")
    store.clear()
    assert files_of(tmp_path) == {"thesis.txt": b"mine", "notes/a.txt": b"mine"}


@pytest.mark.parametrize("place", ["runs/copy.parquet", "figures/a.svg", "tasks/x/y.txt"])
def test_a_strange_file_among_the_tables_stops_a_clear(place: str, tmp_path: Path) -> None:
    """Where a table's folder holds what no sweep has written, nothing at all is removed."""
    store = swept(tmp_path, ROWS)
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text("mine")
    before = files_of(tmp_path)
    with pytest.raises(UserError, match="nothing was removed"):
        store.clear()
    assert files_of(tmp_path) == before


def test_two_writers_are_refused_with_owner_and_age(
    plan: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """While one process writes, another one is reported who does, and since when."""
    with SweepStore(tmp_path / "out").writing():
        pass
    ready, done = multiprocessing.Event(), multiprocessing.Event()
    other = multiprocessing.Process(target=_write, args=(tmp_path / "out", ready, done))
    other.start()
    try:
        assert ready.wait(60)
        said = refused(["sweep", plan, "--out", str(tmp_path / "out")], capsys)
        assert f"process {other.pid} on " in said
        assert "since" in said
        assert "ago" in said
    finally:
        done.set()
        other.join()
    with SweepStore(tmp_path / "out").writing():
        assert (tmp_path / "out" / "sweep.lock").exists()
    assert not (tmp_path / "out" / "sweep.lock").exists()


def _write(directory: Path, ready: Event, done: Event) -> None:
    with SweepStore(directory).writing():
        ready.set()
        done.wait()


def test_a_writer_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    """The lock ends with its process, also where that had no time to say so."""
    ready, done = multiprocessing.Event(), multiprocessing.Event()
    other = multiprocessing.Process(target=_write, args=(tmp_path, ready, done))
    other.start()
    assert ready.wait(60)
    assert other.pid is not None
    os.kill(other.pid, signal.SIGKILL)
    other.join()
    assert (tmp_path / "sweep.lock").exists()
    swept(tmp_path, ROWS)


def test_a_run_that_is_there_twice_is_read_once(tmp_path: Path) -> None:
    """Tables that two sweeps left in one directory read as the ones of one."""
    once = swept(tmp_path / "once", ROWS)
    twice = swept(tmp_path / "twice", ROWS[:4], ROWS[2:5], ROWS[5:], ROWS[:1])
    assert len(list((tmp_path / "twice" / "runs").glob("*"))) == 4
    assert twice.tally() == once.tally()
    assert sorted(twice.run_keys()) == sorted(once.run_keys())
    for table in ("runs", "checkpoints"):
        assert len(twice.columns(table, ["run_key"])) == len(once.columns(table, ["run_key"]))
    left, right = (ckptsim.read_tables(tmp_path / name) for name in ("once", "twice"))
    for name in TABLES:
        assert left[name].equals(right[name])


def _changed(path: Path, **values: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def _without(path: Path, name: str) -> None:
    found = json.loads(path.read_text())
    path.write_text(json.dumps({key: value for key, value in found.items() if key != name}))


def _bytes(text: bytes) -> pa.Array:
    """Return a column of one text of these bytes, which need be none."""
    bounds = pa.py_buffer(b"".join(at.to_bytes(4, "little") for at in (0, len(text))))
    return pa.StringArray.from_buffers(1, bounds, pa.py_buffer(text))


BREAKS: dict[str, Callable[[Path], object]] = {
    "no JSON": lambda d: (d / "sweep.json").write_text("{"),
    "no text": lambda d: (d / "sweep.json").write_bytes(b"\xff\xfe\x00"),
    "a list": lambda d: (d / "sweep.json").write_text("[1]"),
    "half a character": lambda d: _changed(d / "sweep.json", says="\udc80"),
    "odd answers": lambda d: _changed(d / "sweep.json", answers=7),
    "odd axes": lambda d: _changed(d / "sweep.json", axes=[["a"]]),
    "no plan's name": lambda d: _without(d / "sweep.json", "plan"),
    "no plan": lambda d: _changed(d / "sweep.json", plan=None),
    "points": lambda d: (d / "points.parquet").write_bytes(b"half"),
    "odd points": lambda d: parquet.write_table(
        pa.table({"document": ["{"], "parameters": ["{}"]}), d / "points.parquet"
    ),
    "no points": lambda d: (d / "points.parquet").unlink(),
    "runs": lambda d: next((d / "runs").glob("*")).write_bytes(b"half"),
    "manifest": lambda d: (d / "pieces.json").write_text("{"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_directory_is_the_users_to_mend(
    name: str, plan: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reports and sweeps say in one line which file is broken, with code 2, and remove nothing."""
    out = tmp_path / "out"
    swept(out, ROWS)
    BREAKS[name](out)
    before = files_of(out)
    no_document = name in {"no JSON", "no text", "a list"}
    for words in (["sweep", plan, "--no-resume"], ["sweep", plan]):
        if no_document or "--no-resume" not in words:
            said = refused([*words, "--out", str(out)], capsys)
            assert "sweep.json: found" in said or not no_document
            assert files_of(out) == before
    if name != "manifest":
        assert str(out) in refused(["report", str(out)], capsys)


def test_texts_that_are_none_are_the_users_to_mend(tmp_path: Path) -> None:
    """A table with bytes that are damaged within a text is refused when it is read, not later."""
    store = swept(tmp_path / "out", ROWS)
    path = store.directory / "points.parquet"
    parquet.write_table(pa.table({"document": _bytes(b"\x95"), "parameters": ["{}"]}), path)
    with pytest.raises(UserError, match="cannot be read"):
        store.points()


def _a_file(place: Path) -> Path:
    place.write_text("mine")
    return place


def _a_link(place: Path) -> Path:
    place.symlink_to(place.with_name("nothing"))
    return place


PLACES: dict[str, Callable[[Path], Path]] = {
    "a file": lambda d: _a_file(d / "file"),
    "below a file": lambda d: _a_file(d / "file") / "out",
    "far below a file": lambda d: _a_file(d / "file") / "a" / "b",
    "a broken link": lambda d: _a_link(d / "link"),
    "too long": lambda d: d / ("x" * 300),
}
VERBS = [["sweep", "PLAN", "--out"], ["demo", "--out"], ["replay", "quickstart", "--out"],
         ["hunt", "b01_send_fails", "--mutant", "cursor_before_send", "--seeds", "3", "--out"],
         ["measure-store", "--rounds", "1", "--out"]]  # fmt: skip


# Two of them write a file: one that is there is no obstacle.
CASES = [
    pytest.param(verb, place, id=f"{verb[0]}, {place}")
    for verb in VERBS
    for place in PLACES
    if not (verb[0] in {"hunt", "measure-store"} and place == "a file")
]


@pytest.mark.parametrize(("verb", "place"), CASES)
def test_a_place_that_cannot_be_written_is_the_users_to_mend(
    verb: list[str], place: str, plan: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever is in the way of `--out` is named, with code 2 and without a traceback."""
    out = PLACES[place](tmp_path)
    words = [plan if word == "PLAN" else word for word in verb]
    code = main([*words, str(out)])
    said = capsys.readouterr().err
    assert code == 2, said
    assert "Traceback" not in said


def test_what_is_read_only_or_full_is_the_users_to_mend(
    plan: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refusal to write is reported with the place, and a full disk as such."""
    for code, words in ((13, "Permission denied"), (28, "No space left"), (30, "Read-only")):

        def refuse(*_: object, code: int = code, **__: object) -> None:
            raise OSError(code, os.strerror(code), None if code == 28 else str(tmp_path / "out"))

        monkeypatch.setattr(Path, "mkdir", refuse)
        assert words in refused(["sweep", plan, "--out", str(tmp_path / "out")], capsys)
        monkeypatch.undo()


def test_a_fault_of_ours_stays_one(
    plan: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that the user has named nowhere is not theirs: code 3 and a traceback."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(2, "No such file", "/nonexistent/part/of/ours.txt")

    monkeypatch.setattr(SweepStore, "open", refuse)
    assert main(["sweep", plan, "--out", str(tmp_path / "out")]) == 3
    assert "a fault of ckptsim" in capsys.readouterr().err
