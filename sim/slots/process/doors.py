"""What crosses to a core in a program of its own, per slot; all of it declared by our cores.

Slots whose cores speak in events alone are here.  The store has none (hosts call its methods and
take its disk away in the middle of one), and the parts of cores are subclasses of ours.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_type_hints

from ckptsim.models.barriers import BarrierHandler, HandlerKind
from ckptsim.models.barriers.channel_state import events as writer_events
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.coordinator import CheckpointCoordinator, CoordinatorParameters
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.models.lifecycle import TaskParameters
from ckptsim.models.lifecycle import effects as lifecycle_effects
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.models.lifecycle.states import EndMode, TaskState
from ckptsim.models.lifecycle.tables import Act
from ckptsim.models.ordering import Effect, Event, OrderingDoor, OrderingParameters


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


def _method(found: Callable[..., Any]) -> Question:
    hints = get_type_hints(found)
    gives = hints.pop("return")
    return Question(takes={name: hints[name] for name in hints}, gives=gives)


def _methods(door: type, *names: str) -> dict[str, Question]:
    """Return what a door's methods take and give, and its properties."""
    found: dict[str, Question] = {}
    for name in names:
        member = inspect.getattr_static(door, name)
        if isinstance(member, property):
            gives = get_type_hints(member.fget)["return"]
            found[name] = Question(gives=gives, is_property=True)
        else:
            found[name] = _method(member)
    return found


def _property(gives: Any) -> Question:
    return Question(gives=gives, is_property=True)


_ALL = (
    Door(
        slot="ordering",
        arguments={"parameters": OrderingParameters},
        events=Event,
        effects=Effect,
        questions=_methods(
            OrderingDoor,
            "blocked",
            "pending_count",
            "head",
            "records_read",
            "records_sufficient",
            "ordinal",
            "inferred_id",
            "stream_done",
            "verdict",
        ),
    ),
    Door(
        slot="handler",
        arguments={"kind": HandlerKind, "channels": int, "gates": int, "after_finish": bool},
        events=handler_events.HandlerEvent,
        effects=handler_events.HandlerEffect,
        questions=_methods(BarrierHandler, "latest", "pending", "open_channels", "all_barriers")
        # Hosts count bytes on the clock itself; here they are events, while the clock runs.
        | {"clock_running": _property(bool)},
    ),
    Door(
        slot="coordinator",
        arguments={"parameters": CoordinatorParameters, "first_checkpoint": int},
        events=coordinator_events.CoordinatorEvent,
        effects=coordinator_events.CoordinatorEffect,
        questions=_methods(CheckpointCoordinator, "pending", "planning", "awaited"),
    ),
    Door(
        slot="lifecycle",
        arguments={"parameters": TaskParameters},
        events=lifecycle_events.Event,
        effects=lifecycle_effects.Effect,
        questions={
            "state": _property(TaskState),
            "mode": _property(EndMode),
            "ended": _property(bool),
            "minimum_id": _property(int | None),
            "latest_reported": _property(int),
            "transactions": _property(KeptTransactions | None),
            "waits_for": Question(gives=tuple[Act, ...]),
        },
    ),
    Door(
        slot="channel_state",
        arguments={"subtasks": list[int]},
        events=writer_events.WriterEvent,
        effects=writer_events.WriterEffect,
    ),
)

DOORS: dict[str, Door] = {door.slot: door for door in _ALL}
