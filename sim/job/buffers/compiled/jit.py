"""How functions of the kernel are compiled: with numba, or not at all to follow them in Python.

`CKPTSIM_KERNEL=python` in the environment runs the same functions without numba, for debugging.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

INTERPRETED = os.environ.get("CKPTSIM_KERNEL") == "python"


def compiled(function: Function) -> Function:
    """Return the function as machine code that other functions of the kernel call."""
    if INTERPRETED:
        return function
    from numba import njit  # noqa: PLC0415 - costs a third of a second, which not every run needs

    # Only the door is called from Python, nothing is allocated, and no divisor is zero: leaving out
    # what would see to these halves the time that compiling takes.
    return njit(  # type: ignore[no-any-return]
        _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy"
    )(function)
