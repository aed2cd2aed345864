"""Real stores agree with the vectors, and say clearly the problems of damaged files."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from ckptsim.models.store import Area, Placement, Slot, StoreError, TopicPartition
from ckptsim.sim.conform.runner import run_file
from ckptsim.sim.store import real
from ckptsim.sim.store.real.conformance import real_versions
from ckptsim.sim.store.real.media import CHECKPOINT_FILE, DATA_FILE

HERE = Path(__file__).parents[1]
KEY = TopicPartition("s_v1", 0)


@pytest.mark.parametrize(
    "path",
    [HERE.parent / "data" / "vectors" / "checkpoint_store.jsonl", HERE / "vectors.jsonl"],
    ids=["sample", "ours"],
)
def test_every_vector_holds_on_real_files(path: Path) -> None:
    """The client on real files agrees with every vector."""
    outcomes = list(run_file(path, cores={"store": real_versions}))
    assert len(outcomes) >= 25
    assert [o for o in outcomes if o.mismatch is not None] == []


def _store(path: Path, *, batches: int) -> None:
    """Write batches into a store and leave the files as a killed process would."""
    with real.EmbeddedStore(path.with_name("live.duckdb")) as store:
        store.register("s_v1", partitions=1)
        for position in range(batches):
            value = str(position).encode()
            store.commit(
                KEY, [(f"k{position % 7}", b"old"), (f"k{position % 7}", value)], position=position
            )
        for suffix in ("", ".wal"):
            shutil.copyfile(f"{path.with_name('live.duckdb')}{suffix}", f"{path}{suffix}")


def _is_consistent_prefix(path: Path, batches: int) -> bool:
    """Reopen a store and compare its rows with what its checkpoint implies."""
    with real.EmbeddedStore(path) as store:
        store.register("s_v1", partitions=1)
        position = store.position(KEY)
        implied = {f"k{each % 7}": str(each).encode() for each in range(position + 1)}
        return position < batches and store.rows(KEY) == implied


def test_truncated_logs_give_a_consistent_prefix(tmp_path: Path) -> None:
    """Wherever the write-ahead log ends, rows and checkpoint agree with each other."""
    _store(tmp_path / "whole.duckdb", batches=50)
    cuts = random.Random(1)
    for index in range(20):
        path = tmp_path / f"cut{index}.duckdb"
        shutil.copyfile(tmp_path / "whole.duckdb", path)
        wal = (tmp_path / "whole.duckdb.wal").read_bytes()
        Path(f"{path}.wal").write_bytes(wal[: cuts.randrange(len(wal))])
        # A clear refusal is fine as well: the tables themselves may be beyond the cut.
        with contextlib.suppress(real.StoreDamagedError, real.StoreFormatError):
            assert _is_consistent_prefix(path, 50)


def test_flipped_bits_in_logs_are_refused_or_a_consistent_prefix(tmp_path: Path) -> None:
    """A damaged write-ahead log never leads to rows that contradict the checkpoint."""
    _store(tmp_path / "whole.duckdb", batches=50)
    flips, refusals = random.Random(2), list[str]()
    for index in range(40):
        path = tmp_path / f"flip{index}.duckdb"
        shutil.copyfile(tmp_path / "whole.duckdb", path)
        wal = bytearray((tmp_path / "whole.duckdb.wal").read_bytes())
        bit = flips.randrange(8 * len(wal))
        wal[bit // 8] ^= 1 << bit % 8
        Path(f"{path}.wal").write_bytes(wal)
        try:
            assert _is_consistent_prefix(path, 50)
        except (real.StoreDamagedError, real.StoreFormatError) as error:
            refusals.append(str(error))
    assert len(refusals) > 20
    assert all("flip" in refusal for refusal in refusals)


def test_of_one_name_twice_in_a_batch_the_last_wins(tmp_path: Path) -> None:
    """A batch is de-duplicated before the database sees it: there the first one would win."""
    with real.EmbeddedStore(tmp_path / "a.duckdb") as store:
        store.register("s_v1", partitions=1)
        changes = [("a", b"1"), ("b", b"1"), ("a", b"2"), ("b", None)]
        store.commit(KEY, changes, position=3)
        assert store.rows(KEY) == {"a": b"2"}
    raw = duckdb.connect()
    raw.execute("CREATE TABLE t (k VARCHAR PRIMARY KEY, v INTEGER)")
    raw.execute("INSERT OR REPLACE INTO t VALUES ('a', 1), ('a', 2)")
    assert raw.execute("SELECT v FROM t").fetchall() == [(1,)]
    raw.close()


def test_embedded_store_is_usable_on_its_own(tmp_path: Path) -> None:
    """Rows and position survive a restart together. Reset and drop remove both."""
    path = tmp_path / "orders.duckdb"
    other = TopicPartition("s_v2", 0)
    with real.EmbeddedStore(path) as store:
        store.register("s_v1", partitions=2)
        store.register("s_v2", partitions=1)
        assert store.position(KEY) == -1
        store.commit(KEY, [("a", b"1")], position=4)
        store.commit(other, [("a", b"2")], position=5)
        store.set(TopicPartition("s_v1", 1), b"raw")
    with real.EmbeddedStore(path) as store:
        store.register("s_v1", partitions=2)
        store.register("s_v2", partitions=1)
        assert (store.position(KEY), store.read(KEY, "a")) == (4, b"1")
        assert store.get(TopicPartition("s_v1", 1)) == b"raw"
        store.reset(KEY)
        assert (store.position(KEY), store.rows(KEY)) == (-1, {})
        store.drop("s_v1")
        assert (store.position(other), store.read(other, "a")) == (5, b"2")
        with pytest.raises(StoreError, match="UNKNOWN_TOPIC"):
            store.get(KEY)
    assert [found.key for found in real.inspect_store(path).partitions] == [other]


def test_the_documented_example_works(tmp_path: Path) -> None:
    """The example of the guide runs as it is, and once more on what it left."""
    guide = HERE.parent.parent / "docs" / "checkpoint-store.md"
    (example,) = re.findall(r"```python\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", example],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(HERE.parent.parent / "src")},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "3 {'apple': b'4'}\n"


def test_inspection_shows_partitions_positions_and_damage(tmp_path: Path) -> None:
    """An inspection reads positions and counts, names damage, and changes nothing."""
    path = tmp_path / "a.duckdb"
    with real.EmbeddedStore(path) as store:
        store.register("s_v1", partitions=3)
        store.commit(KEY, [("a", b"1"), ("b", b"1")], position=4)
        store.set(TopicPartition("s_v1", 1), b"raw")
        store.commit(TopicPartition("s_v1", 2), [], position=7)
    with duckdb.connect(str(path)) as raw:
        raw.execute("UPDATE store_checkpoints SET stored = stored || 'x'::BLOB WHERE part = 2")
    before = path.read_bytes()
    contents = real.inspect_store(path)
    assert path.read_bytes() == before
    assert contents.about["duckdb"] == duckdb.__version__
    assert contents.about["storage"].startswith("v1.")
    shown = [
        (c.rows, c.blob_bytes, c.checkpoint and c.checkpoint.position, c.damage)
        for c in contents.partitions
    ]
    assert shown[0][0] == 2
    assert shown[0][2:] == (4, None)
    assert shown[1] == (0, 3, None, None)
    assert shown[2][2:] == (None, "wrong checksum")
    with pytest.raises(real.StoreFileError, match="no such file"):
        real.inspect_store(tmp_path / "none.duckdb")


def test_a_store_has_one_writer(tmp_path: Path) -> None:
    """A second process is reported at once that the store is in use."""
    path = tmp_path / "a.duckdb"
    command = (
        "import sys, duckdb; c = duckdb.connect(sys.argv[1]); print('open', flush=True);"
        "sys.stdin.read()"
    )
    with real.EmbeddedStore(path):
        pass
    with subprocess.Popen(
        [sys.executable, "-c", command, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "open\n"
        with pytest.raises(real.StoreLockedError, match=r"a\.duckdb"):
            real.EmbeddedStore(path)
        child.communicate("")


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    """A file of another format, another database, or a newer schema is refused, not adopted."""
    garbage = tmp_path / "garbage.duckdb"
    garbage.write_bytes(b"no database" * 2000)
    with pytest.raises(real.StoreFileError, match="garbage"):
        real.EmbeddedStore(garbage)
    foreign = tmp_path / "foreign.duckdb"
    with duckdb.connect(str(foreign)) as raw:
        raw.execute("CREATE TABLE t (k VARCHAR)")
    with pytest.raises(real.StoreFormatError, match="no store"):
        real.EmbeddedStore(foreign)
    newer = tmp_path / "newer.duckdb"
    with real.EmbeddedStore(newer):
        pass
    with duckdb.connect(str(newer)) as raw:
        raw.execute("UPDATE store_about SET value = '99' WHERE name = 'schema'")
    with pytest.raises(real.StoreFormatError, match="'99'"):
        real.EmbeddedStore(newer)


def test_checkpoints_of_another_store_are_refused(tmp_path: Path) -> None:
    """Data that was lost while its checkpoints stayed is noticed by the identity of the store."""
    real.real_medium(Placement.EXTERNAL, tmp_path).close()
    real.real_medium(Placement.EXTERNAL, tmp_path).close()
    (tmp_path / DATA_FILE).unlink()
    with pytest.raises(real.StoreMismatchError, match=CHECKPOINT_FILE):
        real.real_medium(Placement.EXTERNAL, tmp_path)


@pytest.mark.parametrize("placement", Placement)
def test_an_instance_that_failed_is_reported(placement: Placement, tmp_path: Path) -> None:
    """A write on a closed file is an error of the store, not of the database driver."""
    medium = real.real_medium(placement, tmp_path)
    medium.close()
    with pytest.raises(real.StoreFileError):
        medium.rows(Area.DATA, KEY)
    if placement is not Placement.CONSUMER_GROUP_BLOB:
        with pytest.raises(real.StoreFileError):
            medium.slot(Slot.CUSTOM, KEY)
