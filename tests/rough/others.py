"""Commands as others run them: another user, another environment, in a process of their own."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOBODY = 65534  # Source: Linux, overflowuid. The user that containers run without rights
RUN = "import sys; from ckptsim.sim.cli import main; sys.exit(main())"


def environment(changes: Mapping[str, str | None]) -> dict[str, str]:
    """Return this process's environment with changes. None takes a variable away."""
    kept = {name: text for name, text in os.environ.items() if name not in changes}
    packages = [path for path in sys.path if path.endswith("site-packages")]
    kept["PYTHONPATH"] = ":".join([f"{ROOT}/src", str(ROOT), *packages])
    return kept | {name: text for name, text in changes.items() if text is not None}


def command(
    *words: str,
    cwd: Path,
    program: str = RUN,
    env: Mapping[str, str | None] | None = None,
    stdin: bytes = b"",
    timeout: float = 60,
    unprivileged: bool = False,
    before: Callable[[], None] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run `ckptsim` with some words, or another program, in a folder.

    unprivileged: as a user who owns nothing here.  before: called in the new process.
    """

    def prepare() -> None:
        if before is not None:
            before()
        if unprivileged and os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)

    return subprocess.run(
        [_python() if unprivileged else sys.executable, "-c", program, *words],
        cwd=cwd,
        env=environment(env or {}),
        input=stdin,
        capture_output=True,
        timeout=timeout,
        preexec_fn=prepare,
        check=False,
    )


@cache
def _python() -> str:
    """Return an interpreter of this version that others may run: ours may lie in a home."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    found = [sys.executable, f"/usr/local/bin/{version}", f"/usr/bin/{version}"]
    return next((one for one in found if _is_public(Path(one).resolve())), sys.executable)


def _is_public(path: Path) -> bool:
    places = [path, *path.parents]
    return path.exists() and all(place.stat().st_mode & stat.S_IXOTH for place in places)


@contextmanager
def public_folder() -> Iterator[Path]:
    """Make a folder that every user may read and write. The ones of pytest are for one user."""
    path = Path(tempfile.mkdtemp(prefix="rough-"))
    path.chmod(0o777)
    try:
        yield path
    finally:
        shutil.rmtree(path)


def need_unprivileged() -> None:
    """Skip a test where rights cannot be dropped, or where no one else can read the program."""
    if not _others_can_run():
        pytest.skip("another user cannot read this checkout or its Python")


@cache
def _others_can_run() -> bool:
    with public_folder() as folder:
        try:
            return not command(cwd=folder, program="import simpy", unprivileged=True).returncode
        except OSError:
            return False
