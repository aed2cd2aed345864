"""What a scenario does without drawn faults: when things happen, how often, and how long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ckptsim.scenarios import LINKS, Scenario
from ckptsim.scenarios.files import plain
from ckptsim.sim.world import run_world

# Scenarios whose rehearsal a process remembers: strategies of one test ask again and again.
_REMEMBERED = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """One run of a scenario as it is, with our own cores.

    ended_ns, events: its last instant and its length; instants: of every kind of event in its
    trace, those at which it occurs, in ns; durations: those of the scenario's own parameters that
    fit into the run, in ns; checkpoints: the highest number that a checkpoint has.
    """

    ended_ns: int = 1
    events: int = 0
    instants: tuple[tuple[int, ...], ...] = ()
    durations: tuple[int, ...] = ()
    checkpoints: int = 0


@lru_cache(maxsize=_REMEMBERED)
def rehearse(scenario: Scenario) -> Rehearsal:
    """Run the scenario once, which takes as long as one run of a hunt.

    The trace has what protocols do and no record by itself: triggers, barriers, acknowledgements,
    completions, restores, commits.  A kind that is rare counts as much as one that is common.
    """
    result = run_world(scenario, seed=0, keep_trace=True)
    instants: dict[str, list[int]] = {}
    for at_ns, kind, *_ in result.trace:
        if isinstance(at_ns, int):
            instants.setdefault(str(kind), []).append(at_ns)
    ended_ns = max(1, result.run.ended_ns)
    own = sorted(set(durations(scenario)))
    return Rehearsal(
        ended_ns=ended_ns,
        events=result.run.events,
        instants=tuple(tuple(instants[kind]) for kind in sorted(instants)),
        durations=tuple(one for one in own if 0 < one <= ended_ns),
        checkpoints=max((row.checkpoint_id for row in result.checkpoints), default=0),
    )


def durations(scenario: Scenario) -> list[int]:
    """Return the durations that a scenario's parameters have, its faults not among them, in ns."""
    return list(_durations(plain(scenario)[LINKS[scenario.link].key]))


def _durations(value: Any) -> Iterator[int]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in inner:
        if isinstance(one, dict | list):
            yield from _durations(one)
        elif isinstance(one, int) and str(key).endswith("_ns"):
            yield one
