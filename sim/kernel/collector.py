"""The cyclic garbage collector, kept out of a run.

A world is large, lives as long as its run, and makes next to no cycles meanwhile; looking through
it again and again for garbage is a twelfth of the time.  What a run leaves behind is found later.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Have no cycles looked for inside; what was set before is set again behind."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
