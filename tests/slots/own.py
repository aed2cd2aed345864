"""Our own cores as a user brings them: as they are, after a wrapper, in a program of their own.

`python -m tests.slots.own SLOT` is the program.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ckptsim.sim.slots import SLOTS
from ckptsim.sim.slots.process.codec import DOORS
from ckptsim.testing import serve

LINKS = {
    "ordering": "reference",
    "barriers": "alignment_timeout",
    "barrier_protocol": "flink_23201_tracker_clock",
    "final_checkpoint": "stop_drain",
    "checkpoint_store": "s01_crash_between_data_first",
    "composed": "pipeline",
}
"""Link -> a scenario in which all of its cores have something to do."""


class Around:
    """Another core, whatever is asked of it."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def step(self, event: Any) -> list[Any]:
        return self.inner.step(event)


def __getattr__(name: str) -> Any:
    """Return the factory that a form and a slot name, such as `wrapped_handler`."""
    form, _, slot = name.partition("_")
    if form != "wrapped" or slot not in SLOTS:
        raise AttributeError(name)
    ours = SLOTS[slot].default()
    if SLOTS[slot].is_rule:
        return ours
    if SLOTS[slot].sample is None or SLOTS[slot].of is not None:  # a subclass is asked for
        return type(f"Own{ours.__name__}", (ours,), {})
    return partial(_wrapped, ours)


def _wrapped(make: Callable[..., Any], *positional: Any, **named: Any) -> Around:
    return Around(make(*positional, **named))


def texts(slot: str) -> dict[str, str]:
    """Return form -> what `--core` says of our own core of a slot."""
    found = {"class": SLOTS[slot].ours, "wrapper": f"tests.slots.own:wrapped_{slot}"}
    if slot in DOORS:
        words = [sys.executable, str(Path(__file__)), slot]
        found["program"] = f"process:{shlex.join(words)}"
    return found


if __name__ == "__main__":
    serve(sys.argv[1], SLOTS[sys.argv[1]].default())
