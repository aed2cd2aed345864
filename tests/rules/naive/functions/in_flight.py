"""Naive second versions of what a new channel gets of the data that old ones held in flight.

Source: Apache Flink 1.20.3, TaskStateAssignment, SubtaskConnectionDescriptor; FLIP-76, in-flight
data of a logical channel are those at its receiver, then those at its sender.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ckptsim.models.recovery import in_flight, mapping
from ckptsim.sim.rules.answers import Pick
from tests.rules.naive.functions.recovery import assigned, drawn_gate

_Pair = tuple[int, int]
_Data = Mapping[_Pair, Sequence[str]]


def _gate(gate: Sequence[Any]) -> mapping.GateAssignment:
    distribution, subtask, old, new = gate
    return mapping.assign_gate(
        distribution, subtask=subtask, old_parallelism=old, new_parallelism=new
    )


def _core_whole(gate: Sequence[Any], received: _Data, sent: _Data, channel: int) -> list[Any]:
    return list(in_flight.whole_channels(_gate(gate), channel, received, sent))


def _core_held(gate: Sequence[Any], held: _Data, channel: int) -> list[Any]:
    return list(in_flight.recovered_data(_gate(gate), channel, held))


def _whole(gate: Sequence[Any], received: _Data, sent: _Data, channel: int) -> list[Any]:
    """Put what every old channel had at its receiver in front of what it had at its sender."""
    held = {pair: [*received.get(pair, ()), *sent.get(pair, ())] for pair in [*received, *sent]}
    return _held(gate, held, channel)


def _held(gate: Sequence[Any], held: _Data, channel: int) -> list[Any]:
    """Look at every old channel that has something, and name it in front of what it has."""
    _, _, identity, _, virtual = assigned(*gate)
    found: list[Any] = []
    for subtask, upstream in virtual[channel]:
        own = held.get((upstream, subtask), ())
        named = [] if identity or not own else [in_flight.ConnectionDescriptor(subtask, upstream)]
        found += [*named, *own]
    return found


def _draw_data(pick: Pick, side: str, old: _Pair) -> _Data:
    pairs = [(up, down) for up in range(old[0]) for down in range(old[1]) if not pick.one_in(3)]
    return {pair: [f"{side} {pair} {n}" for n in range(pick.integer(0, 2))] for pair in pairs}


def _draw_held(pick: Pick) -> Sequence[Any]:
    gate = drawn_gate(pick)
    return gate, _draw_data(pick, "held", gate[2]), pick.integer(0, gate[3][0] - 1)


def _draw_whole(pick: Pick) -> Sequence[Any]:
    gate, received, channel = _draw_held(pick)
    return gate, received, _draw_data(pick, "sent", gate[2]), channel


CORES: Mapping[str, Callable[..., Any]] = {
    "whole_channels": _core_whole,
    "recovered_data": _core_held,
}
NAIVE: Mapping[str, Callable[..., Any]] = {
    "whole_channels": _whole,
    "recovered_data": _held,
}
DRAWS: Mapping[str, Callable[[Pick], Sequence[Any]]] = {
    "whole_channels": _draw_whole,
    "recovered_data": _draw_held,
}
