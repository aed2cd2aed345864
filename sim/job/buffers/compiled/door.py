"""The kernel as Python calls it; imported when a job is run by it, since it loads numba."""

from __future__ import annotations

import logging
from functools import cache

import numpy as np

from ckptsim.sim.job.buffers.compiled.jit import INTERPRETED
from ckptsim.sim.job.buffers.compiled.kept import Ask, kept_in
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.kernel.loop import ask

_log = logging.getLogger(__name__)


def door(m: Memory, what: int, one: int, first: int, second: int) -> int:
    """Do what Python asks for; see `columns/request.py`."""
    return ask(m, what, one, first, second)


@cache
def ask_kernel() -> Ask:
    """Return the door of the kernel, compiled.

    Where nothing can be kept on disk it is compiled for this process alone.
    """
    if INTERPRETED:
        return np.errstate(over="ignore")(door)  # words wrap around, as they are to
    from numba import njit  # noqa: PLC0415
    from numba.core import config  # noqa: PLC0415

    before, config.CACHE_DIR = config.CACHE_DIR, str(kept_in())
    try:
        return njit(cache=True, error_model="numpy")(door)  # type: ignore[no-any-return]
    except RuntimeError:  # numba's for a folder that cannot be written
        _log.warning("cannot keep the compiled kernel in %s: it is compiled once more", kept_in())
        return njit(error_model="numpy")(door)  # type: ignore[no-any-return]
    finally:
        config.CACHE_DIR = before
