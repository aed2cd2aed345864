"""Names and values in files that a folder brings along: nothing outside the folder changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ckptsim.analysis.tables.store import MANIFEST, STAGING, SweepStore
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.cli.main import main
from ckptsim.sim.search.folder import DECISIONS, SCENARIO
from tests.rough.test_files import _swept

Captured = pytest.CaptureFixture[str]
HUNT = ["hunt", "b01_send_fails", "--mutant", "cursor_before_send"]
EXPLORE = ["check", "reference", "--explore", "--runs", "3", "--corpus"]


@pytest.mark.parametrize(
    "name",
    [
        "../../kept.parquet",
        "/kept.parquet",
        "..",
        "",
        "kept.parquet",
        "0123456789abcdef.parquet/../../../kept.parquet",
        "0123456789abcdef.parquet\n",
        7,
        None,
        ["0123456789abcdef.parquet"],
    ],
)
def test_a_manifest_lists_pieces_alone(name: Any, tmp_path: Path) -> None:
    """An entry of another form is refused with its place, and nothing is removed anywhere."""
    kept = tmp_path / "kept.parquet"
    kept.write_text("mine")
    store = SweepStore(_swept(tmp_path))
    about = store.about()
    (store.directory / MANIFEST).write_text(
        json.dumps([str(kept) if name == "/kept.parquet" else name])
    )
    before = sorted(tmp_path.rglob("*"))
    for change in (store.clear, lambda: store.open(about)):
        with pytest.raises(UserError, match=rf"{MANIFEST}: \[0\]: found .*, expected"):
            change()
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("folder", ["runs", STAGING])
def test_a_link_in_a_sweep_is_not_followed(folder: str, tmp_path: Path) -> None:
    """A folder of a sweep that is a link is refused: what it leads to stays as it is."""
    store = SweepStore(_swept(tmp_path))
    about = store.about()
    elsewhere = tmp_path / "elsewhere"
    (store.directory / folder).mkdir(exist_ok=True)
    (store.directory / folder).rename(elsewhere)
    (store.directory / folder).symlink_to(elsewhere)
    (elsewhere / "runs-0.parquet").write_text("mine")
    before = sorted(elsewhere.iterdir())
    for change in (store.clear, lambda: store.open(about)):
        with pytest.raises(UserError, match="found a link"):
            change()
    assert sorted(elsewhere.iterdir()) == before


def test_a_lock_that_is_a_link_is_not_written(tmp_path: Path) -> None:
    """The file that a link leads to is neither emptied nor removed."""
    store = SweepStore(_swept(tmp_path))
    kept = tmp_path / "kept"
    kept.write_text("mine")
    (store.directory / "sweep.lock").symlink_to(kept)
    with pytest.raises(UserError, match="place for a lock"), store.writing():
        pass
    assert kept.read_text() == "mine"


def test_a_find_replaces_links(tmp_path: Path) -> None:
    """A find is written into its folder, wherever a link of the same name leads."""
    kept = tmp_path / "kept"
    kept.write_text("mine")
    out = tmp_path / "out"
    out.mkdir()
    for name in (SCENARIO, DECISIONS, "story.txt"):
        (out / name).symlink_to(kept)
    assert main([*HUNT, "--out", str(out)]) == 1
    assert kept.read_text() == "mine"
    assert not [each for each in out.iterdir() if each.is_symlink()]
    decisions = json.loads((out / DECISIONS).read_text())
    for key, value in (("seed", "0"), ("cores", ["x"]), ("cores", {"ordering": 3}), ("mutant", [])):
        (out / DECISIONS).write_text(json.dumps(decisions | {key: value}))
        assert main(["replay", str(out), "--out", str(tmp_path / "told")]) == 2


@pytest.mark.parametrize(
    "line", [b"[-1]", b"[1e3]", b"[true]", b'["a"]', b"{}", b"[" * 5000, b"\xff", b"[1" + b"0" * 60]
)
def test_a_corpus_has_lists_of_choices(line: bytes, tmp_path: Path, capsys: Captured) -> None:
    """A line of another kind ends with exit code 2 and a sentence, and the corpus stays."""
    (tmp_path / "reference.jsonl").write_bytes(line)
    assert main([*EXPLORE, str(tmp_path)]) == 2
    assert "found" in (said := capsys.readouterr().err)
    assert "expected" in said
    assert (tmp_path / "reference.jsonl").read_bytes() == line


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("corpus", -1),
        ("corpus", "1"),
        ("begun_with", None),
        ("planned", [[0]]),
        ("planned", {"a": 1}),
        ("report", []),
        ("report", {"runs": "3", "violating": []}),
        ("report", {"unknown": 3, "violating": []}),
        ("report", {"violating": [["../x", [1]]]}),
        ("report", {"covered": {"a": "b"}, "violating": []}),
    ],
)
def test_progress_has_the_form_that_it_was_left_in(
    key: str, value: Any, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an interrupted exploration has left is believed in its own form alone."""
    with monkeypatch.context() as patched:
        patched.setattr("ckptsim.sim.cli.verbs.explored.Kept.finish", lambda _: None)
        assert main([*EXPLORE, str(tmp_path)]) == 0
    path = tmp_path / "reference.progress.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {key: value}))
    capsys.readouterr()
    assert main([*EXPLORE, str(tmp_path)]) == 2
    assert "remove it to begin anew" in capsys.readouterr().err
