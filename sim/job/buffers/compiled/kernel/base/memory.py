"""The memory of the kernel: one array of 64-bit integers in which all tables lie."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

# A row (a task, a channel, a cell, ...) is known by the place of its first word: so
# `m[c + channel.CREDIT]` is a word of channel c, and a link is such a place.  One array is what
# keeps the compiler quick: a tuple of seventeen, passed to each function, took it a minute.
Memory: TypeAlias = NDArray[np.int64]
