"""The shortest story of one state: where it and its records have been, oldest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.sim.story import instant
from ckptsim.sim.sync.intervals import shown

if TYPE_CHECKING:
    from ckptsim.sim.sync.oracle.truth import Partition, SourceState, Truth


def state_story(truth: Truth, state: SourceState) -> list[str]:
    """Return one line per thing that happened to a state and to the records it claims."""
    name = f"{state.scope}/{state.index}"
    entries: list[tuple[int, str]] = [
        (state.triggered_ns, f"the source makes state {name} (count {state.source_count})")
    ]
    for partition in state.partitions:
        entries += _partition(partition)
    if state.accepted_ns is not None:
        entries.append((state.accepted_ns, f"state {name} is read from socket[{state.socket}]"))
    before = truth.attempts[-1].states.get(state.scope, [])[: state.index - 1]
    if before and before[-1].acknowledged_ns is not None:
        entries.append((before[-1].acknowledged_ns, f"its predecessor {before[-1].index} is sent"))
    elif before:
        entries.append((state.triggered_ns, f"its predecessor {before[-1].index} is not yet sent"))
    if state.send_ns is not None:
        entries.append((state.send_ns, f"state {name} is sent, try {state.tries}"))
    if state.acknowledged_ns is not None:
        entries.append((state.acknowledged_ns, f"the send of state {name} returns"))
    entries.sort(key=lambda entry: entry[0])
    return [f"{instant(at_ns):>14}  {text}" for at_ns, text in entries]


def _partition(partition: Partition) -> list[tuple[int, str]]:
    size = partition.high - partition.low
    which = f"records {shown(((partition.low, partition.high),))} of {partition.feed.name}"
    which += f" (id {partition.wire_id}, socket[{partition.socket}])"
    entries = [(partition.started_ns, f"a reader begins {which}")]
    if partition.read:
        entries.append(
            (partition.last_read_ns, f"{partition.read} of {size} of {which} have been read")
        )
    if partition.durable:
        entries.append(
            (partition.last_durable_ns, f"{partition.durable} of {size} of {which} are durable")
        )
    return entries
