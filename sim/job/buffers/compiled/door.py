"""The kernel as Python calls it; imported when a job is run by it, since it loads numba."""

from __future__ import annotations

import logging
from functools import cache

import numpy as np

from ckptsim.sim.job.buffers.compiled.jit import is_interpreted
from ckptsim.sim.job.buffers.compiled.kept import (
    Ask,
    KernelLocator,
    kept_in,
    one_at_a_time,
)
from ckptsim.sim.job.buffers.compiled.kernel.base.intrinsics import words
from ckptsim.sim.job.buffers.compiled.kernel.base.memory import Memory
from ckptsim.sim.job.buffers.compiled.kernel.loop import ask

_log = logging.getLogger(__name__)
_LOCATOR = f"{KernelLocator.__module__}.{KernelLocator.__qualname__}"
_SIGNATURE = "int64(int64[::1], int64, int64, int64, int64)"


def door(m: Memory, what: int, one: int, first: int, second: int) -> int:
    """Do what Python asks for; see `columns/request.py`."""
    return int(ask(words(m), what, one, first, second))


@cache
def ask_kernel() -> Ask:
    """Return the door of the kernel, compiled.

    Where nothing can be kept on disk it is compiled for this process alone.  It is compiled at
    once, for the one signature that it has, so that other processes find it when the lock is free.
    """
    if is_interpreted():
        return np.errstate(over="ignore")(door)  # words wrap around, as they are to
    from numba import njit  # noqa: PLC0415
    from numba.core import config  # noqa: PLC0415

    before, config.CACHE_LOCATOR_CLASSES = config.CACHE_LOCATOR_CLASSES, _LOCATOR
    try:
        with one_at_a_time():
            return njit(_SIGNATURE, cache=True, error_model="numpy")(door)  # type: ignore[no-any-return]
    except (OSError, RuntimeError):  # numba's for a folder that cannot be written
        _log.warning("cannot keep the compiled kernel in %s: it is compiled once more", kept_in())
        return njit(_SIGNATURE, error_model="numpy")(door)  # type: ignore[no-any-return]
    finally:
        config.CACHE_LOCATOR_CLASSES = before
