"""What crosses to a core in a program of its own, per slot. Declared by the slot's Protocol.

Slots with events alone are here.  The store has none (hosts call its methods and take its disk away
in the middle of one), and the parts of cores are subclasses of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args, get_type_hints

from ckptsim.models.barriers import HandlerKind
from ckptsim.models.coordinator import CoordinatorParameters
from ckptsim.models.lifecycle import TaskParameters
from ckptsim.models.ordering import OrderingParameters
from ckptsim.models.ordering.source import SourceParameters
from ckptsim.sim.slots import protocols
from ckptsim.sim.slots.protocols import members


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a host asks between events: its arguments by name, and the type of the answer.

    is_property: hosts read it as an attribute.
    """

    gives: Any
    takes: Mapping[str, Any] = field(default_factory=dict)
    is_property: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """One slot: the factory's arguments in order, its events, its effects, its questions."""

    slot: str
    arguments: Mapping[str, Any]
    events: Any
    effects: Any
    questions: Mapping[str, Question] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTransactions:
    """What a sink still holds: the checkpoints that pre-committed, ascending, and the open one."""

    pending: tuple[int, ...]
    open: bool


def _door(slot: str, protocol: Any, **arguments: Any) -> Door:
    """Return what crosses for a slot, all of it declared by the slot's Protocol."""
    step = get_type_hints(protocol.step)
    questions: dict[str, Question] = {}
    for name, member in members(protocol).items():
        if name == "clock":  # hosts count bytes on it. Here they are events, while it runs
            questions["clock_running"] = Question(gives=bool, is_property=True)
        elif isinstance(member, property):
            gives = get_type_hints(member.fget)["return"]
            questions[name] = Question(gives=_CROSSES.get(gives, gives), is_property=True)
        elif name != "step":
            hints = get_type_hints(member)
            gives = hints.pop("return")
            questions[name] = Question(takes=hints, gives=gives)
    return Door(
        slot=slot,
        arguments=arguments,
        events=step["event"],
        effects=get_args(step["return"])[0],
        questions=questions,
    )


# Of a type that is a Protocol itself, the dataclass that crosses.
_CROSSES: dict[Any, Any] = {protocols.HeldTransactions | None: KeptTransactions | None}

_ALL = (
    _door("ordering", protocols.OrderingDoor, parameters=OrderingParameters),
    _door("source", protocols.SourceDoor, parameters=SourceParameters),
    _door(
        "handler",
        protocols.BarrierHandler,
        kind=HandlerKind,
        channels=int,
        gates=int,
        after_finish=bool,
    ),
    _door(
        "coordinator",
        protocols.Coordinator,
        parameters=CoordinatorParameters,
        first_checkpoint=int,
        completed=tuple[int, ...],
    ),
    _door("lifecycle", protocols.Lifecycle, parameters=TaskParameters),
    _door("channel_state", protocols.ChannelStateWriter, subtasks=list[int]),
    _door("global_committer", protocols.GlobalCommitter, writers=int),
    _door("enumerator", protocols.SplitEnumerator, readers=int),
    _door("acknowledger", protocols.Acknowledger),
    _door("shared_state", protocols.SharedState),
    _door("fence", protocols.FenceDoor),
    _door("positions", protocols.PositionsDoor),
)

DOORS: dict[str, Door] = {door.slot: door for door in _ALL}
