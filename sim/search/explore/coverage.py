"""What a run has reached: goals, and which event of an entity follows which.

Each is a short text, the same on any machine.  A run has shown nothing new if all of its are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ckptsim.sim.rows import RunResult

_NUMBERS = re.compile(r"\d+")
# Goals count as reached anew at these numbers of times (an assumption: as fuzzers bucket counts).
_BUCKETS = (1, 2, 4, 8, 16, 64)


def features(result: RunResult) -> Iterator[str]:
    """Yield what a run whose trace was kept has reached."""
    yield f"outcome {result.run.outcome}"
    for name, count in result.goals.items():
        for bucket in _BUCKETS:
            if count >= bucket:
                yield f"goal {name} {bucket}"
    last: dict[str, str] = {}
    for entry in result.trace:
        kind, entity = str(entry[1]), str(entry[2])
        yield f"{_NUMBERS.sub('#', entity)}: {last.get(entity, 'begin')} > {kind}"
        last[entity] = kind
