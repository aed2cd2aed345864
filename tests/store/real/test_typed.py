"""Checkpoints as a table with a column per field, on a real file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from ckptsim.models.store import PartitionState, StoreError, TopicPartition, encode_state
from ckptsim.models.store.state import ProducerState, VersionCopy
from ckptsim.sim.conform.runner import run_file
from ckptsim.sim.store.real import EmbeddedStore
from ckptsim.sim.store.real.conformance import typed_versions
from ckptsim.sim.store.real.query import query

KEY = TopicPartition("s_v1", 0)
VECTORS = Path(__file__).parents[1] / "vectors.jsonl"
STATE = PartitionState(
    position=7,
    end_of_push=True,
    end_of_push_timestamp=3,
    version=VersionCopy(sorted=True, compression_strategy="NO_OP", start_of_push_timestamp=1),
    producers=(ProducerState(guid="p0", segment=1, sequence=2),),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with one typed checkpoint."""
    place = tmp_path / "typed.duckdb"
    with EmbeddedStore(place, typed=True) as store:
        store.register("s_v1", partitions=2)
        store.set(KEY, encode_state(STATE))
    return place


def _state(path: Path) -> PartitionState:
    with EmbeddedStore(path, typed=True) as store:
        store.register("s_v1", partitions=2)
        return store.state(KEY)


@pytest.mark.long
def test_the_vectors_pass_on_a_typed_table() -> None:
    """A client on typed checkpoints does what one on blobs does, damage included."""
    outcomes = list(run_file(VECTORS, cores={"store": typed_versions}))
    assert len(outcomes) > 30
    assert [one for one in outcomes if one.mismatch is not None] == []


def test_a_state_comes_back_equal_from_its_columns(path: Path) -> None:
    """Each field has a column, and the state is the same after a round trip."""
    assert _state(path) == STATE
    question = "SELECT position, end_of_push, sorted, compression_strategy FROM typed_checkpoints"
    assert query(path, question)[1] == [(7, True, True, "NO_OP")]
    assert query(path, "SELECT position, producers FROM checkpoints")[1] == [(7, 1)]


def test_what_is_no_state_stays_a_blob(path: Path) -> None:
    """Bytes of the user, and a field of another type, lie beside the table and come back."""
    odd = encode_state(replace(STATE, version=VersionCopy(chunked="perhaps")))
    with EmbeddedStore(path, typed=True) as store:
        store.register("s_v1", partitions=2)
        for blob in (b"mine", odd, encode_state(STATE)):
            store.set(KEY, blob)
            assert store.get(KEY) == blob
        store.delete(KEY)
        assert store.get(KEY) is None


def test_an_edit_of_a_row_is_not_noticed(path: Path) -> None:
    """A typed row has no seal: that is its price."""
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE typed_checkpoints SET position = 900")
    assert _state(path).position == 900


def test_a_column_of_a_newer_release_is_refused_where_it_has_a_value(path: Path) -> None:
    """After a rollback a row of the newer release is unreadable, and one without it is read."""
    with duckdb.connect(str(path)) as connection:
        connection.execute("ALTER TABLE typed_checkpoints ADD COLUMN region VARCHAR")
    assert _state(path) == STATE
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE typed_checkpoints SET region = 'west'")
    with pytest.raises(StoreError, match="UNREADABLE_CHECKPOINT"):
        _state(path)
    assert query(path, "SELECT position, damage FROM checkpoints")[1][0][1] is not None


def test_a_column_that_an_older_file_lacks_is_added(path: Path) -> None:
    """The table of an older release gets the columns of this one at its next start."""
    with duckdb.connect(str(path)) as connection:
        connection.execute("ALTER TABLE typed_checkpoints DROP COLUMN compression_dictionary")
    assert query(path, "SELECT position FROM checkpoints")[1] == [(7,)]
    assert _state(path) == STATE
