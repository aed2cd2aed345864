"""The compiled kernel where its cache is missing, damaged, or open to others."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest

from ckptsim.sim.job.buffers.compiled import door, kept
from tests.rough.others import command, need_unprivileged, public_folder

CACHES = (kept.kept_in, kept.is_ready, kept._reasons)
RUN = ["run", "back_pressure_aligned", "--set", "job.engine=compiled"]
DIGEST = b"d91a2803a5ff4f13229e9e5bb6ce491c"
LONG = partial(pytest.param, marks=pytest.mark.long)
NOTE = b"the compiled kernel is not kept"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Have an empty cache folder of one's own. Yield the folder of the kernel."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for each in CACHES:
        each.cache_clear()
    folder = kept.kept_in()
    assert folder is not None
    yield folder
    for each in CACHES:
        each.cache_clear()


def _flipped(content: bytes) -> bytes:
    place = len(content) // 2
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.mark.parametrize(
    "damaged", [lambda c: c[:0], lambda c: c[:7], lambda c: c[:-1], _flipped, lambda c: c + b"\0"]
)
def test_a_damaged_kernel_is_compiled_anew(
    cache: Path, damaged: object, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is never run: the checksum differs, a line says so, and the file is whole again."""
    code = b"name\ncode"
    monkeypatch.setattr(door, "_compiled", lambda: code)
    monkeypatch.setattr(door, "_loaded", lambda loaded: loaded)
    assert door.kernel.__wrapped__() == code
    path = next(cache.glob("*.o"))
    whole = path.read_bytes()
    path.write_bytes(damaged(whole))  # type: ignore[operator]
    assert door.kernel.__wrapped__() == code
    assert "is damaged" in caplog.text
    assert path.read_bytes() == whole


def test_a_kernel_of_another_name_is_not_run(cache: Path) -> None:
    """A whole file that was kept for another processor or text is taken for damaged."""
    kept.keep("one.o", b"code")
    (cache / "one.o").rename(cache / "other.o")
    assert kept.kept("other.o") is None


def test_links_and_files_of_others_are_not_run(cache: Path, tmp_path: Path) -> None:
    """A kept file has to be a file of the user's that others cannot write."""
    kept.keep("one.o", b"code")
    path = cache / "one.o"
    assert kept.kept("one.o") == b"code"
    path.chmod(0o666)
    assert kept.kept("one.o") is None
    path.chmod(0o600)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert kept.kept("one.o") is None


@pytest.mark.parametrize("which", ["cache", "parent", "link"])
def test_a_folder_that_is_open_to_others_is_not_used(
    cache: Path, which: str, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """One line names the folder, nothing is kept, and no other folder takes its place."""
    if which == "link":
        cache.rename(tmp_path / "moved")
        cache.symlink_to(tmp_path / "moved")
    else:
        (cache if which == "cache" else cache.parent).chmod(0o777)
    kept.kept_in.cache_clear()
    assert kept.kept_in() is None
    kept.keep("one.o", b"code")
    with kept.one_at_a_time():
        assert kept.kept("one.o") is None
    assert len(caplog.records) == 1
    assert str(cache if which != "parent" else cache.parent) in caplog.text


def _keep_many(number: int) -> None:
    for _ in range(50):
        kept.keep("one.o", bytes([number]) * 200_000)


def test_processes_that_keep_at_once_leave_whole_files(cache: Path) -> None:
    """A reader finds one of the contents that were kept, never a part or a mixture."""
    context = get_context("fork")
    writers = [context.Process(target=_keep_many, args=(each,)) for each in (1, 2)]
    for each in writers:
        each.start()
    while any(each.is_alive() for each in writers):
        found = kept.kept("one.o")
        assert found is None or (len(found) == 200_000 and len(set(found)) == 1)
    assert kept.kept("one.o") is not None
    assert not kept._reasons()
    assert [each.name for each in cache.iterdir()] == ["one.o"]


@pytest.mark.parametrize("home", ["/nonexistent", LONG(None), LONG("read-only")])
def test_a_user_without_a_home_runs_all_the_same(home: str | None) -> None:
    """One line says that large jobs take longer. The run is the same, and no home is made."""
    need_unprivileged()
    with public_folder() as folder:
        if home == "read-only":
            home = str(folder / "home")
            Path(home).mkdir(mode=0o755)
        env = {"HOME": home, "XDG_CACHE_HOME": None, "PYTHONDONTWRITEBYTECODE": "1"}
        done = command(*RUN, cwd=folder, env=env, unprivileged=True)
        assert done.returncode == 0, done.stderr
        assert DIGEST in done.stdout
        assert done.stderr.count(b"\n") == 1
        assert NOTE in done.stderr
        assert not [each for each in folder.rglob("*") if each.name != "home"]


def test_a_kernel_of_another_user_is_not_run(tmp_path: Path) -> None:
    """Of a cache that belongs to someone else nothing is used, and one line says so."""
    need_unprivileged()
    with public_folder() as folder:
        (folder / "ckptsim").mkdir()
        env = {"XDG_CACHE_HOME": str(folder)}
        done = command(*RUN, cwd=folder, env=env, unprivileged=True)
        assert done.returncode == 0
        assert b"belongs to another user" in done.stderr
        assert list((folder / "ckptsim").iterdir()) == []
