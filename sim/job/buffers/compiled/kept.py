"""Where the compiled kernel is kept for the next process, and whether it is there.

It is found by a hash of the kernel's own text, so a changed kernel is never taken for the old one;
numba writes each file under another name first and renames it, so two processes that compile at
once do no harm.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir

from ckptsim.sim.job.buffers.compiled.jit import INTERPRETED
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory

_log = logging.getLogger(__name__)

Ask = Callable[[Memory, int, int, int, int], int]


def is_available() -> bool:
    """Return whether the kernel can be run here: numba is there, or not wanted."""
    return INTERPRETED or find_spec("numba") is not None


@cache
def is_ready() -> bool:
    """Return whether this kernel had been compiled on this machine when it was asked first."""
    return INTERPRETED or any(kept_in().rglob("*.nbi"))


@cache
def kept_in() -> Path:
    """Return the folder: in the user's cache folder, under the hash of the kernel's text.

    Where that cannot be written the folder of temporary files takes its place, and a line says so.
    """
    text = blake2b(digest_size=8)
    here = Path(__file__).parent
    for path in sorted([*here.glob("kernel/**/*.py"), *here.glob("columns/*.py"), here / "jit.py"]):
        text.update(path.read_bytes())
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(root) / "ckptsim" / f"kernel-{text.hexdigest()}"
    if _can_be_written(folder):
        return folder
    # Left alone, numba would keep it beside the source, where it does not see that others changed.
    elsewhere = Path(gettempdir()) / "ckptsim" / folder.name
    _log.warning("%s cannot be written: the compiled kernel is kept in %s", folder, elsewhere)
    return elsewhere


def _can_be_written(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
