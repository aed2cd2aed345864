"""Every key of the two dialects that jobs had is one of today's, or is refused with the new one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ckptsim.scenarios import LINKS, ScenarioError, loads
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.describe import reference
from ckptsim.scenarios.job.old_keys import KEYS, renamed
from ckptsim.scenarios.planning import with_parameters

# All keys of a job as the last release printed them: on buffers, on records, in a pipeline.
OLD = Path(__file__).with_name("old_keys.txt").read_text(encoding="utf-8").split()
_UNIT = re.compile(r"_(?:ns|bytes|per_s)$")


def _paths() -> set[str]:
    """Return every path of today, with and without units, and the ones of whole tables."""
    found = set()
    for link in ("barriers", "barrier_protocol", "composed"):
        for one in reference(LINKS[link]):
            steps = one.path.replace("(fixed_delay)", "").split(".")
            found |= {".".join(steps[:length]) for length in range(1, len(steps) + 1)}
            found |= {one.path.replace("(fixed_delay)", "")}
    return found | {_UNIT.sub("", path) for path in found}


PATHS = _paths()


def test_each_old_key_is_known_or_names_the_new_one() -> None:
    """Of the keys of the last release none is merely unknown."""
    assert [path for path in OLD if path not in PATHS and renamed(path) is None] == []


def test_no_key_of_today_is_an_old_one() -> None:
    """What can be written is not refused as old."""
    assert [path for path in PATHS if renamed(path) is not None] == []


def test_each_old_key_was_one() -> None:
    """The table has no key that the last release did not have."""
    tables = {path.rpartition(".")[0] for path in OLD} | {"dataflow"}
    known = {_UNIT.sub("", path) for path in OLD} | {table.removesuffix("[]") for table in tables}
    assert {old.partition("=")[0] for old in KEYS} - known == {
        "job.vertices[].inputs[].partitioner",  # with words of old at their new places
        "job.engine",
        "violates[]",  # with names of properties that are one today
    }


@pytest.mark.parametrize("old", [*OLD, *KEYS])
def test_what_is_named_instead_exists(old: str) -> None:
    """A new key begins the answer, with its whole path."""
    new = renamed(old)
    if new is not None:
        assert re.split(r"[:,]", new)[0] in PATHS


OLD_FILE = """
name = "old"
link = "barriers"
says = "a job on buffers as it was written"

[[dataflow.sources]]
name = "source"
stop_after = "2 s"

[[dataflow.operators]]
name = "slow"
inputs = [{ upstream = "source", partitioner = "keyBy" }]

[dataflow.checkpoint]
interval = "1 s"
"""


def test_a_table_of_old_is_refused_with_what_changed_inside() -> None:
    """The table and each key in it that has another name are problems of their own."""
    with pytest.raises(ScenarioError) as caught:
        loads(OLD_FILE, source="old.toml")
    assert str(caught.value).splitlines()[:-1] == [
        "old.toml: dataflow: found an old key, expected job",
        (
            "old.toml: dataflow.sources: found an old key, "
            'expected job.vertices, each source with kind = "source"'
        ),
        (
            "old.toml: dataflow.sources[0].stop_after: found an old key, "
            "expected job.vertices[].ends_at"
        ),
        "old.toml: dataflow.operators: found an old key, expected job.vertices",
        "old.toml: dataflow.checkpoint: found an old key, expected job.checkpointing",
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("dataflow.network.record_bytes", "job.network.record_bytes"),
        ("dataflow.sources[0].rate_per_s", "job.vertices[].rate_per_s"),
        ("job.vertices[0].emit_interval", "job.vertices[].rate, of all subtasks together"),
        ("job.edges[0].partitioner", "job.vertices[].inputs[].partitioner"),
    ],
)
def test_an_old_path_of_a_parameter_is_refused_with_the_new_one(old: str, new: str) -> None:
    """A plan's or a command line's path says where to look, too."""
    with pytest.raises(ScenarioError) as caught:
        with_parameters(by_name("back_pressure_aligned"), {old: 1})
    assert f"{old}: found an old key, expected {new}" in str(caught.value)


@pytest.mark.parametrize("word", ["keyed", "keyBy"])
def test_an_old_word_is_refused_with_the_new_one(word: str) -> None:
    """Both words for a partitioner by key are now `hash`."""
    with pytest.raises(ScenarioError, match=r'"hash".*; now job\.vertices.*partitioner: hash'):
        with_parameters(
            by_name("back_pressure_aligned"), {"job.vertices[1].inputs[0].partitioner": word}
        )
