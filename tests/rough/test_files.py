"""Files of every kind, broken in every way, are the user's to mend and never a fault of ours."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from ckptsim.analysis.spark import session
from ckptsim.analysis.summaries import refresh
from ckptsim.analysis.sweeps.worker import run_chunk
from ckptsim.analysis.tables.store import SweepStore
from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import to_toml
from tests.analysis.sweeps import synthetic
from tests.rough.limits import CUT, code_of

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
DATA = Path(__file__).parents[1] / "data"
VECTORS = sorted((DATA / "vectors").glob("*.jsonl")) + sorted((DATA / "recorded").glob("*.jsonl"))
FLINK = sorted((DATA / "flink").glob("*.jsonl"))
_ODD: list[Any] = [None, True, -1, 0, 1.5, 10**30, "", "x", "\udc80", [], {}, [[]], {"x": []}]
_SECONDS = 2.0


def broken_text(draw: random.Random, text: str) -> bytes:
    """Break a text somewhere: cut it, swap a byte, leave a piece out, or put one in twice."""
    data = bytearray(text.encode())
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(max(1, len(data)))
        match draw.randrange(5):
            case 0:
                del data[at:]
            case 1 if data:
                data[at % len(data)] = draw.randrange(256)
            case 2:
                del data[at : at + draw.randint(1, 40)]
            case 3:
                data[at:at] = data[at : at + draw.randint(1, 40)]
            case _:
                data[at:at] = draw.choice([b"\0", b"\xff", b"{", b'"', b"1e999", b"[" * 50])
    return bytes(data)


def odd_document(draw: random.Random, document: Any) -> Any:
    """Put something odd in the place of one value, somewhere, or take a key away."""
    if isinstance(document, dict) and document and draw.random() < 0.8:
        key = draw.choice(sorted(document))
        if draw.random() < 0.15:
            return {name: value for name, value in document.items() if name != key}
        return document | {key: odd_document(draw, document[key])}
    if isinstance(document, list) and document and draw.random() < 0.8:
        place = draw.randrange(len(document))
        return [*document[:place], odd_document(draw, document[place]), *document[place + 1 :]]
    return draw.choice(_ODD)


def broken_lines(draw: random.Random, path: Path, most: int) -> bytes:
    """Return some lines of a file of JSON, broken as texts or as documents."""
    lines = path.read_text(encoding="utf-8").splitlines()
    chosen = [draw.choice(lines) for _ in range(draw.randint(1, most))]
    if draw.random() < 0.3:
        return broken_text(draw, "\n".join(chosen))
    documents = [odd_document(draw, json.loads(line)) for line in chosen]
    return "\n".join(map(json.dumps, documents)).encode()


def _conform(draw: random.Random, folder: Path) -> list[str]:
    path = draw.choice(VECTORS)
    (folder / path.name).write_bytes(broken_lines(draw, path, 3))
    return ["conform", str(folder / path.name)]


def _validate(draw: random.Random, folder: Path) -> list[str]:
    path = draw.choice(FLINK)
    (folder / path.name).write_bytes(broken_lines(draw, path, 1))
    more = draw.choice([[], ["--json"], ["--sequence"], ["--folds", "2"]])
    return ["validate", str(folder / path.name), *more]


def _replay(draw: random.Random, folder: Path) -> list[str]:
    scenario = draw.choice([each for each in all_scenarios() if each.link != "barriers"])
    (folder / "s.toml").write_bytes(broken_text(draw, to_toml(scenario)))
    more = draw.choice([[], ["--checkpoint", "1"], ["--checkpoint", "x/y/z"], ["--json"]])
    return ["replay", str(folder / "s.toml"), "--out", str(folder / "out"), *more]


def _order(draw: random.Random, folder: Path) -> list[str]:
    path = DATA / "airbyte" / "source_faker.jsonl"
    (folder / "m.jsonl").write_bytes(broken_lines(draw, path, 8))
    return ["order", str(folder / "m.jsonl")]


def _measure_store(draw: random.Random, folder: Path) -> list[str]:
    odd = ["0", "-1", "x", "", "1.5", "9" * 30]
    words = draw.choice([["--rounds", draw.choice(odd)], ["--repeats", draw.choice(odd)],
                         ["--folder", str(folder / "nothing")], ["--folder", "\0"],
                         ["--out", str(folder)]])  # fmt: skip
    return ["measure-store", *words]


def _store(draw: random.Random, folder: Path) -> list[str]:
    (folder / "s.duckdb").write_bytes(draw.randbytes(draw.choice([0, 1, 100, 12_288])))
    return ["store", str(folder / "s.duckdb")]


def _report(draw: random.Random, folder: Path) -> list[str]:
    """Break one file of a small sweep."""
    out = folder / "out"
    shutil.copytree(_swept(folder.parent), out)
    files = sorted(path for path in out.rglob("*") if path.is_file())
    path = draw.choice([out / "sweep.json", out / "points.parquet", draw.choice(files)])
    if path.suffix == ".json" and draw.random() < 0.6:
        path.write_text(json.dumps(odd_document(draw, json.loads(path.read_text()))))
    elif draw.random() < 0.2:
        path.unlink()
    else:
        data = bytearray(path.read_bytes())
        place = draw.randrange(len(data))
        data[place : place + draw.randint(1, 9)] = draw.randbytes(draw.randint(0, 9))
        path.write_bytes(bytes(data))
    return ["report", str(out)]


def _swept(folder: Path) -> Path:
    made = folder / "swept"
    if not made.exists():
        rows = synthetic.rows([synthetic.point(checkpoints=2)], range(1, 4))
        store = SweepStore(made)
        about = {"plan": "p", "says": "s", "question": "", "answers": [], "words": {}, "runs": 3}
        store.open(about | {"scenario": "reference", "axes": [], "overrides": {}, "points": 1,
                            "program": "1", "keys": ""})  # fmt: skip
        store.write_points(rows)
        store.commit([run_chunk(synthetic.WORLD, rows, each=lambda: None).tables])
        with session.spark_session("local[1]") as spark:
            refresh(spark, store)
    return made


def _no_spark(*_: object, **__: object) -> NoReturn:
    """Refuse to start Spark with a Java process that has no room within the limits of a command."""
    raise UserError("this test starts no Spark")


# Verb -> how a command with something broken is made, and how often in `make test`.
BREAKING: dict[str, tuple[Callable[[random.Random, Path], list[str]], int]] = {
    "conform": (_conform, 120),
    "validate": (_validate, 15),
    "replay": (_replay, 20),
    "order": (_order, 60),
    "measure-store": (_measure_store, 12),
    "store": (_store, 8),
    "report": (_report, 20),
}


def _breaks(verb: str, times: int, folder: Path) -> None:
    make, _ = BREAKING[verb]
    for seed in range(times):
        here = folder / str(seed)
        here.mkdir()
        words = make(random.Random(f"{verb} {seed}"), here)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(session, "spark_session", _no_spark)
            code, said = code_of(words, seconds=_SECONDS)
        assert code in {0, 1, 2, CUT}, f"{verb} {seed}: {words}\n{said[-3000:]}"
        assert "Traceback" not in said or "_TooLong" in said, (
            f"{verb} {seed}: {words}\n{said[-3000:]}"
        )
        shutil.rmtree(here)


@pytest.mark.parametrize("verb", BREAKING)
def test_broken_files_never_end_in_a_fault_of_ours(verb: str, tmp_path: Path) -> None:
    """Whatever a file holds, a verb that reads it ends with 0, 1 or 2 and without a traceback."""
    _breaks(verb, BREAKING[verb][1], tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("verb", BREAKING)
def test_many_broken_files_never_end_in_a_fault_of_ours(verb: str, tmp_path: Path) -> None:
    """The same a hundred times as often where files are small."""
    _breaks(verb, 20 * BREAKING[verb][1], tmp_path)
