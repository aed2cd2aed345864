"""The world around a command: full disks, signals, locales, links, closed streams, odd paths."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from ckptsim.analysis.sweeps.worker import run_chunk
from ckptsim.analysis.tables import lock
from ckptsim.analysis.tables.store import SweepStore
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import alone_in, to_toml, written_whole
from ckptsim.sim.cli.main import main
from tests.analysis.sweeps import synthetic
from tests.recording.folders import SHIPPED
from tests.rough.others import RUN, command, environment, need_unprivileged, public_folder
from tests.rough.test_files import _swept

Captured = pytest.CaptureFixture[str]
LONG = partial(pytest.param, marks=pytest.mark.long)
HEAD = 'name = "x"\nlink = "barriers"\nsays = "x"\n'


# Asks itself to end, a while after the verb has begun.
ENDED = """
import os, signal, sys, threading, time
def end():
    while signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        time.sleep(0.05)
    time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)
threading.Thread(target=end, daemon=True).start()
from ckptsim.sim.cli import main
sys.exit(main())
"""


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _limit_files(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


# A full disk --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ["replay", "reference", "--out", "o"],
        LONG(["import", str(SHIPPED / "job15"), "--no-replay", "--out", "o.toml"]),
        LONG(["check", "reference", "--explore", "--runs", "3", "--corpus", "o"]),
    ],
    ids=["replay", "import", "explore"],
)
def test_without_room_nothing_half_is_left(words: list[str], tmp_path: Path) -> None:
    """A file that does not fit ends with exit code 2 and its path, and there is no part of it."""
    done = command(*words, cwd=tmp_path, before=lambda: _limit_files(64))
    assert done.returncode == 2, done.stderr
    assert b": o" in done.stderr or b": ckptsim.schema.json" in done.stderr
    assert b"File too large" in done.stderr
    assert b"Traceback" not in done.stderr
    assert _files(tmp_path) == []


def test_without_room_a_violation_is_told(tmp_path: Path) -> None:
    """Exploring prints what it found before the file that cannot be written, and ends with 1."""
    words = ["check", "ordering", "--explore", "--runs", "200", "--mutant", "no_ordering"]
    done = command(*words, "--corpus", "o", cwd=tmp_path, before=lambda: _limit_files(64))
    assert done.returncode == 1, done.stderr
    assert b"VIOLATED" in done.stdout
    assert b"o/ordering" in done.stderr
    assert b"File too large; the results are not kept" in done.stderr
    assert b"Traceback" not in done.stderr
    assert _files(tmp_path) == []


def test_a_sweep_without_room_keeps_its_earlier_runs(tmp_path: Path) -> None:
    """A piece that does not fit is none. Those before it stay, and the sweep resumes."""
    store = SweepStore(_swept(tmp_path))
    about, keys = store.about(), store.run_keys()
    rows = synthetic.rows([synthetic.point(checkpoints=2)], range(4, 6))
    tables = run_chunk(synthetic.WORLD, rows, each=lambda: None).tables
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, hard))
    try:
        with pytest.raises(UserError, match=r"swept: .*the same command does the rest"):
            store.commit([tables])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    store.open(about)
    assert store.run_keys() == keys
    store.commit([tables])
    assert len(store.run_keys()) == len(keys) + 2


def test_a_device_without_room_is_said(tmp_path: Path) -> None:
    """Output that cannot be written is no success, and the interpreter adds nothing to it."""
    words = [sys.executable, "-c", RUN, "list"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            words, stdout=full, stderr=subprocess.PIPE, env=environment({}), check=False
        )
    assert done.returncode == 2
    assert done.stderr == b"ckptsim list: the output: No space left on device\n"


# Signals and other processes ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says"),
    [
        LONG(["hunt", "reference", "--seeds", "99999", "--out", "o"], b"does the rest"),
        (["check", "ordering", "--explore", "--seconds", "99", "--corpus", "o"], b"does the rest"),
    ],
    ids=["hunt", "explore"],
)
def test_a_request_to_end_leaves_whole_files(words: list[str], says: bytes, tmp_path: Path) -> None:
    """SIGTERM ends with 143 and what does the rest. No scratch file is left."""
    process = subprocess.Popen(
        [sys.executable, "-c", ENDED, *words],
        cwd=tmp_path,
        env=environment({}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    _, said = process.communicate(timeout=60)
    assert process.returncode == 143, said
    assert says in said
    assert b"Traceback" not in said
    for path in _files(tmp_path):
        assert not path.name.startswith(".")
        [json.loads(line) for line in path.read_text().splitlines()]


def test_two_processes_do_not_share_a_corpus(tmp_path: Path, capsys: Captured) -> None:
    """The second one is refused with the folder's name, and writes nothing."""
    with alone_in(tmp_path):
        words = ["check", "reference", "--explore", "--runs", "2", "--corpus", str(tmp_path)]
        assert main(words) == 2
    assert f"{tmp_path}: another process explores here" in capsys.readouterr().err
    assert _files(tmp_path) == []


