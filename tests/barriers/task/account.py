"""What really happened in a rig, and the rules that must hold of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ckptsim.models.barriers.channels import RemoteInputChannel, Subpartition
from ckptsim.models.barriers.handler import BarrierHandler, make_handler


class BrokenRuleError(AssertionError):
    """A rule that must always hold does not."""


def hold(condition: bool, rule: str) -> None:
    """Raise BrokenRuleError when a rule does not hold."""
    if not condition:
        raise BrokenRuleError(rule)


@dataclass(slots=True)
class Factories:
    """The cores under test. A mutant takes one place."""

    handler: Callable[..., BarrierHandler] = make_handler
    subpartition: Callable[..., Subpartition] = Subpartition
    channel: Callable[..., RemoteInputChannel] = RemoteInputChannel


@dataclass(slots=True)
class Account:
    """What really happened on one channel: elements are numbered by the sender."""

    sent: int = 0
    consumed: list[int] = field(default_factory=list)
    cut: dict[int, int] = field(default_factory=dict)  # elements sent before each barrier
    ended: bool = False
    newest: int = 0  # the newest checkpoint that the sender has spoken of
    input_state: dict[int, list[int]] = field(default_factory=dict)
    output_state: dict[int, list[int]] = field(default_factory=dict)


@dataclass(slots=True)
class Counts:
    """How often each interesting situation was reached."""

    completed: int = 0
    unaligned: int = 0
    overtook: int = 0
    switched_in_input: int = 0
    switched_in_output: int = 0
    aborted: int = 0
    refused: int = 0
