"""Wrong arguments of a store on files are the caller's, and never reach the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ckptsim.models.store import PartitionState, Refusal, StoreError, TopicPartition
from ckptsim.sim.cli import main
from ckptsim.sim.store.real import EmbeddedStore, StoreFileError, inspect_store
from ckptsim.sim.store.real.arguments import ROW_NAME_BYTES_MAX

KEY = TopicPartition("s_v1", 0)
SCHEMES = [":memory:", "md:evil", "sqlite:x.db", "postgres:host", "ducklake:x", "a:b/c.duckdb"]
LONG = "x" * (ROW_NAME_BYTES_MAX + 1)

Call = Callable[[EmbeddedStore], Any]
ROWS: list[Any] = [("\udc80", b"1"), ("a\0b", b"1"), (5, b"1"), (LONG, b"1"), ("a", "text"), ("a",)]
POSITIONS: list[Any] = [1.5, "3", True, None, -1, -5, 6, 2**63]
KEYS: list[Any] = ["s_v1/0", None, 7]
PLACES: list[Any] = [("s_v1", "0"), ("s_v1", 0.0), ("s_v1", True), ("s_v1", -1), (5, 0)]
TOPICS: list[Any] = ["x" * 300 + "_v1", "\udc80_v1", "a/b_v1", "a\nb_v1", 5, None, "s_rt"]
COUNTS: list[Any] = [0, -1, "4", 1.5, True, 10**12]

WRONG: dict[str, Call] = {
    **{f"row {row[0]!r:.20} {row[1:]}": lambda s, r=row: s.commit(KEY, [r], position=9)
       for row in ROWS},
    **{f"position {p!r}": lambda s, p=p: s.commit(KEY, [("a", b"1")], position=p)
       for p in POSITIONS},
    **{f"key {k!r}": lambda s, k=k: s.commit(k, [], position=9) for k in KEYS},
    **{f"read of {k!r}": lambda s, k=k: s.position(k) for k in KEYS},
    **{f"partition {p!r}": lambda s, p=p: s.commit(TopicPartition(*p), [], position=9)
       for p in PLACES},
    **{f"topic {t!r:.20}": lambda s, t=t: s.register(t, partitions=1) for t in TOPICS},
    **{f"{n!r} partitions": lambda s, n=n: s.register("t_v1", partitions=n) for n in COUNTS},
    "no changes": lambda s: s.commit(KEY, None, position=9),  # type: ignore[arg-type]
    "a dictionary": lambda s: s.commit(KEY, {"a": b"1"}, position=9),  # type: ignore[arg-type]
    "no state": lambda s: s.commit(KEY, [], position=9, state="x"),  # type: ignore[arg-type]
    "a broken name to read": lambda s: s.read(KEY, "\udc80"),
    "no name to read": lambda s: s.read(KEY, 5),  # type: ignore[arg-type]
    "a text as checkpoint": lambda s: s.set(KEY, "x"),  # type: ignore[arg-type]
    "broken rows": lambda s: s.replace({KEY: ({"\udc80": b""}, None)}),
}  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> EmbeddedStore:
    """A store with two rows up to position 7."""
    made = EmbeddedStore(tmp_path_factory.mktemp("store") / "rows.duckdb")
    made.register("s_v1", partitions=1)
    made.commit(KEY, [("a", b"0"), ("b", b"0")], position=7)
    return made


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_argument_is_called_one_and_changes_nothing(
    name: str, store: EmbeddedStore
) -> None:
    """It is refused as the caller's, the stored data stays, and the store continues."""
    with pytest.raises(StoreError) as refused:
        WRONG[name](store)
    assert refused.value.refusal in {
        Refusal.INVALID_ARGUMENT,
        Refusal.INVALID_TOPIC,
        Refusal.INVALID_BLOB,
        Refusal.UNKNOWN_PARTITION,
    }
    assert (store.position(KEY), store.rows(KEY)) == (7, {"a": b"0", "b": b"0"})
    store.commit(KEY, [("a", b"0")], position=7)


def test_names_at_the_border_are_kept(tmp_path: Path) -> None:
    """An empty name, one of the full length and one of other letters come back as they were."""
    names = ["", LONG[1:], "ключ 鍵 \t\n'\";--"]
    with EmbeddedStore(tmp_path / "rows.duckdb") as made:
        made.register("s_v1", partitions=1)
        made.commit(KEY, [(name, name.encode()) for name in names], position=0)
        assert made.rows(KEY) == {name: name.encode() for name in names}
        made.commit(KEY, [(name, None) for name in names], position=1, state=PartitionState())
        assert (made.rows(KEY), made.position(KEY)) == ({}, 1)


@pytest.mark.parametrize("path", SCHEMES)
@pytest.mark.parametrize("kind", [str, Path])
def test_a_scheme_of_the_database_is_no_path(
    path: str, kind: Callable[[str], str | Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the database takes for memory, a service or another database is refused and unmade."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreFileError, match="scheme of the database"):
        EmbeddedStore(kind(path))
    with pytest.raises(StoreFileError, match="no such file"):
        inspect_store(kind(path))
    assert list(tmp_path.iterdir()) == []
    if "/" not in path:
        EmbeddedStore(tmp_path / path).close()
        assert (tmp_path / path).is_file()


def test_a_file_of_another_database_loads_no_extension(tmp_path: Path) -> None:
    """A SQLite file is refused for what it is, without a look for what could read it."""
    path = tmp_path / "other.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE t (a)")
    other.commit()
    other.close()
    for opening in (EmbeddedStore, inspect_store):
        with pytest.raises(StoreFileError, match="a file of another database"):
            opening(path)


@pytest.mark.parametrize("path", ["", "a\0b", 5, None])
def test_what_is_no_path_is_refused(path: Any) -> None:
    """An empty text, a zero character and other objects are no paths."""
    with pytest.raises(StoreFileError, match="found no path"):
        EmbeddedStore(path)


@pytest.mark.parametrize("limit", ["lots", "-5MB", "", "1", 5, None])
def test_a_wrong_memory_limit_is_no_damage(limit: Any, tmp_path: Path) -> None:
    """A limit that is no size is refused as an argument, one that is too small as such."""
    with pytest.raises(StoreError, match="memory_limit"):
        EmbeddedStore(tmp_path / "rows.duckdb", memory_limit=limit)
    with pytest.raises(StoreFileError, match="memory limit is too small"):
        EmbeddedStore(tmp_path / "rows.duckdb", memory_limit="1KB")


def test_an_interrupted_commit_leaves_no_transaction_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an interrupt in the middle of a step the next one is whole."""
    with EmbeddedStore(tmp_path / "rows.duckdb") as made:
        made.register("s_v1", partitions=1)
        medium = made._medium
        right = medium.data.write_slots

        def interrupted(_writes: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(medium.data, "write_slots", interrupted)
        with pytest.raises(KeyboardInterrupt):
            made.commit(KEY, [("a", b"1")], position=0)
        monkeypatch.setattr(medium.data, "write_slots", right)
        assert (made.rows(KEY), made.position(KEY)) == ({}, -1)
        made.commit(KEY, [("b", b"1")], position=0)
        assert made.rows(KEY) == {"b": b"1"}


@pytest.mark.parametrize("path", SCHEMES[:3])
def test_run_refuses_a_scheme_before_it_runs(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`run --store` takes paths only, ends with 2 and writes nothing."""
    monkeypatch.chdir(tmp_path)
    assert main(["run", "quickstart", "--store", path]) == 2
    assert list(tmp_path.iterdir()) == []
