"""Pending states over time: from when the destination read a state until its send returned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ckptsim.sim.rows import PendingRow

if TYPE_CHECKING:
    from ckptsim.sim.sync.oracle.truth import AttemptTruth, SourceState


def pending_rows(run_key: str, attempts: Iterable[AttemptTruth]) -> list[PendingRow]:
    """Return a row for every change of the pending states, by time, then by scope and socket."""
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
    held: dict[tuple[str, int], tuple[int, int]] = {}  # states and bytes
    states = size = most_states = most_bytes = age = 0
    for row in rows:
        before = held.get((row.scope, row.socket), (0, 0))
        held[row.scope, row.socket] = (row.states, row.size_bytes)
        states += row.states - before[0]
        size += row.size_bytes - before[1]
        most_states, most_bytes = max(most_states, states), max(most_bytes, size)
        age = max(age, row.oldest_age_ns)
    return {"pending_states": most_states, "pending_bytes": most_bytes, "pending_age_ns": age}


def _of_group(
    run_key: str, attempt: AttemptTruth, scope: str, socket: int, states: list[SourceState]
) -> Iterator[PendingRow]:
    """Return the changes of one scope on one socket. The end of an attempt forgets its states."""
    changes: list[tuple[int, int, SourceState]] = []
    for state in states:
        ended = state.acknowledged_ns if state.acknowledged_ns is not None else attempt.ended_ns
        begin = state.accepted_ns or 0
        end = max(begin, ended or begin)
        changes.append((begin, 1, state))
        changes.append((end, 0 if end > begin else 2, state))
    # At one instant states end before others begin, and one that ends at once after it began.
    changes.sort(key=lambda change: (change[0], change[1], change[2].index))
    held: dict[int, SourceState] = {}  # in the order in which they were read
    size = 0
    for at_ns, turn, state in changes:
        oldest = next(iter(held.values()), state)
        if turn == 1:
            held[state.index] = state
            size += state.size_bytes
        else:
            del held[state.index]
            size -= state.size_bytes
        yield PendingRow(
            run_key=run_key,
            attempt=attempt.number,
            scope=scope,
            socket=socket,
            at_ns=at_ns,
            states=len(held),
            size_bytes=size,
            oldest_age_ns=at_ns - (oldest.accepted_ns or 0),
        )
