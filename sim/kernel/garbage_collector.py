"""Pause Python's cyclic garbage collector for the length of a run.

A world is large, lives as long as its run, and makes next to no cycles meanwhile; looking through
it again and again for garbage is a twelfth of the time.  What a run leaves behind is found later.
Whoever lifts the kernel out can take or leave this: it decides nothing in a run.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def garbage_collector_paused() -> Iterator[None]:
    """Collect no cycles inside the block; afterwards the collector is enabled if it was before."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
