"""How functions of the kernel are compiled: with numba, or not at all to follow them in Python.

`CKPTSIM_KERNEL=python` in the environment runs the same functions without numba: for debugging, and
for jobs too small to load it for.  The environment counts as it is when the kernel is imported.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

KERNEL = "CKPTSIM_KERNEL"
Function = TypeVar("Function", bound=Callable[..., Any])


def is_interpreted() -> bool:
    """Return whether the kernel is run in Python."""
    return os.environ.get(KERNEL) == "python"


def compiled(function: Function) -> Function:
    """Return the function as machine code that other functions of the kernel call."""
    if is_interpreted():
        return function
    from numba import njit  # noqa: PLC0415 - costs a third of a second, which not every run needs

    # Only the door is called from Python, nothing is allocated, and no divisor is zero: leaving out
    # what would see to these halves the time that compiling takes.
    return njit(  # type: ignore[no-any-return]
        _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy"
    )(function)
