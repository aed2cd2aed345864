"""Where the compiled kernel is kept for the next process, and whether it is there.

It is found by a hash of the kernel's own text, so a changed kernel is never taken for the old one;
numba writes each file under another name first and renames it, so two processes that compile at
once do no harm.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

from ckptsim.sim.job.buffers.compiled.jit import INTERPRETED
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory

Ask = Callable[[Memory, int, int, int, int], int]


def is_available() -> bool:
    """Return whether the kernel can be run here: numba is there, or not wanted."""
    return INTERPRETED or find_spec("numba") is not None


def is_ready() -> bool:
    """Return whether this kernel has been compiled before on this machine."""
    return INTERPRETED or any(kept_in().rglob("*.nbi"))


@cache
def kept_in() -> Path:
    """Return the folder: in the user's cache folder, under the hash of the kernel's text."""
    text = blake2b(digest_size=8)
    here = Path(__file__).parent
    for path in sorted([*here.glob("kernel/**/*.py"), *here.glob("columns/*.py"), here / "jit.py"]):
        text.update(path.read_bytes())
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "ckptsim" / f"kernel-{text.hexdigest()}"
