"""Pending states over time: from when the destination read a state until its send returned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ckptsim.sim.rows import PendingRow

if TYPE_CHECKING:
    from ckptsim.sim.sync.oracle.truth import AttemptTruth, SourceState


def pending_rows(run_key: str, attempts: Iterable[AttemptTruth]) -> list[PendingRow]:
    """Return a row for every change of what is pending, by time, then by scope and socket."""
    rows: list[PendingRow] = []
    for attempt in attempts:
        groups: defaultdict[tuple[str, int], list[SourceState]] = defaultdict(list)
        for own in attempt.states.values():
            for state in own:
                if state.accepted_ns is not None:
                    groups[state.scope, state.socket or 0].append(state)
        for (scope, socket), states in groups.items():
            rows += _of_group(run_key, attempt, scope, socket, states)
    return sorted(rows, key=lambda row: (row.at_ns, row.scope, row.socket))


def pending_figures(rows: Iterable[PendingRow]) -> dict[str, int]:
    """Return the peaks over all scopes and sockets: states, bytes, and age of the oldest."""
    now: dict[tuple[str, int], PendingRow] = {}
    states = size = age = 0
    for row in rows:
        age = max(age, row.oldest_age_ns)
        now[row.scope, row.socket] = row
        states = max(states, sum(one.states for one in now.values()))
        size = max(size, sum(one.size_bytes for one in now.values()))
    return {"pending_states": states, "pending_bytes": size, "pending_age_ns": age}


def _of_group(
    run_key: str, attempt: AttemptTruth, scope: str, socket: int, states: list[SourceState]
) -> Iterator[PendingRow]:
    """Return the changes of one scope on one socket; an attempt's end forgets what is pending."""
    changes: list[tuple[int, int, SourceState]] = []
    for state in states:
        end = state.acknowledged_ns if state.acknowledged_ns is not None else attempt.ended_ns
        begin = state.accepted_ns or 0
        changes.append((begin, 1, state))
        changes.append((max(begin, end or begin), 0, state))
    # What ends at an instant at which another begins is counted until then.
    changes.sort(key=lambda change: (change[0], change[1], change[2].index))
    held: dict[int, SourceState] = {}  # in the order in which they were read
    for at_ns, begins, state in changes:
        oldest = next(iter(held.values()), state)
        if begins:
            held[state.index] = state
        else:
            held.pop(state.index, None)
        yield PendingRow(
            run_key=run_key,
            attempt=attempt.number,
            scope=scope,
            socket=socket,
            at_ns=at_ns,
            states=len(held),
            size_bytes=sum(one.size_bytes for one in held.values()),
            oldest_age_ns=at_ns - (oldest.accepted_ns or 0),
        )
