"""Two hundred damaged recordings: exit code 2 with a sentence, or an import of the rest."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ckptsim.scenarios.files import load
from ckptsim.sim.cli.main import main
from tests.recording.folders import NAMES, copied

Captured = pytest.CaptureFixture[str]
Damage = Callable[[Path, random.Random], None]


def _answers(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "index.json").read_text())["answers"]
    return found


def _rewrite(folder: Path, entries: list[dict[str, Any]]) -> None:
    (folder / "index.json").write_text(json.dumps({"answers": entries}))


def lose_answers(folder: Path, draws: random.Random) -> None:
    """Take some answers out of the index."""
    share = draws.choice([0.1, 0.5, 0.9])
    _rewrite(folder, [entry for entry in _answers(folder) if draws.random() > share])


def lose_a_kind(folder: Path, draws: random.Random) -> None:
    """Take all answers of a kind out."""
    part = draws.choice(
        ["/plan", "/metrics", "/checkpoints", "/vertices/", "/taskmanagers", "/config", "?get="]
    )
    _rewrite(folder, [entry for entry in _answers(folder) if part not in entry["path"]])


def tear_files(folder: Path, draws: random.Random) -> None:
    """Cut some files off in the middle."""
    for entry in _answers(folder):
        if draws.random() < 0.3:
            file = folder / entry["file"]
            raw = file.read_bytes()
            file.write_bytes(raw[: draws.randrange(len(raw) + 1)])


def lose_files(folder: Path, draws: random.Random) -> None:
    """Delete some files that the index lists."""
    for entry in _answers(folder):
        if draws.random() < 0.3:
            (folder / entry["file"]).unlink()


def _walked(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {key: _walked(inner, change) for key, inner in value.items()}
    if isinstance(value, list):
        return [_walked(inner, change) for inner in value]
    return change(value)


def _every_file(folder: Path, change: Callable[[Any], Any]) -> None:
    for entry in _answers(folder):
        file = folder / entry["file"]
        file.write_text(json.dumps(_walked(json.loads(file.read_text()), change)))


def spoil_numbers(folder: Path, draws: random.Random) -> None:
    """Put everything that is no number, or an odd one, where numbers stand."""
    odd = ["NaN", None, -1, 2**63 - 1, 1e308, "12 apples", True, [], {}, 0, 0.5]

    def change(value: Any) -> Any:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return draws.choice(odd) if is_number and draws.random() < 0.2 else value

    _every_file(folder, change)


def spoil_texts(folder: Path, draws: random.Random) -> None:
    """Put other texts and types where texts stand."""
    odd = ["", "NaN", "0", "-5", "1e400", "\x00", "é" * 300, 7, None, ["x"], {"y": 1}]

    def change(value: Any) -> Any:
        return draws.choice(odd) if isinstance(value, str) and draws.random() < 0.1 else value

    _every_file(folder, change)


def other_version(folder: Path, draws: random.Random) -> None:
    """Drop some keys everywhere and rename others, as versions of the engine do."""
    known: dict[str, str] = {}

    def of(value: Any) -> Any:
        if isinstance(value, dict):
            found = {}
            for key, inner in value.items():
                fate = known.setdefault(key, draws.choice(["keep"] * 12 + ["drop", "rename"]))
                if fate != "drop":
                    found[key if fate == "keep" else f"new-{key}"] = of(inner)
            return found
        return [of(inner) for inner in value] if isinstance(value, list) else value

    for entry in _answers(folder):
        file = folder / entry["file"]
        file.write_text(json.dumps(of(json.loads(file.read_text()))))


def swap_answers(folder: Path, draws: random.Random) -> None:
    """Let some answers stand at the place of others."""
    entries = _answers(folder)
    for _ in range(8):
        one, other = draws.sample(entries, 2)
        one["file"], other["file"] = other["file"], one["file"]
    _rewrite(folder, entries)


def _job_answer(folder: Path, change: dict[str, Any]) -> None:
    job = next(e["path"] for e in _answers(folder) if e["path"].endswith("/plan"))
    for entry in _answers(folder):
        if entry["path"] == job.removesuffix("/plan"):
            file = folder / entry["file"]
            file.write_text(json.dumps(json.loads(file.read_text()) | change))


def other_state(folder: Path, draws: random.Random) -> None:
    """Let the job be finished, failing, of no known state, or a batch job."""
    states = [{"state": s} for s in ("FINISHED", "FAILING", "RESTARTING", "CANCELED", None)]
    _job_answer(folder, draws.choice([*states, {"job-type": "BATCH"}]))


def no_checkpoints(folder: Path, draws: random.Random) -> None:
    """Let no checkpoint have completed, or none be configured."""
    status = draws.choice(["FAILED", "IN_PROGRESS", "whatever"])

    def change(value: Any) -> Any:
        return status if value == "COMPLETED" else value

    _every_file(folder, change)


def odd_index(folder: Path, draws: random.Random) -> None:
    """Let entries of the index be odd: no file, no path, times that are none, files elsewhere."""
    odd = [None, 5, "", "../x", {}, [], "/jobs//plan", "http://[", -7]
    entries = _answers(folder)
    for entry in entries:
        if draws.random() < 0.2:
            entry[draws.choice(["file", "path", "at_ms"])] = draws.choice(odd)
    _rewrite(folder, entries)


def half_an_index(folder: Path, draws: random.Random) -> None:
    """Tear the index itself."""
    text = (folder / "index.json").read_text()
    (folder / "index.json").write_text(text[: draws.randrange(len(text))])


def binary(folder: Path, draws: random.Random) -> None:
    """Put bytes that are no text into some files."""
    for entry in _answers(folder):
        if draws.random() < 0.2:
            (folder / entry["file"]).write_bytes(draws.randbytes(200))


DAMAGES: tuple[Damage, ...] = (
    lose_answers,
    lose_a_kind,
    tear_files,
    lose_files,
    spoil_numbers,
    spoil_texts,
    other_version,
    swap_answers,
    other_state,
    no_checkpoints,
    odd_index,
    half_an_index,
    binary,
)


@pytest.mark.parametrize("number", range(200))
def test_damaged_recordings_end_in_words(number: int, tmp_path: Path, capsys: Captured) -> None:
    """Exit code 2 with one sentence, or a scenario that loads. Never a traceback."""
    draws = random.Random(number)
    folder = copied(NAMES[number % len(NAMES)], tmp_path)
    DAMAGES[number % len(DAMAGES)](folder, draws)
    out = tmp_path / "job.toml"
    # Every seventh is replayed, too: everything that was inferred must be possible to run.
    replay = ["--seeds", "1"] if number % 7 == 0 else ["--no-replay"]
    code = main(["import", str(folder), "--out", str(out), *replay])
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    if code == 0:
        assert load(out).link == "barriers"
        return
    assert code == 2
    assert printed.err.startswith("ckptsim import: ")
    assert not out.exists()


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damage_damages(damage: Damage, tmp_path: Path) -> None:
    """Each kind of damage changes a recording."""
    folder = copied("job03", tmp_path)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    damage(folder, random.Random(3))
    assert before != {path.name: path.read_bytes() for path in folder.iterdir()}