def test_a_clock_that_was_set_back_makes_no_age_negative(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who holds a lock is said, whatever the clock or the file says since when."""
    about = {"pid": 7, "host": "here", "since": time.time() + 3600}
    assert "since 0 s ago" in lock._owner(json.dumps(about).encode())
    for since in ("NaN", "Infinity", "-Infinity", '"x"', "[]"):
        text = f'{{"pid": 7, "host": "here", "since": {since}}}'
        assert lock._owner(text.encode()) == "another process"


# Folders ------------------------------------------------------------------------------------------


def test_a_find_in_a_read_only_folder_is_not_lost() -> None:
    """It is kept in a private folder that a line names, and the exit code is the one of a find."""
    need_unprivileged()
    with public_folder() as folder:
        folder.chmod(0o555)
        env = {"TMPDIR": str(folder / "tmp")}
        (folder / "tmp").mkdir()
        (folder / "tmp").chmod(0o777)
        words = ["hunt", "b01_send_fails", "--mutant", "cursor_before_send"]
        done = command(*words, cwd=folder, env=env, unprivileged=True)
        assert done.returncode == 1, done.stderr
        assert b"takes its place" in done.stderr
        (private,) = (folder / "tmp").iterdir()
        assert private.stat().st_mode & 0o777 == 0o700
        assert list(private.rglob("scenario.toml"))


@pytest.mark.parametrize("verb", ["measure-store", "demo", "report ."])
def test_a_read_only_place_is_named_before_the_work(verb: str) -> None:
    """A verb that writes when its work is done says first that it cannot, also by default."""
    need_unprivileged()
    with public_folder() as folder:
        folder.chmod(0o555)
        done = command(*verb.split(), cwd=folder, unprivileged=True)
        assert done.returncode == 2, done.stderr
        assert b"which is read-only" in done.stderr
        assert b"measuring" not in done.stdout + done.stderr


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize("make", [_loop, _pipe, Path.mkdir], ids=["loop", "pipe", "folder"])
def test_what_is_no_file_is_no_scenario(
    make: Callable[[Path], None], tmp_path: Path, capsys: Captured
) -> None:
    """A loop of links, a pipe or a folder ends with a sentence: nothing waits for it."""
    path = tmp_path / "s.toml"
    make(path)
    for words in (["run", str(path)], ["sweep", str(path)], ["run", f"{path}/t.toml"]):
        assert main(words) == 2
        assert "s.toml" in capsys.readouterr().err
    if make is not Path.mkdir:
        assert main(["replay", "reference", "--out", str(path)]) == 2


@pytest.mark.parametrize(
    "name", [b"a b", "é→\U0001f600".encode(), b"a\nb", b"\xff\xfe", b"'$(x)\""]
)
def test_paths_of_any_characters_work(name: bytes, tmp_path: Path, capsys: Captured) -> None:
    """A scenario is read from and told into folders of any name, and one line names them."""
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    folder.mkdir()
    written_whole(folder / "s.toml", to_toml(by_name("reference")))
    assert main(["replay", str(folder / "s.toml"), "--out", str(folder / "out")]) == 0
    assert (folder / "out" / "story.txt").exists()
    capsys.readouterr().out.encode()


# Texts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    ["nan", "inf", "-inf", "1e999", "-1", '"-3 s"', '"nan s"', '"1e999 s"', "9" * 30, "9" * 5000],
)
def test_numbers_beyond_all_bounds_are_refused(
    value: str, tmp_path: Path, capsys: Captured
) -> None:
    """The sentence says where the number is, and what may stand there."""
    path = tmp_path / "s.toml"
    path.write_text(f'{HEAD}[job]\nduration = {value}\n[[job.vertices]]\nname = "s"\n')
    assert main(["run", str(path)]) == 2
    said = capsys.readouterr().err
    assert "found" in said
    assert "expected" in said
    assert main(["run", "reference", "--set", f"sync.sockets.count={value}"]) == 2


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 5000 + "]" * 5000,
        "a = " + "{a = " * 3000 + "1" + "}" * 3000,
        "[" + ".".join("a" * 5000) + "]\nb = 1",
        ".".join("a" * 5000) + " = 1",
    ],
)
def test_deep_files_are_refused(text: str, tmp_path: Path, capsys: Captured) -> None:
    """Tables and arrays in each other without end are the user's to mend."""
    path = tmp_path / "s.toml"
    path.write_text(f"{HEAD}{text}\n")
    assert main(["run", str(path)]) == 2
    assert "s.toml" in capsys.readouterr().err


def test_files_of_other_editors_are_read(tmp_path: Path, capsys: Captured) -> None:
    """A mark of the byte order and lines that end with two characters change nothing."""
    path = tmp_path / "s.toml"
    text = to_toml(by_name("reference"))
    digests = []
    for content in (text.encode(), b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()):
        path.write_bytes(content)
        assert main(["run", str(path), "--json"]) == 0
        digests.append(json.loads(capsys.readouterr().out)["digest"])
    assert digests[0] == digests[1]


@pytest.mark.parametrize(
    "env",
    [
        LONG({"PYTHONIOENCODING": "ascii"}),
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": None},
    ],
    ids=["ascii", "C"],
)
def test_a_locale_that_lacks_characters_spoils_nothing(
    env: dict[str, str | None], tmp_path: Path
) -> None:
    """A folder of any name is written and named, with escapes for what the locale lacks."""
    done = command("replay", "reference", "--out", "é\U0001f600", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert b"\\ud83d\\ude00" in done.stdout or b"\\udcf0\\udc9f" in done.stdout
    assert (tmp_path / "é\U0001f600" / "story.txt").exists()


@pytest.mark.parametrize("columns", ["0", "1", "-5", "x", "100000"])
def test_a_terminal_of_any_width_is_written_to(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Help and tables come out whatever the environment says of columns."""
    monkeypatch.setenv("COLUMNS", columns)
    for words in (["run", "--help"], ["list"], ["explain", "reference"], ["run", "reference"]):
        assert main(words) == 0
    assert "reference" in capsys.readouterr().out


def test_texts_of_others_do_not_rule_the_terminal(capsys: Captured) -> None:
    """Escape sequences in a word are shown as escapes, on both streams."""
    evil = "\x1b[2J\x9b\u202e\r\x07"
    for words in (["run", evil], ["run", "reference", "--core", f"ordering={evil}:x"], [evil]):
        assert main(words) == 2
        printed = capsys.readouterr()
        assert not set(evil[:1] + evil[4:]) & set(printed.out + printed.err)


# Streams ------------------------------------------------------------------------------------------


def _close(number: int) -> Callable[[], None]:
    return lambda: os.close(number)


@pytest.mark.parametrize(
    ("words", "closed", "code"),
    [
        LONG(["run", "reference"], 0, 0),
        (["run", "reference"], 1, 0),
        LONG(["run", "nothing"], 2, 2),
        (["order", "-"], 0, 2),
    ],
)
def test_closed_streams_are_no_fault(
    words: list[str], closed: int, code: int, tmp_path: Path
) -> None:
    """A command that was started without one of its streams ends as it would with it."""
    done = command(*words, cwd=tmp_path, before=_close(closed))
    assert done.returncode == code
    assert b"Traceback" not in done.stderr


def test_a_reader_that_has_seen_enough_is_no_fault(tmp_path: Path) -> None:
    """`| head -1` ends the command without a word."""
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, "replay", "reference", "--out", str(tmp_path)],
        env=environment({}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 0
